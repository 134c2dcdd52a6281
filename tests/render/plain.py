"""The reference: Jinja's own sandbox, set as transformers sets it, without any of ours."""

from __future__ import annotations

import json
from functools import lru_cache

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

from chatlint.conversation import Conversation, value_at
from chatlint.render.rendered import FIXED_CLOCK, Rendered, RenderRequest, RenderSettings
from chatlint.render.renderer import open_renderer
from chatlint.source.package import Template, TemplatePlace
from chatlint.text import Computed, Input, Literal, Prompt, Special


def template(source: str, **special_tokens: str | tuple[str, ...]) -> Template:
    return Template("default", source, "", TemplatePlace("chat_template.jinja"), special_tokens)


def render(source: str, conversation: Conversation | None = None, *, generation=True, **settings) -> Rendered:
    """One render with ours; keyword arguments that are no settings are template kwargs."""
    kwargs = {name: settings.pop(name) for name in list(settings) if name not in RenderSettings.__slots__}
    conversation = conversation or Conversation(({"role": "user", "content": "hi"},), template_kwargs=kwargs)
    renderer = open_renderer(template(source, bos_token="<s>", eos_token="</s>"), RenderSettings(**settings))
    try:
        return renderer.render(RenderRequest(conversation, generation))
    finally:
        renderer.close()


@lru_cache(maxsize=512)
def compiled(source: str) -> jinja2.Template:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(
            x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
        )

    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = FIXED_CLOCK.strftime
    return environment.from_string(source)


def outcome(rendered: Rendered) -> str | tuple[str, str]:
    if rendered.prompt is not None:
        return rendered.prompt.text
    assert rendered.failure is not None
    return rendered.failure.exception, rendered.failure.message


def plain_outcome(source: str, **variables: object) -> str | tuple[str, str]:
    """The text, or the exception's type and message, of Jinja itself."""
    try:
        return compiled(source).render(
            messages=[{"role": "user", "content": "hi"}],
            tools=None,
            documents=None,
            add_generation_prompt=True,
            bos_token="<s>",
            eos_token="</s>",
            **variables,
        )
    except Exception as error:
        return type(error).__name__, str(error)


def check_spans(prompt: Prompt, conversation: Conversation, source: str = "") -> None:
    """Spans cover the text without gap or overlap, and every character with an offset is the one that stands there
    in the conversation."""
    at = 0
    for span in prompt.spans:
        assert span.start == at, "a gap or an overlap"
        assert span.end > span.start
        at = span.end
        piece = prompt.piece(span)
        match span.origin:
            case Input(pointer, offset, key):
                if offset is not None:
                    assert piece == written(conversation, pointer, key)[offset : offset + len(piece)]
            case Literal(line, column):
                assert line >= 1
                assert column >= 1
            case Computed(line):
                assert line >= 0
            case Special(name):
                assert name
    assert at == len(prompt.text)


def written(conversation: Conversation, pointer: str, key: bool) -> str:
    """The text of a value, or of its member's name: a string's characters, else its JSON."""
    if key:
        return pointer.rsplit("/", 1)[1].replace("~1", "/").replace("~0", "~")
    value = value_at(conversation, pointer)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
