"""Reads a whole text with a response template, as transformers 5.24 does.

Only for judging a template that a package carries, so streams, casts of odd types and messages for authors
are left out. Source: transformers' `docs/source/en/chat_response_parsing.md`; the tests compare with its
parser.

Its patterns are written by strangers. Those that could search for ever are refused (`slow`), since Python's
`re` cannot be stopped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from chatlint.conversation import JSON, JSONObject, Tool
from chatlint.export.region_content import CONTENT, cast, transformed
from chatlint.lazy import regex
from chatlint.limits import RESPONSE_PATTERN_CHARACTERS
from chatlint.records import dataclass, field

_KEYS = {"version", "defaults", "fields", "start_anchor", "start_anchor_pattern"}
_FIELD_KEYS = {
    "open", "open_pattern", "close", "close_pattern", "content", "content_args", "repeats", "join",
    "optional", "transform", "transform_each",
}  # fmt: skip


class Refused(ValueError):
    """transformers refuses this template, or cannot read this text with it; the message says why."""


class Unreadable(ValueError):
    """This reader cannot judge the template, though transformers may take it."""


@dataclass(frozen=True, slots=True)
class _Region:
    name: str
    opens: re.Pattern[str] | None
    closes: re.Pattern[str] | None
    content: str
    facts: JSONObject


class ResponseReader:
    """A response template, ready to read. Raises Refused or Unreadable for what is none."""

    def __init__(self, template: JSON) -> None:
        spec = _object(template, "it is no object")
        if unknown := set(spec) - _KEYS:
            raise Refused(f"unknown keys {sorted(unknown)}")
        if spec.get("version", 1) != 1:
            raise Refused(f"version {spec.get('version')}")
        self._defaults = _object(spec.get("defaults", {}), "defaults is no object")
        fields = _object(spec.get("fields"), "fields is no object")
        self._regions = {name: _region(name, facts) for name, facts in fields.items()}
        implicit = [region.name for region in self._regions.values() if region.opens is None]
        if len(implicit) > 1:
            raise Refused(f"more than one field without an opener: {', '.join(implicit)}")
        self._implicit = implicit[0] if implicit else None
        anchor = _anchor(spec, "start_anchor", "start_anchor_pattern")
        if anchor is None or not fields:
            raise Refused("no start_anchor" if anchor is None else "no fields")
        self._anchor = anchor

    @property
    def fields(self) -> frozenset[str]:
        """The names of its fields."""
        return frozenset(self._regions)

    def read(self, prompt: str, text: str, tools: Sequence[Tool] = ()) -> dict[str, JSON]:
        """The message that a text after a prompt is. Raises Refused where transformers would raise."""
        ends = [match.end() for match in self._anchor.finditer(prompt)]
        whole = prompt[ends[-1] if ends else 0 :] + text
        return _Reading(self._regions, self._implicit, whole, dict(self._defaults), tools).message()


@dataclass(slots=True)
class _Reading:
    """One text being read: where it is, which region is open, what came of the others."""

    regions: Mapping[str, _Region]
    implicit: str | None
    text: str
    output: dict[str, JSON]
    tools: Sequence[Tool]
    at: int = 0
    current: str | None = None
    opened: bool = False
    body: str = ""
    captures: dict[str, str] = field(default_factory=dict)

    def message(self) -> dict[str, JSON]:
        self.current = self.implicit
        defaults = set(self.output)
        while (found := self._next()) is not None:
            region, match, opens = found
            self._say(self.text[self.at : match.start()])
            self.at = match.end()
            had_content = self.opened
            if opens:
                self._close()
                self.current, self.opened = region.name, True
                self.captures = _named(match)
            else:
                self.captures.update(_named(match))
                self._close()
                if not had_content and match.start() == match.end():
                    break
        self._say(self.text[self.at :])
        self._close()
        return {key: value for key, value in self.output.items() if key in defaults or not _empty(value)}

    def _next(self) -> tuple[_Region, re.Match[str], bool] | None:
        """The next anchor: the first, of those at one place the longest, openers before closers."""
        found = []
        for region, pattern, opens in self._watched():
            if match := pattern.search(self.text, self.at):
                found.append((match.start(), -len(match[0]), not opens, region.name, region, match))
        if not found:
            return None
        _, _, closes, _, region, match = min(found, key=lambda entry: entry[:4])
        return region, match, not closes

    def _watched(self) -> Iterator[tuple[_Region, re.Pattern[str], bool]]:
        if self.current is not None and self.current != self.implicit:
            region = self.regions[self.current]
            if region.closes:
                yield region, region.closes, False
            return
        for region in self.regions.values():
            if region.opens:
                yield region, region.opens, True
        if self.implicit is not None and (closes := self.regions[self.implicit].closes):
            yield self.regions[self.implicit], closes, False

    def _say(self, text: str) -> None:
        if text and self.current is not None:
            self.opened = True
            self.body += text

    def _close(self) -> None:
        if self.current is not None and self.opened:
            self._keep(self.regions[self.current])
        self.current, self.opened, self.body, self.captures = self.implicit, False, "", {}

    def _keep(self, region: _Region) -> None:
        """Puts a region's value into the message."""
        try:
            value = cast(self._value(region), self.tools)
        except (ValueError, KeyError, RecursionError) as error:
            raise Refused(f"{region.name}: {error}") from error
        join = region.facts.get("join")
        known = self.output.get(region.name)
        if isinstance(join, str):
            self.output[region.name] = value if known is None else f"{known}{join}{value}"
        elif region.facts.get("repeats"):
            before = known if isinstance(known, list) else []
            self.output[region.name] = [*before, value]
        else:
            self.output[region.name] = value

    def _value(self, region: _Region) -> JSON:
        arguments = region.facts.get("content_args")
        value = CONTENT[region.content](self.body, arguments if isinstance(arguments, Mapping) else {})
        transform = region.facts.get("transform")
        if transform is None:
            return value
        if not region.facts.get("transform_each"):
            return transformed(transform, {**self.captures, "content": value})
        if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
            raise Refused(f"{region.name}: transform_each needs a list of objects")
        return [
            transformed(transform, {**self.captures, **item}) for item in value if isinstance(item, Mapping)
        ]


