"""Exports of formats written down by hand: each known to its engines, read back by transformers, in grammars."""

from __future__ import annotations

import json

import pytest

from chatlint.errors import UsageError
from chatlint.export.flags import serving_of
from chatlint.export.known import family, match_of
from chatlint.export.response_template import response_template
from chatlint.export.writing import Call, write_turn
from tests.corpus.entries import TOOLS
from tests.export.judges import JUDGES, verdict
from tests.export.test_response_template import read
from tests.parse.catalogue import CATALOGUE

WITH_IDS = ("mistral_v11_args",)
"""Written down with ids, which engines do not take off the name."""
CALL = Call("get_weather", {"city": "Paris", "days": 3})
WITH_CALLS = sorted(name for name, entry in CATALOGUE.items() if entry.output.tool_calls)


def written(output):
    """A turn with a call in this format, and its parts."""
    reasoning = "Hm." if output.reasoning and output.reasoning.start.strip() else ""
    return write_turn(output, reasoning=reasoning, calls=[CALL]), reasoning


@pytest.mark.parametrize("name", WITH_CALLS)
def test_it_is_a_known_format(name):
    assert match_of(CATALOGUE[name].output) is not None
    assert family(CATALOGUE[name].output)


def test_parsers_are_those_that_were_seen_to_read_the_format(shared):
    facts = json.loads((shared / "facts" / "formats.json").read_text(encoding="utf-8"))
    seen = 0
    for entry in facts["tool_formats"]:
        if (
            entry["id"] not in CATALOGUE
            or entry["id"] in WITH_IDS
            or not entry["verified_nonstream_1tok_5tok"]
        ):
            continue
        engines = serving_of(CATALOGUE[entry["id"]].output).engines
        for key, (whole, *_) in entry["verified_nonstream_1tok_5tok"].items():
            engine, _, parser = key.partition(":")
            named = engines[engine].tool_call_parser
            assert (parser in named) is (whole == "ok"), (entry["id"], key, named)
            seen += 1
    assert seen > 100


@pytest.mark.parametrize("name", WITH_CALLS)
def test_transformers_reads_it_back(name):
    output = CATALOGUE[name].output
    try:
        template = response_template(output)
    except UsageError as error:
        pytest.skip(error.message)
    text, reasoning = written(output)
    for step in (0, 1):
        content, thinking, calls = read(template, text, tools=TOOLS["weather"], step=step)
        assert (content, thinking) == ("", reasoning)
        assert [call[:2] for call in calls] == [("get_weather", {"city": "Paris", "days": 3})]


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("name", WITH_CALLS)
def test_the_grammar_takes_it(judge, name):
    output = CATALOGUE[name].output
    text, _ = written(output)
    request = {"tools": TOOLS["weather"], "generation_prompt": output.header}
    assert verdict(judge, output, text, **request) == "accepted"
    broken = text.replace("3", '"three"' if '"days": 3' in text else "three")
    assert verdict(judge, output, broken, tool_choice="required", **request).startswith("refused")
