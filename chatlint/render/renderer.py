"""Renderers: a template compiled once, then asked for prompts; and one prompt for who needs just that."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from chatlint.conversation import JSON, Conversation, Message, Tool, objects
from chatlint.errors import TemplateError, UsageError, require
from chatlint.render.rendered import (
    FailureKind,
    Renderer,
    RenderFailure,
    RenderRequest,
    RenderSettings,
)
from chatlint.source.package import Template
from chatlint.text import Prompt

if TYPE_CHECKING:
    from chatlint.render.compiled import Store
    from chatlint.render.shaping import Manners

_DEFAULT = RenderSettings()
_OPEN_MOST = 8
_open: dict[object, Renderer] = {}
_opening = Lock()


def open_renderer(
    template: Template,
    settings: RenderSettings = _DEFAULT,
    store: Store | None = None,
    manners: Manners | None = None,
) -> Renderer:
    """A renderer of `template`: in this process, or in a worker process if `settings.untrusted`.

    `store` keeps compiled code between runs; `manners` of a server are found out where they are not given. A
    template that does not compile has a renderer too: every render of it gives the same failure. Close it
    when done. Raises UsageError for a host that there is not.
    """
    if settings.untrusted:
        from chatlint.render.worker import WorkerRenderer

        return WorkerRenderer(template, settings, store, manners)
    from chatlint.render.local import LocalRenderer

    return LocalRenderer(template, settings, store, manners)


def render_prompt(
    template: Template,
    messages: Sequence[Message],
    tools: Sequence[Tool] | None = None,
    add_generation_prompt: bool = True,
    *,
    settings: RenderSettings | None = None,
    **template_kwargs: JSON,
) -> Prompt:
    """The prompt that a host makes of a conversation (OpenAI's chat completions, as plain JSON).

    `template_kwargs` are the template's own variables (`enable_thinking=False`). Host, clock, documents and
    `continue_final_message` come through `settings`.

    Raises TemplateError, with the template's line, where the template does not compile, breaks, refuses the
    conversation or hits a bound; UsageError for input that is no conversation or that the host refuses. The
    behaviour is `apply_chat_template(tokenize=False)` of transformers.
    """
    require(template, Template, "template", hint="chatlint.load(target).template() is one")
    settings = settings or _DEFAULT
    require(settings, RenderSettings, "settings", hint="template kwargs are named, as in thinking=True")
    conversation = Conversation(
        objects(messages, "messages"),
        None if tools is None else objects(tools, "tools"),
        None if settings.documents is None else objects(settings.documents, "documents"),
        template_kwargs,
    )
    request = RenderRequest(conversation, add_generation_prompt, settings.continue_final_message)
    rendered = _renderer(template, settings).render(request)
    if rendered.prompt is None:
        raise _error(rendered.failure or RenderFailure(FailureKind.FAULT, "", "no prompt"))
    return rendered.prompt


def choose(templates: Sequence[Template], tools: Sequence[Tool] | None) -> Template:
    """The one of a package's templates that transformers uses: the only one if it is `default`; of several
    `tool_use` where tools are given (an empty list is given, too), else `default`.

    Raises UsageError with the names there are where that one is missing.
    """
    by_name = {template.name: template for template in templates}
    if tools is not None and "tool_use" in by_name:
        return by_name["tool_use"]
    if "default" in by_name:
        return by_name["default"]
    names = ", ".join(by_name) or "none"
    raise UsageError("there is no default chat template", hint=f"name one; there are: {names}")


def _renderer(template: Template, settings: RenderSettings) -> Renderer:
    """A renderer that stays open: a program renders many conversations with few templates."""
    tokens = tuple(sorted(template.special_tokens.items()))
    key = (template.text, tokens, settings.host, settings.now, settings.trims, settings.untrusted)
    with _opening:
        if key not in _open:
            while len(_open) >= _OPEN_MOST:
                _open.pop(next(iter(_open))).close()
            _open[key] = open_renderer(template, settings)
        return _open[key]


def _error(failure: RenderFailure) -> TemplateError | UsageError:
    named = f"{failure.exception}: {failure.message}" if failure.exception else failure.message
    if failure.kind is FailureKind.HOST:
        return UsageError(failure.message)
    if failure.kind is FailureKind.DECLINED:
        message = f"the template refuses this conversation: {failure.message}"
        return TemplateError(message, hint="change the conversation", line=failure.line)
    return TemplateError(named, line=failure.line)


__all__ = ["choose", "open_renderer", "render_prompt"]
