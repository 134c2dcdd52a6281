"""Servers that behave as llama-server, vLLM and SGLang do, as far as they can be asked without a model. They
render with transformers' own way of doing it, not with ours."""

from __future__ import annotations

import json
import re

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment
from werkzeug import Response

TEMPLATE = (
    "{{ bos_token }}{% if tools %}{{ tools | tojson }}\n{% endif %}"
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}<call>{{ c.function | tojson }}</call>{% endfor %}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
CAPS = {
    "supports_tools": True,
    "supports_tool_calls": True,
    "supports_system_role": True,
    "supports_parallel_tool_calls": True,
    "supports_preserve_reasoning": False,
    "supports_reasoning_effort": False,
    "supports_string_content": True,
    "supports_typed_content": False,
    "supports_object_arguments": True,
}


def rendered(template, body, **variables):
    """The prompt of a chat completion request, its messages prepared as llama.cpp and vLLM agree on."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    variables.update(body.get("chat_template_kwargs", {}))
    if body.get("tools"):
        variables["tools"] = body["tools"]
    messages = [_prepared(message) for message in body["messages"]]
    return environment.from_string(template).render(
        messages=messages, add_generation_prompt=body.get("add_generation_prompt", True), **variables
    )


def _prepared(message):
    made = dict(message)
    if made["role"] == "developer":
        made["role"] = "system"
    content = made.get("content") or ""
    if isinstance(content, list):
        content = "\n".join(part["text"] for part in content)
    made["content"] = content
    if "tool_calls" in made:
        made["tool_calls"] = [_prepared_call(call) for call in made["tool_calls"]]
    return made


def _prepared_call(call):
    function = call["function"]
    arguments = function["arguments"]
    parsed = json.loads(arguments) if isinstance(arguments, str) else arguments
    return {**call, "function": {"name": function["name"], "arguments": parsed}}


def llama_server(httpserver, template=TEMPLATE, *, served=None, caps=CAPS, double_bos=False, pieces=1):
    """`served` is the template that it really renders. Its tokens are characters, marks are one or more."""
    props = {
        "chat_template": template,
        "chat_template_caps": dict(caps),
        "bos_token": "<s>",
        "eos_token": "</s>",
        "build_info": "b9000-0123abc",
    }

    def apply(request):
        try:
            prompt = rendered(served or template, request.get_json(), bos_token="<s>", eos_token="</s>")
        except jinja2.TemplateError as error:
            return _json({"error": {"code": 500, "message": str(error)}}, 500)
        return _json({"prompt": prompt.removeprefix("<s>")})

    def tokenize(request):
        body = request.get_json()
        if len(body["content"]) < 12:
            return _json({"tokens": list(range(7, 7 + pieces))})
        return _json({"tokens": [1, 1, 5] if double_bos and body["add_special"] else [1, 5]})

    _models(httpserver, "llamacpp")
    httpserver.expect_request("/props").respond_with_json(props)
    httpserver.expect_request("/apply-template", method="POST").respond_with_handler(apply)
    httpserver.expect_request("/tokenize", method="POST").respond_with_handler(tokenize)
    return httpserver.url_for("")


def vllm_server(httpserver, template=TEMPLATE, *, shows="text"):
    """Its tokens are code points."""

    def render(request):
        prompt = rendered(template, request.get_json(), bos_token="<s>")
        return _json({"request_id": "r", "token_ids": list(map(ord, prompt)), "stream": False})

    def detokenize(request):
        return _json({"prompt": "".join(map(chr, request.get_json()["tokens"]))})

    _models(httpserver, "vllm")
    httpserver.expect_request("/version").respond_with_json({"version": "0.33.0"})
    if shows != "nothing":
        httpserver.expect_request("/v1/chat/completions/render", method="POST").respond_with_handler(render)
    if shows == "text":
        httpserver.expect_request("/detokenize", method="POST").respond_with_handler(detokenize)
    return _nothing_else(httpserver)


def sglang_server(httpserver, parser="ours"):
    """Shows no prompts, reads `<call>{…}</call>`."""

    def read(request):
        body = request.get_json()
        found = [json.loads(part.partition("</call>")[0]) for part in body["text"].split("<call>")[1:]]
        calls = [
            {"tool_index": index, "name": one["name"], "parameters": json.dumps(one["arguments"])}
            for index, one in enumerate(found)
        ]
        return _json({"normal_text": "", "calls": calls[:1] if parser == "only-one" else calls})

    _models(httpserver, "sglang")
    info = {"version": "0.5.23", "tool_call_parser": parser}
    httpserver.expect_request("/get_server_info").respond_with_json(info)
    httpserver.expect_request("/parse_function_call", method="POST").respond_with_handler(read)
    return _nothing_else(httpserver)


def _nothing_else(httpserver):
    httpserver.expect_request(re.compile(".*")).respond_with_data("", status=404)
    return httpserver.url_for("")


def _models(httpserver, owner):
    listed = {"object": "list", "data": [{"id": "m", "object": "model", "owned_by": owner}]}
    httpserver.expect_request("/v1/models").respond_with_json(listed)


def _json(value, status=200):
    return Response(json.dumps(value), status=status, content_type="application/json")
