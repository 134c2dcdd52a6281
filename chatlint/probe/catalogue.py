"""Probes by id and in their variants, read when they are asked for.

A probe is a JSON file `<group>/<name>.json` whose id is `group/name`; `tools.json` beside the groups holds
tools that probes name (`"@tide"`). The terms and guarantees stand in `probes/README.md`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

from chatlint.conversation import JSON, Conversation, JSONObject
from chatlint.errors import UsageError
from chatlint.probe.axes import applied, settled
from chatlint.probe.case import Case, Probe, Variant
from chatlint.source.bundled import bundled

TOOLS_FILE = "tools.json"
_REMEMBERED = 2_000
"""Cases that are kept: nearly all are asked of every template."""
Settings: TypeAlias = tuple[tuple[str, str], ...]


class Catalogue:
    """The probes of one directory. Nothing is read until it is needed, and nothing twice; cases are the same
    for every template."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._probes: dict[str, Probe] = {}
        self._tools: JSONObject | None = None
        self._spelled: dict[tuple[str, Settings], Case] = {}
        self._cases: dict[tuple[str, Settings], Case] = {}

    def ids(self) -> tuple[str, ...]:
        """Every probe's id, sorted."""
        return tuple(sorted(f"{path.parent.name}/{path.stem}" for path in self.root.glob("*/*.json")))

    def __iter__(self) -> Iterator[Probe]:
        return (self.probe(name) for name in self.ids())

    def probe(self, name: str) -> Probe:
        """The probe of that id. Raises UsageError if there is none, or if its file is not a probe."""
        if name not in self._probes:
            self._probes[name] = self._read(name)
        return self._probes[name]

    def case(self, probe: str, axes: Variant) -> Case:
        """A probe in one variant, whichever way its axes are spelled: one object, as long as it is
        remembered. Raises UsageError on unknown names."""
        spelled = probe, tuple(axes.items())
        known = self._spelled.get(spelled)
        if known is None:
            if len(self._spelled) >= _REMEMBERED:
                self._spelled.clear()
                self._cases.clear()
            known = self._spelled[spelled] = self._settled(probe, settled(axes))
        return known

    def _settled(self, probe: str, variant: Settings) -> Case:
        known = self._cases.get((probe, variant))
        if known is None:
            conversation = applied(self.probe(probe).conversation, dict(variant))
            known = self._cases[probe, variant] = _case(probe, variant, conversation)
        return known

    def near(self, name: str) -> str:
        """What to say to somebody who wrote `name`: the nearest ids, or words of ids."""
        import difflib

        words = sorted({word for one in self.ids() for word in re.split(r"[/-]", one)})
        near = difflib.get_close_matches(name.lower(), self.ids(), n=3, cutoff=0.5)
        near = near or difflib.get_close_matches(name.lower(), words, n=3, cutoff=0.6)
        return f"did you mean {' or '.join(near)}?" if near else "`chatlint probes` lists them"

    def _read(self, name: str) -> Probe:
        path = self.root / f"{name}.json"
        if name.count("/") != 1 or ".." in name or not path.is_file():
            raise UsageError(f"there is no probe {name!r}", hint=self.near(name))
        return self._probe(name, _Source(path, _object(_parsed(path), path, "the file")))

    def _probe(self, name: str, source: _Source) -> Probe:
        if source.text("id") != name:
            raise source.fault(f"its id must be {name!r}, as the file is named")
        return Probe(
            name,
            source.text("title"),
            source.text("why"),
            self._conversation(source),
            source.names("needs"),
            source.names("vary"),
            source.text("beyond_openai") if "beyond_openai" in source.content else "",
        )

    def conversation(self, content: JSONObject, path: Path) -> Conversation:
        """A conversation as a probe has it, from the file at `path`. Raises UsageError if it is none."""
        return self._conversation(_Source(path, {"conversation": content}))

    def _conversation(self, source: _Source) -> Conversation:
        inner = _Source(
            source.path, _object(source.content.get("conversation"), source.path, "`conversation`")
        )
        tools = inner.items("tools")
        kwargs = _object(inner.content.get("template_kwargs", {}), source.path, "`template_kwargs`")
        return Conversation(
            messages=inner.objects(inner.items("messages") or [], "messages"),
            tools=None if tools is None else tuple(self._tool(tool, source.path) for tool in tools),
            documents=inner.objects(inner.items("documents"), "documents")
            if inner.items("documents")
            else None,
            template_kwargs=kwargs,
        )

    def _tool(self, tool: JSON, path: Path) -> JSONObject:
        if not isinstance(tool, str):
            return _object(tool, path, "a tool")
        if self._tools is None:
            file = self.root / TOOLS_FILE
            self._tools = _object(_parsed(file), file, "the file")
        if tool not in self._tools:
            raise UsageError(f"{path}: there is no tool {tool!r} in {TOOLS_FILE}")
        return _object(self._tools[tool], path, f"the tool {tool}")


def _case(probe: str, variant: Settings, conversation: Conversation) -> Case:
    """A continued message is never followed by a generation prompt: transformers refuses the two together."""
    chosen = dict(variant)
    field = chosen.get("continue", "off")
    continued: bool | str = False if field == "off" else (field == "content" or field)
    return Case(probe, variant, conversation, chosen.get("generation") != "off" and not continued, continued)


@cache
def catalogue() -> Catalogue:
    """The probes that come with chatlint."""
    return Catalogue(bundled("probes"))


class _Source:
    """An object of a probe's file, read with complaints that name the file."""

    def __init__(self, path: Path, content: JSONObject) -> None:
        self.path = path
        self.content = content

    def fault(self, what: str) -> UsageError:
        return UsageError(
            f"{self.path}: {what}", hint="`chatlint schema probe` prints what a probe looks like"
        )

    def text(self, name: str) -> str:
        value = self.content.get(name)
        if not isinstance(value, str):
            raise self.fault(f"`{name}` must be a text")
        return value

    def names(self, name: str) -> tuple[str, ...]:
        values = self.items(name) or ()
        return tuple(value for value in values if isinstance(value, str))

    def items(self, name: str) -> Sequence[JSON] | None:
        value = self.content.get(name)
        if value is None or (isinstance(value, list)):
            return value
        raise self.fault(f"`{name}` must be a list")

    def objects(self, values: Sequence[JSON] | None, name: str) -> tuple[JSONObject, ...]:
        return tuple(_object(value, self.path, f"an element of `{name}`") for value in values or ())


def _object(value: JSON, path: Path, what: str) -> JSONObject:
    if not isinstance(value, Mapping):
        raise UsageError(f"{path}: {what} must be an object")
    return value


def _parsed(path: Path) -> JSON:
    try:
        with open(path, "rb", buffering=0) as file:
            parsed: JSON = json.loads(file.read().decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path}: cannot be read as JSON: {error}") from error
    return parsed
