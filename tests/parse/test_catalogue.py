"""Every tool format of the facts: written down by hand, its example read to hand-written calls."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatlint.parse.formats import OutputFormat
from chatlint.parse.message import assemble
from tests.parse.catalogue import CATALOGUE
from tests.parse.reading import TOOLS, chunks_of, ids_of, parts, read, stream
from tests.parse.writer import write

NOT_HERE = {
    "beam": "its example breaks off",
    "hf_response_template": "a way to declare formats, not a format",
}
SEAM = re.compile(r"(?<=[>\]}])(?<!\]<\]minimax\[>)\s*(?=[<\[{])(?!\[<|<\]m)")
"""Between two marks: not beside a raw value, not inside a tag."""


@pytest.fixture(scope="module")
def examples(shared: Path) -> dict[str, str]:
    """Format id → its example."""
    facts = json.loads((shared / "facts" / "formats.json").read_text(encoding="utf-8"))
    return {entry["id"]: entry["example"] for entry in facts["tool_formats"]}


def test_every_format_is_here(examples: dict[str, str]) -> None:
    assert set(examples) - set(CATALOGUE) == set(NOT_HERE)


@pytest.mark.parametrize("name", CATALOGUE)
def test_example(examples: dict[str, str], name: str) -> None:
    entry = CATALOGUE[name]
    want = entry.example
    message = read(entry.output, examples[name], cuts=True, generation_prompt=want.generation_prompt)
    assert parts(message) == (want.content, want.reasoning, list(want.calls))
    assert ids_of(message) == list(want.ids or [""] * len(want.calls))


@pytest.mark.parametrize("name", CATALOGUE)
def test_example_from_a_saved_format(examples: dict[str, str], name: str) -> None:
    entry = CATALOGUE[name]
    saved = json.loads(json.dumps(entry.output.to_dict()))
    loaded = OutputFormat.from_dict(saved)
    assert loaded == entry.output
    prompt = entry.example.generation_prompt
    assert loaded.parser(generation_prompt=prompt).parse(examples[name])["role"] == "assistant"


@pytest.mark.parametrize("name", CATALOGUE)
def test_text_after_the_calls_is_content(examples: dict[str, str], name: str) -> None:
    entry = CATALOGUE[name]
    want = entry.example
    message = read(entry.output, examples[name] + "\n\nAnd so on.", generation_prompt=want.generation_prompt)
    content = f"{want.content}\n\nAnd so on." if want.content else "And so on."
    assert parts(message) == (content, want.reasoning, list(want.calls))


MUTATIONS = {
    "removed": lambda blank: "",
    "doubled": lambda blank: blank * 2,
    "newlines": lambda blank: blank + "\n\n",
    "spaces": lambda blank: blank + "  ",
}


@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("name", CATALOGUE)
def test_whitespace_between_marks_is_free(examples: dict[str, str], name: str, mutation: str) -> None:
    entry = CATALOGUE[name]
    text = SEAM.sub(lambda match: MUTATIONS[mutation](match[0]), examples[name])
    want = read(entry.output, examples[name], generation_prompt=entry.example.generation_prompt)
    assert read(entry.output, text, generation_prompt=entry.example.generation_prompt) == want


LAST_VALUE = re.compile(r'.*(?:"days": [23]}|[>:=\n][23]\b|"(?:Paris|Rome)"}|124"|Hi|Paris(?=<))', re.DOTALL)


@pytest.mark.parametrize("name", CATALOGUE)
def test_closers_may_be_cut_by_the_end(examples: dict[str, str], name: str) -> None:
    entry = CATALOGUE[name]
    settings = {"tools": TOOLS, "generation_prompt": entry.example.generation_prompt}
    text = examples[name]
    match = LAST_VALUE.match(text)
    assert match, "the last value is not where it should be"
    want = entry.output.parser(**settings).parse(text)
    for end in range(match.end(), len(text)):
        for size in (1, len(text)):
            assert assemble(stream(entry.output, chunks_of(text[:end], size), **settings)) == want, text[:end]


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(sorted(CATALOGUE)), data=st.data())
def test_any_beginning_of_an_example_keeps_its_promises(name: str, data: st.DataObject) -> None:
    """A text may stop anywhere: the ways of cutting it still agree, and what was said stays."""
    entry = CATALOGUE[name]
    text = write(entry.output, content="Hi", calls=entry.example.calls[:1], ids=["functions.get_weather:0"])
    end = data.draw(st.integers(0, len(text)))
    read(entry.output, text[:end])
