"""The other way in which a template writes a call once a variable names its function.

What is said of it is for people: the text that stands in place of the usual call, with the call's own words
as placeholders, up to the next mark.
"""

from __future__ import annotations

from collections.abc import Iterator

from chatlint.lazy import regex
from chatlint.probe.case import Observation
from chatlint.text import Input, Prompt, Span, visible

_CALL = regex(r"/messages/\d+/tool_calls/0(?:/function)?/(?P<part>name|arguments)(?P<inside>/.*)?")
_MARK = regex(r"\s*(?:<[|｜/\w]|\[/?[A-Z])")
_ENDS = ("]", ">", ")", "}")
_LONGEST = 80


def second_form(usual: Observation, other: Observation) -> str:
    """How the first call is written in `other`, "" where that is as in `usual`."""
    before, after = _written(usual), _written(other)
    if not before or not after or before == after:
        return ""
    common = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    while common and not after[common - 1].isspace() and after[common - 1] not in _ENDS:
        common -= 1  # two marks may begin with the same sign
    form = visible("".join(after[common:]).strip())
    return form if len(form) <= _LONGEST else f"{form[: _LONGEST - 1]}…"


def _written(seen: Observation) -> list[str]:
    """The characters from the end of what was said before the first call to its end, placeholders whole."""
    prompt = seen.prompt
    spans = [(span, part) for span in prompt.spans if (part := _part(span))] if prompt else []
    if prompt is None or not spans:
        return []
    first, last = spans[0][0], spans[-1][0]
    said = [span.end for span in prompt.spans if _is_said(span) and span.end <= first.start]
    rest = prompt.text[last.end :]
    mark = _MARK.search(rest)
    return [
        *prompt.text[max(said, default=0) : first.start],
        *_between(prompt, spans),
        *rest[: mark.start() if mark else 0],
    ]


def _between(prompt: Prompt, spans: list[tuple[Span, str]]) -> Iterator[str]:
    """What is written from the first word of the call to the last; of several arguments the first."""
    at, told = spans[0][0].start, set[str]()
    for span, part in spans:
        if part not in told:
            yield from prompt.text[at : span.start]
            yield f"⟨{part}⟩"
        elif told >= {"key", "value"} and "…" not in told:
            told.add("…")
            yield "…"
        told.add(part)
        at = span.end


def _part(span: Span) -> str:
    origin = span.origin
    match = _CALL.fullmatch(origin.pointer) if isinstance(origin, Input) else None
    if match is None or not isinstance(origin, Input) or (origin.key and not match["inside"]):
        return ""  # a key that says `name` is no name
    if match["part"] == "name":
        return "name"
    return "key" if origin.key else "value"


def _is_said(span: Span) -> bool:
    return isinstance(span.origin, Input) and "/content" in span.origin.pointer
