"""Where the model hands over, and which engines stop there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chatlint.lazy import regex
from chatlint.records import dataclass
from chatlint.rules.calls import supported
from chatlint.rules.cause import Cause, NotEvaluated, Sight
from chatlint.rules.finding import Severity
from chatlint.rules.sights import bounds
from chatlint.text import Input, Origin, Prompt, listed

if TYPE_CHECKING:
    from chatlint.probe.case import Observation
    from chatlint.rules.subject import Subject
    from chatlint.source.package import Package

TAG = regex(r"<<[^<>\s]{1,48}>>|<[^<>\s]{1,48}>|\[/?[A-Z][A-Z_]{1,30}\]")
"""What a mark looks like where no tokenizer tells."""
PIPED = regex(r"<[|｜][^<>|｜\s]{1,48}[|｜]>")
"""What nothing but a special token looks like."""
ANSWER, CALL = "an answer", "a tool call"
_STRUCTURE = ("/role", "/type")
_WRITTEN = "what the template wrote"
# Followed by the next message, and last: some templates close a turn only then, some only otherwise.
_ANSWERS = (
    ("roles/user-assistant-user", "/messages/1/content"),
    ("roles/user-assistant", "/messages/1/content"),
)
_CALLS = (("calls/one-result", "/messages/1/tool_calls"), ("calls/one", "/messages/1/tool_calls"))


@dataclass(frozen=True, slots=True)
class End:
    """What the model writes when its turn is over. `marks` are all tokens and marks that stand there, the one
    that ends the turn first: an engine stops if it stops at any of them. `after` says what it follows."""

    after: str
    marks: tuple[str, ...]
    sight: Sight


@dataclass(frozen=True, slots=True)
class Stopping:
    """What an engine does at an end: True it stops, False it runs on, None that cannot be told."""

    engine: str
    stops: bool | None
    reason: str = ""


def ends(subject: Subject) -> tuple[End, ...]:
    """The ends of an answer and of a tool call, as far as any are seen."""
    marks = _learned(subject)
    found = [_first_end(_seen(subject, _ANSWERS), ANSWER, marks, subject.package)]
    way = supported(subject)
    if way is not None:
        calls = [(subject.see(probe, way, generation="off"), pointer) for probe, pointer in _CALLS]
        found.append(_first_end(calls, CALL, marks, subject.package))
    return tuple(end for end in found if end)


def stopping(subject: Subject, end: End) -> tuple[Stopping, ...]:
    """What each engine does there."""
    from chatlint.source.engine_stops import engine_stops

    numbers = {mark: subject.package.token_id(mark) for mark in end.marks}
    made = []
    for engine in engine_stops(subject.package):
        verdicts = [engine.stops_at(mark, number) for mark, number in numbers.items()]
        verdict = True if True in verdicts else None if None in verdicts else False
        made.append(Stopping(engine.engine, verdict, engine.unknown))
    return tuple(made)


def stops_by_engine(subject: Subject) -> dict[str, tuple[bool, tuple[str, ...]]]:
    """For the report: whether an engine stops at every end, and the marks at which it does not. Engines of
    which that cannot be told are left out."""
    known: dict[str, list[tuple[str, bool | None]]] = {}
    for end in ends(subject):
        for one in stopping(subject, end):
            known.setdefault(one.engine, []).append((end.marks[0], one.stops))
    return {
        engine: (all(stops for _, stops in seen), tuple(mark for mark, stops in seen if not stops))
        for engine, seen in known.items()
        if all(stops is not None for _, stops in seen)
    }


def _learned(subject: Subject) -> tuple[str, ...]:
    """The learned marks that hand over; those with a counter in them are no tokens."""
    from chatlint.parse.formats import OutputFormat

    found = subject.format
    return (
        tuple(mark for mark in found.end_of_turn if "⟨" not in mark)
        if isinstance(found, OutputFormat)
        else ()
    )


def _seen(subject: Subject, probes: tuple[tuple[str, str], ...]) -> list[tuple[Observation, str]]:
    return [(subject.see(probe, generation="off"), pointer) for probe, pointer in probes]


def _first_end(
    seen: list[tuple[Observation, str]], after: str, marks: tuple[str, ...], package: Package
) -> End | None:
    for observation, pointer in seen:
        found = bounds(observation, pointer)
        if found is None:
            continue
        places = list(_marks_in(observation, found[1], marks, package))
        if places:
            start, mark = places[0]
            said = tuple(dict.fromkeys(mark for _, mark in places))
            return End(after, said, Sight(observation, start, start + len(mark), "the turn's end"))
    return None


def _marks_in(
    observation: Observation, start: int, marks: tuple[str, ...], package: Package
) -> Iterator[tuple[int, str]]:
    """Learned marks between the value and the next input, in order, and the tokens that follow at once."""
    end = _next_input(observation, start)
    tail = observation.text[start:end]
    places = sorted((tail.index(mark), mark) for mark in marks if mark in tail)
    yield from ((start + at, mark) for at, mark in places)
    if places or not marks:
        yield from tokens_at(observation.text[:end], start + (places[0][0] if places else 0), package)


def tail(observation: Observation, pointer: str) -> tuple[int, str] | None:
    """What the template writes between a value and the next input, or the prompt's end, and where it begins;
    None where the value is lost."""
    found = bounds(observation, pointer)
    if found is None:
        return None
    return found[1], observation.text[found[1] : _next_input(observation, found[1])]


def _next_input(observation: Observation, start: int) -> int:
    """Where what somebody said goes on. A role in a header is structure."""
    spans = observation.prompt.spans if observation.prompt else ()
    return next(
        (span.start for span in spans if span.start >= start and _is_said(span.origin)),
        len(observation.text),
    )


def _is_said(origin: Origin) -> bool:
    return isinstance(origin, Input) and not origin.pointer.endswith(_STRUCTURE)


def tokens_at(text: str, start: int, package: Package) -> Iterator[tuple[int, str]]:
    """Added tokens that stand here one after the other, with nothing but blanks between them."""
    tokens = package.markers
    while start < len(text):
        token = next((token for token in tokens if text.startswith(token, start)), "")
        if not token and not text[start].isspace():
            return
        if token:
            yield start, token
        start += len(token) or 1


def stop_causes(subject: Subject, end: End) -> Iterator[Cause]:
    """What is wrong where engines do not stop at an end. Raises NotEvaluated where some may or may not."""
    if all(subject.package.is_token(mark) is False for mark in end.marks):
        yield _no_token(end)
        return
    seen = stopping(subject, end)
    missing = [one.engine for one in seen if one.stops is False]
    unknown = [one for one in seen if one.stops is None]
    if unknown and set(missing) <= {"llama.cpp", "TGI"}:  # these two can be told from less than the others
        raise NotEvaluated(unknown[0].reason or "no file tells the ids of tokens")
    if missing:
        yield _runs_on(end, missing, [one.engine for one in seen if one.stops])


def _runs_on(end: End, missing: list[str], stops: list[str]) -> Cause:
    mark = end.marks[0]
    others = f"; {listed(stops)} {_do(stops)}" if stops else ""
    return Cause(
        key=f"after {end.after}: {mark}",
        message=f"after {end.after} stands {mark!r}, at which {listed(missing)} {_do(missing)} not stop"
        + others,
        consequence="Generation does not end there: the model writes on, up to the token limit.",
        sights=(end.sight,),
        severity=_severity(missing, stops),
        fix=f"Set `tokenizer.ggml.eos_token_id` to the id of {mark!r}."
        if _for_gguf(missing, stops)
        else f"Let `eos_token_id` of generation_config.json be a list with the id of {mark!r} in it.",
    )


def _severity(missing: list[str], stops: list[str]) -> Severity:
    """Wrong where no file declares the mark: llama.cpp knows marks by their text, and is enough only where
    the files are made for it. Else it depends on whom the disagreement hits."""
    if not set(stops) - ({"Ollama"} if _for_gguf(missing, stops) else {"llama.cpp"}):
        return Severity.ERROR
    return Severity.WARNING if set(missing) & {"vLLM", "SGLang", "transformers"} else Severity.INFO


def _for_gguf(missing: list[str], stops: list[str]) -> bool:
    """Only GGUFs are asked what Ollama does."""
    return "Ollama" in {*missing, *stops}


def _no_token(end: End) -> Cause:
    mark = end.marks[0]
    return Cause(
        key=f"after {end.after}: text {mark}",
        message=f"after {end.after} stands {mark!r}, which the tokenizer's files do not list as a token",
        consequence="No engine stops at it unless every request names it as a stop string.",
        sights=(end.sight,),
        severity=Severity.WARNING,
        fix="End turns with a special token, or document the stop string.",
    )


def _do(engines: list[str]) -> str:
    return "does" if len(engines) == 1 else "do"


def stops_too_early(subject: Subject) -> Iterator[Cause]:
    """Marks after which the turn goes on, and at which engines stop."""
    from chatlint.source.engine_stops import engine_stops

    output = subject.format
    engines = engine_stops(subject.package)
    for mark in output.end_of_message if output else ():
        number = subject.package.token_id(mark)
        stopping = [one.engine for one in engines if one.stops_at(mark, number)]
        if output and stopping and mark not in output.end_of_turn:
            yield Cause(
                key=f"too early: {mark}",
                message=f"after {mark!r} the turn goes on, but {listed(stopping)} end it there",
                consequence="Turns are cut off after their first message: the reasoning, without a call.",
                severity=Severity.WARNING,
                fix="Leave its id out of every `eos_token_id`.",
            )


def written(observation: Observation) -> str:
    """The prompt with NULs in place of what somebody said: what the template itself wrote."""
    prompt = observation.prompt
    if prompt is None:
        return ""
    known = prompt.known.get(_WRITTEN)
    if not isinstance(known, str):
        prompt.known[_WRITTEN] = known = _written(prompt)
    return known


def _written(prompt: Prompt) -> str:
    text = prompt.text
    pieces, at = [], 0
    for start, end, origin in prompt.spans:
        if type(origin) is Input and not origin.pointer.endswith(_STRUCTURE):
            pieces += [text[at:start], "\0" * (end - start)]
            at = end
    return "".join((*pieces, text[at:]))
