"""Tool calls and their results: written, whole, and in which forms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chatlint.conversation import value_at
from chatlint.detect.answer import noted, of_values, refused, unasked
from chatlint.detect.capability import Capability, Support
from chatlint.detect.footing import Footing
from chatlint.probe.case import Observation, Variant
from chatlint.probe.reading import SHOWN, Fate, Notation, fate, keeps, notation, place
from chatlint.records import dataclass

CALL = "/messages/1/tool_calls/0"
NAME = f"{CALL}/function/name"
ARGUMENTS = f"{CALL}/function/arguments"
RESULT = "/messages/2/content"

FORMS: tuple[tuple[str, Variant], ...] = (
    ("calls/one-result", {}),
    ("calls/one-result", {"arguments": "string"}),
    ("calls/one-result", {"content": "null"}),
    ("calls/one-result", {"arguments": "string", "content": "null"}),
    ("calls/one-result", {"content": "text"}),
    ("calls/one-result", {"ids": "named"}),
    ("calls/one-result", {"tools": "absent"}),
    ("calls/one-result", {"result_name": "added"}),
    ("calls/one", {}),
    ("calls/one", {"arguments": "string"}),
    ("calls/one-answered", {}),
)
"""Ways to send one call, the usual ones first: the first that is written whole is used for every question."""


@dataclass(frozen=True, slots=True)
class CallForm:
    """The way to send a call that this template writes best, and how much of it: `name` and `arguments`."""

    probe: str
    variant: Variant
    seen: Observation
    name: bool
    arguments: bool

    @property
    def whole(self) -> bool:
        return self.name and self.arguments

    @property
    def there(self) -> bool:
        """Whether anything of a call is written."""
        return self.name or self.arguments

    def look(self, footing: Footing, probe: str, *variants: Variant) -> Observation:
        """A probe in this form."""
        return footing.look(probe, self.variant, *variants)


def find_call_form(footing: Footing) -> CallForm:
    """The first way of `FORMS` in which a call is written whole, or the one that shows most of it."""
    best: CallForm | None = None
    for probe, variant in FORMS:
        form = _form(footing, probe, variant)
        if form.whole:
            return form
        best = form if best is None or _shows(form) > _shows(best) else best
        if not _shows(best) and not footing.mentions("tool_call"):
            break  # the source never names them, and nothing was shown: no other way will
    assert best is not None
    return best


def _form(footing: Footing, probe: str, variant: Variant) -> CallForm:
    seen = footing.look(probe, variant)
    return CallForm(probe, variant, seen, _name_shown(seen, CALL), _arguments_shown(seen, CALL))


def _shows(form: CallForm) -> int:
    return form.name + form.arguments


def _name_shown(seen: Observation, call: str) -> bool:
    """Printed itself, or inside an id that carries it."""
    if fate(seen, f"{call}/function/name") in SHOWN:
        return True
    return _id_carries_name(seen, call) and fate(seen, f"{call}/id") in SHOWN


def _id_carries_name(seen: Observation, call: str) -> bool:
    record = value_at(seen.case.conversation, call)
    function = record.get("function") if isinstance(record, Mapping) else None
    return (
        isinstance(record, Mapping)
        and isinstance(function, Mapping)
        and str(function.get("name")) in str(record.get("id"))
    )


def _arguments_shown(seen: Observation, call: str) -> bool:
    return fate(seen, f"{call}/function/arguments") in SHOWN


def detect_calls(footing: Footing, form: CallForm) -> Iterator[Capability]:
    """Every question about calls and results; only the first is rendered where there are no calls."""
    yield _calls(form)
    yield _results(footing, form)
    if not form.there:
        yield from (_without_calls(name, form) for name in _ABOUT_CALLS)
        return
    yield _parallel(footing, form)
    yield _objects(footing, form)
    yield _strings(footing, form)
    yield _text_beside(footing, form)
    yield _no_text(footing, form)
    yield _ids(form)


_USUAL = {("arguments", "string"), ("content", "null")}
"""What OpenAI's own clients send: a template that needs it needs nothing special."""
_ABOUT_CALLS = (
    "parallel_tool_calls",
    "object_arguments",
    "string_arguments",
    "content_with_calls",
    "null_content_with_calls",
    "call_ids",
)


def _without_calls(name: str, form: CallForm) -> Capability:
    if answer := unasked(name, (form.seen,)):
        return answer
    return Capability(name, Support.NO, (form.seen.case.id,), "no tool calls")


def _calls(form: CallForm) -> Capability:
    seen = form.seen
    if answer := refused("tool_calls", seen):
        return answer
    usual = set(form.variant.items()) <= _USUAL and form.probe != "calls/one"
    support = Support.PARTIAL if _shows(form) else Support.NO
    support = Support.YES if form.whole and usual else support
    answer = Capability("tool_calls", support, (seen.case.id,))
    if support is Support.NO:
        return answer
    notes = (
        [f"only with {', '.join(f'{axis}={value}' for axis, value in form.variant.items())}"]
        if form.variant
        else []
    )
    notes += [] if form.name else ["the name is lost"]
    notes += [] if form.arguments else ["arguments are lost"]
    if form.name and fate(seen, NAME) not in SHOWN:
        notes.append("the name is written only inside the id")
    return noted(answer, *notes)


