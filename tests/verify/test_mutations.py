"""Written text, changed as models change it: whitespace between marks, closers cut, text behind calls."""

from __future__ import annotations

import json
import re

import pytest

from chatlint.infer.markers import atoms, is_tag
from chatlint.infer.turns import Part
from chatlint.verify.prefix import shown_before
from chatlint.verify.written import written
from tests.corpus.entries import ENTRIES
from tests.infer.learned import of_entry

BLANKS = re.compile(r"\s+")
CASES = (("calls/two", {}), ("calls/one", {"content": "text"}), ("reasoning/call", {}))
CHANGES = {"removed": "", "doubled": None, "newline": "\n", "spaces": "  "}


def sent(entry, probe, axes):
    """The written form of a corpus entry's probe message; None if its template does not show it whole."""
    trace, output = of_entry(entry.name)
    if output.tool_calls is None:
        return None
    seen = trace.see(probe, generation="off", **axes)
    one = written(output, shown_before(trace, seen, 1), seen, 1)
    if one is None or not one.turn.has(Part.NAME) or read(output, one, one.text)["tool_calls"] == []:
        return None
    return one


def read(output, one, text):
    tools = one.observation.case.conversation.tools
    message = output.parser(tools=tools, generation_prompt=one.prompt).parse(text)
    calls = [
        (call["function"]["name"], json.loads(call["function"]["arguments"]))
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def places(one):
    """Whitespace in the model's text that stands between two marks: no slot and no edge of the text beside it."""
    start = one.turn.raw.index(one.text)
    inputs = [(slot.start - start, slot.end - start) for slot in one.turn.slots]
    for match in BLANKS.finditer(one.text):
        inside = any(begin - 1 < match.end() and match.start() < end + 1 for begin, end in inputs)
        before, after = one.text[: match.start()], one.text[match.end() :]
        if inside or not before or not after:
            continue
        if is_tag(atoms(before)[-1]) and is_tag(atoms(after)[0]):
            yield match.span()


ROWS = [(entry, probe, axes) for entry in ENTRIES for probe, axes in CASES]
each_case = pytest.mark.parametrize(
    ("entry", "probe", "axes"), ROWS, ids=[f"{entry.name}-{probe}" for entry, probe, _ in ROWS]
)


@each_case
@pytest.mark.parametrize("change", CHANGES)
def test_whitespace_between_marks(entry, probe, axes, change):
    one = sent(entry, probe, axes)
    if one is None:
        pytest.skip("not written by this template")
    output = of_entry(entry.name)[1]
    message = read(output, one, one.text)
    for start, end in places(one):
        blank = CHANGES[change]
        blank = one.text[start:end] * 2 if blank is None else blank
        changed = one.text[:start] + blank + one.text[end:]
        assert read(output, one, changed) == message, changed


@each_case
def test_closers_cut_at_the_end(entry, probe, axes):
    one = sent(entry, probe, axes)
    if one is None:
        pytest.skip("not written by this template")
    output = of_entry(entry.name)[1]
    message = read(output, one, one.text)
    tail = one.turn.raw[one.turn.slots[-1].end : one.turn.raw.index(one.text) + len(one.text)]
    pieces = [atom for atom in atoms(tail) if is_tag(atom)]
    text = one.text
    for mark in reversed(pieces):
        text = text[: text.rindex(mark)]
        assert read(output, one, text) == message, text


@each_case
def test_text_behind_calls_is_content(entry, probe, axes):
    one = sent(entry, probe, axes)
    if one is None:
        pytest.skip("not written by this template")
    output = of_entry(entry.name)[1]
    if output.header_end or output.content.start.strip():
        pytest.skip("content has a wrapper in this format")
    message = read(output, one, one.text)
    behind = read(output, one, one.text + "\n\nThat is all.")
    assert behind["tool_calls"] == message["tool_calls"]
    assert behind["content"].strip().endswith("That is all.")
    assert behind["content"].startswith(message["content"])


def test_there_is_whitespace_to_change():
    changed = [entry.name for entry in ENTRIES if (one := sent(entry, "calls/two", {})) and list(places(one))]
    assert len(changed) > 20