def _object(value: JSON, otherwise: str) -> JSONObject:
    if isinstance(value, Mapping):
        return value
    raise Refused(otherwise)


def _named(match: re.Match[str]) -> dict[str, str]:
    return {name: text for name, text in match.groupdict().items() if text is not None}


def _empty(value: JSON) -> bool:
    return value is None or (isinstance(value, str | list | Mapping) and not value)


def _region(name: str, facts: JSON) -> _Region:
    spec = _object(facts, f"field {name!r} is no object")
    if unknown := set(spec) - _FIELD_KEYS:
        raise Refused(f"field {name!r}: unknown keys {sorted(unknown)}")
    content = spec.get("content", "text")
    if content not in CONTENT:
        raise Refused(f"field {name!r}: unknown content {content!r}")
    opens, closes = _anchor(spec, "open", "open_pattern"), _anchor(spec, "close", "close_pattern")
    return _Region(name, opens, closes, str(content), spec)


def _anchor(spec: JSONObject, literal: str, pattern: str) -> re.Pattern[str] | None:
    """An anchor: one text, several texts, or a pattern."""
    if literal in spec and pattern in spec:
        raise Refused(f"both {literal} and {pattern}")
    if literal in spec:
        given = spec[literal]
        texts = [given] if isinstance(given, str) else list(given) if isinstance(given, list) else []
        if not texts or not all(isinstance(text, str) and text for text in texts):
            raise Refused(f"{literal} is no text and no list of texts")
        return re.compile(
            "|".join(re.escape(str(text)) for text in sorted(texts, key=lambda t: -len(str(t))))
        )
    return compiled(spec[pattern]) if pattern in spec else None


def compiled(pattern: JSON) -> re.Pattern[str]:
    """A stranger's pattern. Raises Unreadable where it is not for Python's `re`, or could search for ever."""
    if not isinstance(pattern, str) or len(pattern) > RESPONSE_PATTERN_CHARACTERS or slow(pattern):
        raise Unreadable(f"a pattern that is not tried: {str(pattern)[:80]!r}")
    try:
        return re.compile(pattern, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        raise Unreadable(f"a pattern of another dialect: {pattern[:80]!r} ({error})") from None


_QUOTED = regex(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.S)
_GROUP = regex(
    r"\((?P<kind>\?(?:P?<\w+>|:|P=\w+|<?[=!]|[a-zA-Z]+:?))?(?P<inner>[^()]*)\)(?P<times>[*+]|\{\d*,?\d*\})?"
)


def slow(pattern: str) -> bool:
    """Whether matching might take exponential time: a repeated group that itself repeats, or chooses."""
    text = _QUOTED.sub("x", pattern)
    while match := _GROUP.search(text):
        inner = match["inner"]
        repeats = bool(re.search(r"[*+{]", inner))
        if match["times"] and (repeats or "|" in inner):
            return True
        text = text[: match.start()] + ("x*" if repeats or match["times"] else "x") + text[match.end() :]
    return False


__all__ = ["Refused", "ResponseReader", "Unreadable", "compiled", "slow"]
