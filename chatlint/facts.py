"""What two reports say of a template otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from chatlint.conversation import JSON
from chatlint.records import dataclass

PARTS = (
    "capabilities",
    "switches",
    "generation_prompt",
    "format",
    "stops",
    "tool_result",
    "serving",
    "limits",
    "round_trips",
)
"""The parts of a template's report that say how it behaves."""
_ASIDE = frozenset(("evidence", "cases", "line", "confidence", "grounds", "basis", "failures", "schema"))
"""Members that say how something is known, or where it stands, not what it is."""
_FORMAT_WORDS = ("reasoning_mode", "content_mode", "tool_format", "call_id_position", "family")
_ENGINE_FACTS = ("flags", "chat_template_kwargs", "response_template")


@dataclass(frozen=True, slots=True)
class FactChange:
    """One fact: the part of the report, the path below it, and its values (null: not there)."""

    part: str
    path: str
    first: JSON
    second: JSON


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding that only one side has."""

    rule: str
    severity: str
    message: str
    line: int
    new: bool


def fact_changes(first: Mapping[str, JSON], second: Mapping[str, JSON]) -> tuple[FactChange, ...]:
    """Facts of a template that differ between two reports on it, part by part."""
    found: list[FactChange] = []
    for part in PARTS:
        one, other = _facts(part, first.get(part)), _facts(part, second.get(part))
        if part == "stops":
            one, other = _without_moves(one, other)
        if part == "limits":
            found += _refusals(_words(first.get(part)), _words(second.get(part)))
        elif one != other:
            found += _differences(part, one, other)
    return tuple(found)


def _words(limits: JSON) -> list[JSON]:
    listed = limits if isinstance(limits, list) else []
    return [limit.get("message") for limit in listed if isinstance(limit, Mapping)]


def _refusals(one: list[JSON], other: list[JSON]) -> Iterator[FactChange]:
    """What only one side refuses with. There is no order among refusals, so none becomes another."""
    yield from (FactChange("limits", "", said, None) for said in one if said not in other)
    yield from (FactChange("limits", "", None, said) for said in other if said not in one)


def _differences(part: str, one: JSON, other: JSON) -> Iterator[FactChange]:
    # A third of a second to import, and most comparisons find nothing.
    from deepdiff import DeepDiff

    compared = DeepDiff(one, other, view="tree", verbose_level=2)
    levels = {level for found in compared.values() for level in found}
    for level in sorted(levels, key=lambda level: level.path()):
        path = tuple(str(token) for token in level.path(output_format="list"))
        yield from _leaves(part, path, _value(level.t1), _value(level.t2))


def _leaves(part: str, path: tuple[str, ...], one: JSON, other: JSON) -> Iterator[FactChange]:
    """A change of a whole object as changes of what is in it."""
    if any(isinstance(value, Mapping) for value in (one, other)):
        both = [value if isinstance(value, Mapping) else {} for value in (one, other)]
        for name in sorted({*both[0], *both[1]}):
            if both[0].get(name) != both[1].get(name):
                yield from _leaves(part, (*path, name), both[0].get(name), both[1].get(name))
    else:
        if one != other:
            yield FactChange(part, "/".join(path), one, other)


def _value(value: object) -> JSON:
    """A value as JSON; what deepdiff has for "not there" is null."""
    try:
        plain: JSON = json.loads(json.dumps(value))
    except TypeError:
        return None
    return plain


def _facts(part: str, value: JSON) -> JSON:
    """What counts of a part, without saying anything twice."""
    if isinstance(value, Mapping):
        if part == "stops" and isinstance(declared := value.get("declared"), Mapping):
            return _object({**value, "declared": unfiled(declared)})
        if part == "capabilities":
            return {name: _answer(answer) for name, answer in value.items()}
        if part == "format":
            saved = value.get("saved")
            marks = saved if isinstance(saved, Mapping) else {}
            words = {name: value.get(name) for name in _FORMAT_WORDS}
            return {**words, **_object({name: marks[name] for name in marks if name != "generation_prompt"})}
        if part == "serving":
            return {name: _engine(facts) for name, facts in value.items()}
    return _bare(value)


def unfiled(declared: Mapping[str, JSON]) -> dict[str, JSON]:
    """What files declare, without the names that users give to files. `config.json` is what an engine looks
    for; a GGUF is called anything. Several GGUFs that declare the same are as one."""
    found: dict[str, JSON] = {}
    for place, value in sorted(declared.items()):
        file, mark, key = place.partition("#")
        if not (mark and file.lower().endswith(".gguf")):
            found[place] = value
            continue
        known, more = found.get(f"GGUF#{key}"), value if isinstance(value, list) else [value]
        listed = known if isinstance(known, list) else []
        found[f"GGUF#{key}"] = [*listed, *(one for one in more if one not in listed)]
    return found


def _without_moves(one: JSON, other: JSON) -> tuple[JSON, JSON]:
    """Stops without the places that only one side has, where both declare the same all the same: a GGUF keeps
    them elsewhere than the files that it was made of. Which engine finds them is said by engine."""
    sides = [side for side in (one, other) if isinstance(side, Mapping)]
    declared = [places for side in sides if isinstance(places := side.get("declared"), Mapping)]
    if len(declared) < 2 or _all_stops(declared[0]) != _all_stops(declared[1]):
        return one, other
    both = declared[0].keys() & declared[1].keys()
    left = [
        {**side, "declared": {place: value for place, value in places.items() if place in both}}
        for side, places in zip(sides, declared, strict=True)
    ]
    return left[0], left[1]


def _all_stops(declared: Mapping[str, JSON]) -> set[str]:
    lists = (value for value in declared.values() if isinstance(value, list))
    return {json.dumps(stop, sort_keys=True) for stops in lists for stop in stops}


def _answer(answer: JSON) -> JSON:
    """A capability in words; what it says beside a yes or no is how it is known."""
    if not isinstance(answer, Mapping):
        return answer
    support, note = answer.get("support"), answer.get("note")
    return f"{support}: {note}" if note and support in ("partial", "raises") else support


def _engine(facts: JSON) -> JSON:
    if not isinstance(facts, Mapping):
        return _bare(facts)
    return _object({name: facts[name] for name in _ENGINE_FACTS if name in facts})


def _bare(value: JSON) -> JSON:
    """A part without what says how it is known; lists of texts as one text, of named things by name."""
    if isinstance(value, Mapping):
        return _object(value)
    if not isinstance(value, list):
        return value
    if value and all(isinstance(item, str) for item in value):
        return " ".join(str(item) for item in value)
    named = [item for item in value if isinstance(item, Mapping) and isinstance(item.get("name"), str)]
    if value and len(named) == len(value):
        return {str(item["name"]): _unnamed(item) for item in named}
    return [_bare(item) for item in value] or None


def _unnamed(value: Mapping[str, JSON]) -> dict[str, JSON]:
    return {name: member for name, member in _object(value).items() if name != "name"}


def _object(value: Mapping[str, JSON]) -> dict[str, JSON]:
    return {name: _bare(member) for name, member in value.items() if name not in _ASIDE}


def finding_changes(first: Mapping[str, JSON], second: Mapping[str, JSON]) -> tuple[FindingChange, ...]:
    """Findings that came or went. The same cause has the same fingerprint, wherever its line moved."""
    one, other = _findings(first), _findings(second)
    gone = [_finding(one[mark], new=False) for mark in one if mark not in other]
    return (*gone, *(_finding(other[mark], new=True) for mark in other if mark not in one))


def _findings(report: Mapping[str, JSON]) -> dict[str, Mapping[str, JSON]]:
    listed = report.get("findings")
    found = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    return {str(one.get("fingerprint")): one for one in found}


def _finding(finding: Mapping[str, JSON], *, new: bool) -> FindingChange:
    location = finding.get("location")
    line = location.get("line") if isinstance(location, Mapping) else 0
    said = [str(finding.get(name, "")) for name in ("rule", "severity", "message")]
    return FindingChange(said[0], said[1], said[2], line if isinstance(line, int) else 0, new)