def _results(footing: Footing, form: CallForm) -> Capability:
    seen = form.seen if form.probe == "calls/one-result" else footing.look("calls/one-result", form.variant)
    return of_values("tool_results", seen, (RESULT,))


def _parallel(footing: Footing, form: CallForm) -> Capability:
    seen = form.look(footing, form.probe.replace("one", "two"))
    if answer := refused("parallel_tool_calls", seen):
        return _without_results(footing, form, answer)
    both = _both_shown(form, seen)
    note = "" if both else "a call is lost"
    return Capability("parallel_tool_calls", Support.YES if both else Support.NO, (seen.case.id,), note)


def _without_results(footing: Footing, form: CallForm, answer: Capability) -> Capability:
    """Two calls and their results are refused: the calls alone may not be."""
    seen = form.look(footing, "calls/two")
    if seen.failure or not _both_shown(form, seen):
        return noted(answer, evidence=(seen,))
    cases = (*answer.evidence, seen.case.id)
    return Capability(answer.name, Support.PARTIAL, cases, f"two results in a row: {answer.note}")


def _both_shown(form: CallForm, seen: Observation) -> bool:
    second = CALL.removesuffix("0") + "1"
    return all(
        (_name_shown(seen, call) or not form.name) and (_arguments_shown(seen, call) or not form.arguments)
        for call in (CALL, second)
    )


def _objects(footing: Footing, form: CallForm) -> Capability:
    seen = form.look(footing, form.probe, {"arguments": "object"})
    answer = of_values("object_arguments", seen, (ARGUMENTS,))
    if answer.support in (Support.YES, Support.PARTIAL) and notation(seen, ARGUMENTS) is Notation.PYTHON:
        return Capability(answer.name, Support.PARTIAL, answer.evidence, "written as a Python dictionary")
    return answer


def _strings(footing: Footing, form: CallForm) -> Capability:
    seen = form.look(footing, form.probe, {"arguments": "string"})
    answer = of_values("string_arguments", seen, (ARGUMENTS,))
    if (
        answer.support is not Support.YES
        and seen.prompt
        and all(keeps(seen, ARGUMENTS, text) for text in _TEXTS)
    ):
        return Capability(answer.name, Support.YES, answer.evidence, "its JSON is written anew")
    if answer.support is Support.YES and notation(seen, ARGUMENTS) is Notation.JSON_STRING:
        return Capability(answer.name, Support.PARTIAL, answer.evidence, "encoded a second time")
    if answer.support is Support.YES and notation(seen, ARGUMENTS) is Notation.JSON:
        given = form.look(footing, form.probe, {"arguments": "object"})
        if given.prompt and notation(given, ARGUMENTS) is Notation.OTHER:
            return Capability(answer.name, Support.PARTIAL, answer.evidence, "as JSON, unlike objects")
    return answer


_TEXTS = ("acre", "Cobalt", "dusk", "Emerald")
"""Names and values of the arguments of the first call."""


def _text_beside(footing: Footing, form: CallForm) -> Capability:
    """Text and a call in one turn."""
    seen = form.look(footing, form.probe, {"content": "text"})
    answer = of_values("content_with_calls", seen, ("/messages/1/content",))
    if answer.support is not Support.YES:
        return noted(answer, "the text is lost") if answer.support is Support.NO else answer
    if (form.name and not _name_shown(seen, CALL)) or (form.arguments and not _arguments_shown(seen, CALL)):
        return Capability(answer.name, Support.NO, answer.evidence, "the call is lost")
    text, call = place(seen, "/messages/1/content"), place(seen, CALL)
    after = text is not None and call is not None and call.start < text.start
    return noted(answer, "the text stands after the call" if after else "")


def _no_text(footing: Footing, form: CallForm) -> Capability:
    """Null content beside a call must read like empty content."""
    name = "null_content_with_calls"
    null = form.look(footing, form.probe, {"content": "null"})
    empty = form.look(footing, form.probe, {"content": "empty"})
    if answer := refused(name, null):
        return answer
    cases = (null.case.id, empty.case.id)
    if empty.prompt and null.text != empty.text:
        return Capability(name, Support.PARTIAL, cases, "written in another way than empty content")
    return Capability(name, Support.YES, cases)


def _ids(form: CallForm) -> Capability:
    """Whether an id stands at the call, at the result, or at both."""
    seen = form.seen
    places = {"call": f"{CALL}/id", "result": "/messages/2/tool_call_id"}
    if len(seen.case.conversation.messages) < 3:
        del places["result"]
    there = [
        where for where, pointer in places.items() if fate(seen, pointer) not in (Fate.DROPPED, Fate.RAISED)
    ]
    support = Support.YES if len(there) == len(places) else Support.PARTIAL if there else Support.NO
    note = f"only at the {there[0]}" if support is Support.PARTIAL else ""
    return Capability("call_ids", support, (seen.case.id,), note)
