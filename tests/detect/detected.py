"""Detection of a template written in a test."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

from chatlint.detect.capabilities import detect_capabilities
from chatlint.detect.capability import Capabilities
from chatlint.probe.trace import Trace
from chatlint.source.package import Template, TemplatePlace

SPECIAL_TOKENS = {"bos_token": "<bos_token>", "eos_token": "<eos_token>"}
PLAIN = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
PROMPT = "{% if add_generation_prompt %}<|assistant|>{% endif %}"


def template(text: str) -> Template:
    digest = sha256(text.encode()).hexdigest()
    return Template("default", text, digest, TemplatePlace("chat_template.jinja"), SPECIAL_TOKENS)


def traced(text: str) -> tuple[Trace, Capabilities]:
    trace = Trace(template(text))
    return trace, detect_capabilities(trace)


@cache
def detected(text: str) -> Capabilities:
    return traced(text)[1]


def turns(
    assistant: str, *, head: str = "", tool: str = "<|tool|>{{ m.content }}<|end|>", prompt: str = PROMPT
) -> str:
    """A template that writes assistant turns and results in a given way and everything else plainly."""
    return (
        head
        + "{% for m in messages %}{% if m.role == 'assistant' %}<|assistant|>"
        + assistant
        + "<|end|>{% elif m.role == 'tool' %}"
        + tool
        + "{% else %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endif %}{% endfor %}"
        + prompt
    )


TEXT = "{{ m.content or '' }}"
CALLS = "{% for c in m.tool_calls %}<call>{{ c.function.name }} {{ c.function.arguments | tojson }}</call>{% endfor %}"
TOOLS = "{% if tools %}<|tools|>{{ tools | tojson }}<|end|>{% endif %}"
