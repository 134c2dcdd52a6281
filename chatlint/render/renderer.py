"""Renderers: a template compiled once, then asked for prompts."""

from __future__ import annotations

import time
from collections.abc import Sequence

import jinja2
from jinja2.exceptions import TemplateError as JinjaError

from chatlint.render.grammar import ChatGrammar
from chatlint.render.rendered import FailureKind, RenderFailure, Rendered, RenderRequest, RenderSettings
from chatlint.source.package import Template
from chatlint.text import Computed, Prompt, Span


class _Declined(JinjaError):
    pass


def open_renderer(
    template: Template, settings: RenderSettings = RenderSettings(), store: object = None
) -> _Plain:
    """A renderer of `template`."""
    return _Plain(template, settings)


class _Plain:
    """First light: right text and failures, one span."""

    def __init__(self, template: Template, settings: RenderSettings) -> None:
        self._template = template
        environment = ChatGrammar()

        def raise_exception(message: str) -> str:
            raise _Declined(message)

        def tojson(
            x: object,
            ensure_ascii: bool = False,
            indent: None = None,
            separators: None = None,
            sort_keys: bool = False,
        ) -> str:
            import json

            return json.dumps(
                x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
            )

        environment.filters["tojson"] = tojson
        environment.globals["raise_exception"] = raise_exception
        environment.globals["strftime_now"] = settings.now.strftime
        self._compiled: jinja2.Template | None = None
        self._failure: RenderFailure | None = None
        try:
            self._compiled = environment.from_string(template.text)
        except jinja2.TemplateSyntaxError as error:
            self._failure = RenderFailure(
                FailureKind.SYNTAX, type(error).__name__, str(error.message), error.lineno
            )

    def render(self, request: RenderRequest) -> Rendered:
        if self._compiled is None:
            return Rendered(None, self._failure)
        conversation = request.conversation
        started = time.process_time()
        messages = [{k: v for k, v in message.items() if v is not None} for message in conversation.messages]
        for index, message in enumerate(messages):
            names = ("reasoning_content", "thinking", "reasoning")
            reasoning = next((message[name] for name in names if message.get(name) is not None), None)
            if reasoning is not None:
                messages[index] = {"thinking": reasoning, **message, "reasoning_content": reasoning}
        try:
            text = self._compiled.render(
                messages=messages,
                tools=None if conversation.tools is None else list(conversation.tools),
                documents=None if conversation.documents is None else list(conversation.documents),
                add_generation_prompt=request.add_generation_prompt,
                **{**self._template.special_tokens, **conversation.template_kwargs},
            )
        except _Declined as error:
            return Rendered(None, RenderFailure(FailureKind.DECLINED, "TemplateError", str(error)))
        except Exception as error:
            return Rendered(None, RenderFailure(FailureKind.FAULT, type(error).__name__, str(error)))
        spans = (Span(0, len(text), Computed(1)),) if text else ()
        return Rendered(Prompt(text, spans), None, seconds=time.process_time() - started)

    def render_all(self, requests: Sequence[RenderRequest]) -> tuple[Rendered, ...]:
        return tuple(self.render(request) for request in requests)

    def coverable_lines(self) -> frozenset[int]:
        return frozenset()

    def close(self) -> None:
        pass
