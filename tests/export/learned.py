"""Formats for the tests: learned from the corpus's own templates, and the corpus's readings beside them."""

from __future__ import annotations

import json
from functools import cache

import pytest

from chatlint.infer.learn import learn
from chatlint.probe.trace import Trace
from chatlint.render.rendered import RenderSettings
from chatlint.render.syntax import syntax_of
from chatlint.source.load import load
from tests.corpus.entries import ENTRIES, TOOLS, Entry, user


@cache
def learned(name):
    """The format of an entry's template, that for tools if it has one."""
    entry = next(entry for entry in ENTRIES if entry.name == name)
    package = load(str(entry.folder))
    names = [template.name for template in package.templates]
    template = package.template("tool_use" if "tool_use" in names else "default")
    with Trace(template, RenderSettings()) as trace:
        return learn(trace, syntax_of(template.text))


@cache
def _generation_prompt(name, kwargs):
    entry = next(entry for entry in ENTRIES if entry.name == name)
    return entry.render([user("Hello?")], generation=True, **json.loads(kwargs))


class Reading:
    """One reading of the corpus."""

    def __init__(self, entry: Entry, found):
        self.entry = entry.name
        self.name = found["name"]
        self.text = found["text"]
        self.message = found["message"]
        self.tools = TOOLS[found["tools"]] if found["tools"] else []
        self.as_history = found.get("history", True)
        self.apart = found.get("reasoning", True)
        self._found = found

    @property
    def format(self):
        return learned(self.entry)

    @property
    def generation_prompt(self):
        given = self._found.get("generation_prompt")
        kwargs = json.dumps(self._found.get("template_kwargs", {}))
        return _generation_prompt(self.entry, kwargs) if given is None else given

    @property
    def calls(self):
        return [(call["name"], call["arguments"], call["id"]) for call in self.message["tool_calls"]]

    @property
    def id(self):
        return f"{self.entry}/{self.name}"


READINGS = [Reading(entry, found) for entry in ENTRIES for found in entry.expected["readings"]]
WRITTEN = [reading for reading in READINGS if reading.as_history and reading.apart]
"""Readings as templates write them."""


def each(readings):
    """A test for each of these readings."""
    return pytest.mark.parametrize("reading", readings, ids=[reading.id for reading in readings])
