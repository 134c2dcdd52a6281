"""Requests and results as JSON: what goes between a renderer and its worker process.

A worker runs templates that are not trusted, so its answers are data to be checked, never pickles. Anything
in them that is not as expected raises ValueError.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial

from chatlint.conversation import JSON, Conversation
from chatlint.render.inputs import plain_data
from chatlint.render.rendered import FailureKind, Rendered, RenderFailure, RenderRequest, RenderSettings
from chatlint.render.shaping import Manners
from chatlint.source.package import Template, TemplatePlace
from chatlint.text import Computed, Input, Literal, Origin, Prompt, Span, Special

Fields = Mapping[str, JSON]


def written(fields: Mapping[str, object]) -> bytes:
    """One line of the wire."""
    return json.dumps(fields, default=plain_data).encode("ascii") + b"\n"


def read(line: bytes) -> Fields:
    """A line that `written` made. Raises ValueError."""
    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise ValueError("no object")
    return fields


# -- opening


def opening(
    template: Template, settings: RenderSettings, code: bytes | None, manners: Manners | None = None
) -> Mapping[str, object]:
    """What opens a template in a worker."""
    return {
        "text": template.text,
        "special_tokens": dict(template.special_tokens),
        "host": settings.host,
        "trims": settings.trims,
        "now": settings.now.isoformat() if settings.now else None,
        "code": None if code is None else b64encode(code).decode("ascii"),
        "manners": None if manners is None else manners.to_list(),
    }


def opened(fields: Fields) -> tuple[Template, RenderSettings, bytes | None, Manners | None]:
    """The reverse."""
    tokens = {
        name: token if isinstance(token, str) else tuple(map(str, _list(token)))
        for name, token in _object(fields["special_tokens"]).items()
    }
    template = Template("", _text(fields["text"]), "", TemplatePlace(""), tokens)
    now = fields["now"]
    clock = None if now is None else datetime.fromisoformat(_text(now))
    settings = RenderSettings(_text(fields["host"]), clock, trims=bool(fields["trims"]))
    code, manners = fields["code"], fields.get("manners")
    return (
        template,
        settings,
        None if code is None else b64decode(_text(code)),
        None if manners is None else Manners(*map(bool, _list(manners))),
    )


# -- requests


def asked(request: RenderRequest) -> Mapping[str, object]:
    """A request. Its roots are JSON texts, so that a worker parses the same tools only once."""
    conversation = request.conversation
    return {
        "messages": _json(conversation.messages),
        "tools": None if conversation.tools is None else _json(conversation.tools),
        "documents": None if conversation.documents is None else _json(conversation.documents),
        "template_kwargs": conversation.template_kwargs,
        "add_generation_prompt": request.add_generation_prompt,
        "continue_final_message": request.continue_final_message,
    }


def _json(values: Sequence[object]) -> str:
    return json.dumps(values, default=plain_data)


def request_of(fields: Fields) -> RenderRequest:
    """The reverse."""
    field = fields["continue_final_message"]
    conversation = Conversation(
        _root(_text(fields["messages"])) or (),
        _root(fields["tools"]),
        _root(fields["documents"]),
        _object(fields["template_kwargs"]),
    )
    return RenderRequest(
        conversation, bool(fields["add_generation_prompt"]), field if isinstance(field, str) else bool(field)
    )


_roots: OrderedDict[str, tuple[Mapping[str, JSON], ...]] = OrderedDict()


def _root(text: JSON) -> tuple[Mapping[str, JSON], ...] | None:
    if text is None:
        return None
    known = _roots.get(_text(text))
    if known is None:
        known = _roots[_text(text)] = tuple(json.loads(_text(text)))
        if len(_roots) > 16:
            _roots.popitem(last=False)
    return known


# -- results


def answered(rendered: Rendered) -> Mapping[str, object]:
    """A result."""
    failure = rendered.failure
    return {
        "prompt": None if rendered.prompt is None else _prompt(rendered.prompt),
        "failure": None if failure is None else failed(failure),
        "mutated": rendered.mutated,
        "lines": sorted(rendered.lines),
        "generation": rendered.generation,
        "generation_reported": rendered.generation_reported,
        "seconds": rendered.seconds,
        "unset": rendered.unset,
        "steps": rendered.steps,
    }


def failed(failure: RenderFailure) -> Mapping[str, object]:
    """A failure."""
    return {
        "kind": failure.kind.value,
        "exception": failure.exception,
        "message": failure.message,
        "line": failure.line,
    }


def _prompt(prompt: Prompt) -> Mapping[str, object]:
    """Spans are two lists of numbers: where each one ends, and which of the origins it has."""
    numbers: dict[int, int] = {}
    origins: list[Origin] = []
    chosen: list[int] = []
    for span in prompt.spans:
        number = numbers.setdefault(id(span.origin), len(origins))
        if number == len(origins):
            origins.append(span.origin)
        chosen.append(number)
    ends = [span.end for span in prompt.spans]
    return {"text": prompt.text, "ends": ends, "chosen": chosen, "origins": list(map(_origin, origins))}


def _origin(origin: Origin) -> tuple[object, ...]:
    match origin:
        case Input(pointer, offset, key):
            return (pointer, -1 if offset is None else offset, key)
        case Literal(line, column):
            return (line, column)
        case Special(name):
            return (name,)
        case Computed(line):
            return (line,)


def rendered_of(fields: Fields) -> Rendered:
    """The reverse of `answered`. Raises ValueError."""
    try:
        prompt, failure = fields["prompt"], fields["failure"]
        return Rendered(
            None if prompt is None else _prompt_of(_object(prompt)),
            None if failure is None else failure_of(_object(failure)),
            tuple(map(_text, _list(fields["mutated"]))),
            frozenset(map(_number, _list(fields["lines"]))),
            tuple(map(_pair, _list(fields["generation"]))),
            _seconds(fields["seconds"]),
            tuple(map(_pair, _list(fields["generation_reported"]))),
            tuple(map(_line_and_name, _list(fields["unset"]))),
            _number(fields["steps"]),
        )
    except (KeyError, IndexError, TypeError) as error:
        raise ValueError(f"an answer without {error}") from error


def failure_of(fields: Fields) -> RenderFailure:
    """The reverse of `failed`."""
    kind = FailureKind(_text(fields["kind"]))
    return RenderFailure(kind, _text(fields["exception"]), _text(fields["message"]), _number(fields["line"]))


def _prompt_of(fields: Fields) -> Prompt:
    text = _text(fields["text"])
    ends, chosen, origins = (_list(fields[name]) for name in ("ends", "chosen", "origins"))
    if not all(type(number) is int for numbers in (ends, chosen) for number in numbers):
        raise ValueError("spans that are no numbers")
    rising = all(start < end for start, end in zip((0, *ends), ends, strict=False))  # type: ignore[operator]
    if not rising or (ends[-1] if ends else 0) != len(text) or len(chosen) != len(ends):
        raise ValueError("spans that do not cover the text")
    if chosen and not (min(chosen) >= 0 and max(chosen) < len(origins)):  # type: ignore[type-var, operator]
        raise ValueError("a span without an origin")
    return Prompt(text, partial(_spans, ends, chosen, origins))  # type: ignore[arg-type]


def _spans(ends: list[int], chosen: list[int], origins: list[JSON]) -> tuple[Span, ...]:
    made = list(map(_origin_of, origins))
    return tuple(map(Span, (0, *ends), ends, map(made.__getitem__, chosen)))


def _origin_of(fields: JSON) -> Origin:
    """Its shape tells which one it is. What is none is taken for computed: the text is what matters."""
    match fields:
        case [str(pointer), int(offset), bool(key)]:
            return Input(pointer, None if offset < 0 else offset, key)
        case [int(line), int(column)]:
            return Literal(line, column)
        case [str(name)]:
            return Special(name)
        case [int(line)]:
            return Computed(line)
    return Computed(0)


def _text(value: JSON) -> str:
    if not isinstance(value, str):
        raise ValueError("no string")
    return value


def _number(value: JSON) -> int:
    if not isinstance(value, int):
        raise ValueError("no number")
    return value


def _seconds(value: JSON) -> float:
    if not isinstance(value, (int, float)):
        raise ValueError("no number")
    return float(value)


def _list(value: JSON) -> Sequence[JSON]:
    if not isinstance(value, list):
        raise ValueError("no list")
    return value


def _object(value: JSON) -> Mapping[str, JSON]:
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value


def _pair(value: JSON) -> tuple[int, int]:
    first, second = _list(value)
    return _number(first), _number(second)


def _line_and_name(value: JSON) -> tuple[int, str]:
    line, name = _list(value)
    return _number(line), _text(name)
