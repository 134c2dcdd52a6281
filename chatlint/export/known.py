"""Known formats and the parsers of serving engines, and which of them a format is.

Theory of operation. `known_formats.json` holds, for each published format, how one call reads. A learned
format writes the same call; the two are compared, so markers and structure are compared at once, and whatever
the format was called by whoever made it. White space and the spelling of JSON are set aside first; where a
parser insists on white space or on a token, `engine_parsers.json` says so. Both tables are facts of our own,
dated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from chatlint.conversation import JSON, JSONObject
from chatlint.export.marks import too_long
from chatlint.export.samples import LOOK
from chatlint.export.writing import write_calls
from chatlint.lazy import regex
from chatlint.parse.formats import OutputFormat, Reasoning, Syntax, ToolCalls
from chatlint.parse.notation import Encoding, Written
from chatlint.parse.patterns import ID, NAME, skeleton
from chatlint.records import dataclass, replace

_NEAR = 0.5
"""Least likeness of marks, as a share, at which a format is called near another."""
_TAG = regex(r"<[^<>\s]+>?|\[/?[A-Z][A-Z_/]+\]|\w+(?==)")
_OPENING = regex(r"[{[]")
_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
_SINGLE = regex(r"'([^'\"\\]*)'")


@dataclass(frozen=True, slots=True)
class KnownFormat:
    """A published format. `nested`: how objects inside arguments are written (json, python, marks, any).
    `pairs`: reasoning parsers made for the same models, by engine."""

    id: str
    models: str
    samples: tuple[str, ...]
    nested: str
    pairs: Mapping[str, tuple[str, ...]]
    note: str


@dataclass(frozen=True, slots=True)
class Parser:
    """A named parser. `reads`: ids of known formats, each with what running it showed. `needs`: text that
    must stand in the format. `insists`: a token that must be in the vocabulary. `content`: the opener of
    content that it takes off. `bare`: for reasoning, what text without an opener is taken for."""

    name: str
    reads: Mapping[str, str]
    needs: str = ""
    needs_by: Mapping[str, str] | None = None
    insists: str = ""
    bare: str = ""
    content: str = ""
    note: str = ""

    def needed(self, format_id: str) -> str:
        """The text that must stand in the format for the parser to read it."""
        return (self.needs_by or {}).get(format_id, self.needs)


@dataclass(frozen=True, slots=True)
class Engine:
    """A serving engine with its parsers, in the order in which they are preferred."""

    key: str
    name: str
    version: str
    tool: tuple[Parser, ...]
    reasoning: tuple[Parser, ...]


@cache
def known_formats() -> Mapping[str, KnownFormat]:
    """All published formats by id."""
    formats = _object(_table("known_formats")["formats"])
    return {key: _known(key, _object(entry)) for key, entry in formats.items()}


def _known(key: str, entry: JSONObject) -> KnownFormat:
    pairs = {engine: _texts(names) for engine, names in _object(entry.get("pairs")).items()}
    nested = _text(entry, "nested") or "json"
    return KnownFormat(
        key, _text(entry, "models"), _texts(entry["samples"]), nested, pairs, _text(entry, "note")
    )


@cache
def reasoning_marks() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """The marks of published reasoning formats, by id."""
    found: dict[str, tuple[tuple[str, str], ...]] = {}
    for key, value in _object(_table("known_formats")["reasoning"]).items():
        pairs = [_texts(pair) for pair in _items(_object(value)["marks"])]
        found[key] = tuple((pair[0], pair[1]) for pair in pairs)
    return found


@cache
def engines() -> Mapping[str, Engine]:
    """Engines with named parsers, by key."""
    made: dict[str, Engine] = {}
    for key, value in _object(_table("engine_parsers")["engines"]).items():
        entry = _object(value)
        kinds = [
            tuple(_parser(name, _object(facts)) for name, facts in _object(entry[kind]).items())
            for kind in ("tool", "reasoning")
        ]
        made[key] = Engine(key, _text(entry, "name"), _text(entry, "version"), *kinds)
    return made


def _parser(name: str, facts: JSONObject) -> Parser:
    reads = facts["reads"]
    by_format = {str(key): str(value) for key, value in reads.items()} if isinstance(reads, Mapping) else {}
    return Parser(
        name,
        by_format or dict.fromkeys(_texts(reads), ""),
        _text(facts, "needs"),
        {key: str(value) for key, value in _object(facts.get("needs_by")).items()},
        _text(facts, "insists"),
        _text(facts, "bare"),
        _text(facts, "content"),
        _text(facts, "note"),
    )


@cache
def _table(name: str) -> JSONObject:
    return _object(json.loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8")))


def dated() -> str:
    """The month for which the tables are right: `2026-11`."""
    return _text(_table("engine_parsers"), "dated")


def _object(value: JSON) -> JSONObject:
    return value if isinstance(value, Mapping) else {}


def _items(value: JSON) -> list[JSON]:
    return list(value) if isinstance(value, list | tuple) else []


def _texts(value: JSON) -> tuple[str, ...]:
    return tuple(str(item) for item in _items(value))


def _text(entry: JSONObject, key: str) -> str:
    return str(entry.get(key) or "")


# -- which one a format is ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Match:
    """A known format that a format is. `same_space`: white space too. `without_id`: only but for the call's
    id."""

    known: KnownFormat
    written: str
    same_space: bool
    without_id: bool = False


def match_of(output: OutputFormat) -> Match | None:
    """The known format with these markers and this structure, None if none has them."""
    calls = output.tool_calls
    if calls is None or too_long(output):
        return None
    written = write_calls(calls, [LOOK])
    found = _match(written) or _match(write_calls(calls, [replace(LOOK, id="0")]))
    if found is None and (bare := _without_id(calls)) is not None:
        found = _match(write_calls(bare, [LOOK]))
        return replace(found, written=written, without_id=True) if found else None
    return found


def _match(written: str) -> Match | None:
    """Of several with the same marks, the one with the same white space."""
    alike = [
        Match(known, written, sample.strip() == written.strip())
        for known in known_formats().values()
        for sample in known.samples
        if canonical(sample) == canonical(written)
    ]
    exact = [match for match in alike if match.same_space]
    return next(iter([*exact, *alike]), None)


def _without_id(calls: ToolCalls) -> ToolCalls | None:
    """The same calls, their id left out of an object literal; None if they have none there, or if the id is
    all that says which tool is called."""
    if calls.syntax is Syntax.TEXT or ID not in calls.body or skeleton(calls.body).id is None:
        return None
    if NAME not in calls.body + calls.call_start:
        return None
    without = re.sub(rf'"[^"]*"\s*:\s*"?{ID}"?\s*,\s*|,\s*"[^"]*"\s*:\s*"?{ID}"?', "", calls.body, count=1)
    return replace(calls, body=without)


@cache
def canonical(text: str) -> str:
    """Text without white space, JSON in one spelling (members sorted), quotes of one kind."""
    text = _SINGLE.sub(r'"\1"', text)
    parts: list[str] = []
    at = 0
    for opening in _OPENING.finditer(text):
        begin = opening.start()
        if begin < at:
            continue  # inside of what was read
        try:
            value, end = _DECODER.raw_decode(text, begin)
        except (ValueError, RecursionError):
            continue
        parts += [*text[at:begin].split(), _ENCODER.encode(value)]
        at = end
    return "".join([*parts, *text[at:].split()])


def family(output: OutputFormat) -> str | None:
    """The id of the known format that this one is or, by its marks, is nearest to; None if none is near."""
    found = match_of(output)
    if found is not None:
        return found.known.id
    calls = output.tool_calls
    if calls is None or too_long(output):
        return None
    marks = _marks(write_calls(calls, [LOOK]))
    near = [
        (len(marks & other) / len(marks | other), known.id)
        for known in known_formats().values()
        for other in (_marks(sample) for sample in known.samples)
        if marks | other
    ]
    likeness, name = max(near, key=lambda pair: pair[0])
    return name if likeness >= _NEAR else None


def _marks(text: str) -> set[str]:
    return set(_TAG.findall(text))


def nested_of(calls: ToolCalls) -> str:
    """How objects inside arguments are written: json, python or marks."""
    if calls.syntax is Syntax.PYTHON:
        return "python"
    way = calls.values.object
    if calls.members is None or (isinstance(way, Written) and way.encoding is not Encoding.PYTHON):
        return "json"
    return "python" if isinstance(way, Written) else "marks"


def reasoning_of(reasoning: Reasoning) -> str | None:
    """The id of the known reasoning format with these marks; an opener that is never written may be
    missing."""
    wanted = [(marks.start.strip(), marks.end.strip()) for marks in reasoning.every]
    for key, pairs in reasoning_marks().items():
        for start, end in pairs:
            if any(_same(start, end, *marks) for marks in wanted):
                return key
    return None


def _same(start: str, end: str, found_start: str, found_end: str) -> bool:
    return (not found_start or found_start == start) and found_end.startswith(end)
