"""Messages there and back, and who lost what."""

from __future__ import annotations

from functools import cache

import pytest

from chatlint.parse.formats import OutputFormat
from chatlint.verify.roundtrip import round_trips
from chatlint.verify.trip import Cause, RoundTrip
from tests.corpus.entries import ENTRIES
from tests.infer.learned import (
    ARGUMENTS,
    TEXT,
    each_call,
    keyed,
    learned_from,
    of_entry,
    section,
    template,
    turns,
)

NAME = "{{ c.function.name }}"
OBJECT = '<call>{"name": "' + NAME + '", "arguments": ' + ARGUMENTS + "}</call>"


@cache
def trips(text: str) -> dict[str, RoundTrip]:
    trace, output = learned_from(template(text))
    return {trip.case: trip for trip in round_trips(trace, output).trips}


def causes(trip: RoundTrip) -> dict[str, Cause]:
    return {difference.field: difference.cause for difference in trip.differences}


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_the_corpus_comes_back(entry):
    """Whole, but for what the template itself loses; in single characters and at every cut."""
    trace, output = of_entry(entry.name)
    found = round_trips(trace, output, every_cut=True)
    assert found.trips
    assert found.failed == 0, [(trip.case, trip.differences, trip.chunks) for trip in found.failures]


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.name for entry in ENTRIES])
def test_few_more_renders(entry):
    trace, output = of_entry(entry.name)
    before = trace.renders
    round_trips(trace, output)
    assert trace.renders - before <= 25


def test_everything_comes_back():
    found = trips(turns(TEXT + each_call(OBJECT)))
    assert {"calls/two@generation=off", "arguments/hard-strings@generation=off"} <= set(found)
    assert all(trip.passed for trip in found.values())


def test_text_is_what_the_model_would_have_written():
    found = trips(turns(TEXT + each_call(OBJECT)))
    assert found["roles/user-assistant@generation=off"].text == "Juniper"
    assert found["calls/one@generation=off"].text.startswith('<call>{"name": "find_tide"')


def test_lost_by_the_template():
    found = trips(turns("{% if m.tool_calls %}" + each_call(OBJECT) + "{% else %}" + TEXT + "{% endif %}"))
    trip = found["calls/one@content=text,generation=off"]
    assert causes(trip) == {"content": Cause.LOST}
    assert trip.template_only


def test_the_second_call_is_lost():
    one = section("{% set c = m.tool_calls[0] %}", OBJECT, "")
    assert causes(trips(turns(TEXT + one))["calls/two@generation=off"]) == {"tool_calls/1": Cause.LOST}


def test_altered_by_the_template():
    found = trips(turns("{{ (m.content or '')|upper }}"))
    assert causes(found["roles/user-assistant@generation=off"]) == {"content": Cause.ALTERED}


def test_blanks_of_the_templates_own():
    text = turns(TEXT + "{% if m.tool_calls %}{% else %} \n {% endif %}", end="")
    assert all(trip.template_only or trip.passed for trip in trips(text).values())


def test_a_value_that_the_format_cannot_tell_apart():
    calls = section("[", each_call(NAME + "(" + keyed("{{ k }}={{ v }}", ", ") + ")", ", "), "]")
    trip = trips(turns(TEXT + calls))["arguments/hard-strings@generation=off"]
    assert Cause.AMBIGUOUS in causes(trip).values()
    assert Cause.PARSER not in causes(trip).values()
    assert not trip.template_only


def test_the_formats_own_marks_in_a_value():
    case = "verify/own-marks@generation=off"
    assert trips(turns(TEXT + each_call(OBJECT)))[case].passed
    member = keyed("<k>{{ k }}</k><v>{{ v if v is string else v|tojson }}</v>")
    raw = trips(turns(TEXT + each_call("<call>" + NAME + member + "</call>")))[case]
    assert not raw.misread
    assert Cause.AMBIGUOUS in causes(raw).values()


def test_merged_parts():
    text = turns(
        "{% if m.reasoning_content %}<mull>{{ m.reasoning_content }}</mull>{% endif %}"
        "{% if m.tool_calls and m.content %}<mull>{{ m.content }}</mull>{% else %}"
        + TEXT
        + "{% endif %}"
        + each_call(OBJECT)
    )
    trip = trips(text)["calls/one@content=text,generation=off"]
    assert set(causes(trip).values()) == {Cause.MERGED}


def test_a_wrong_format_is_the_parsers_fault():
    trace, _ = learned_from(template(turns("<say>" + TEXT + "</say>")))
    trip = next(
        iter(round_trips(trace, OutputFormat(header="<|assistant|>", end_of_turn=("<|end|>",))).trips)
    )
    assert causes(trip) == {"content": Cause.PARSER}


def test_the_history_begins_with_prompt_and_text():
    assert all(trip.prefix for trip in trips(turns(TEXT + each_call(OBJECT))).values())


def test_a_prompt_that_the_history_contradicts():
    prompt = "{% if add_generation_prompt %}<|assistant|><mull>\n{% endif %}"
    found = trips(turns("<mull></mull>" + TEXT, prompt=prompt))
    assert not any(trip.prefix for trip in found.values())


def test_nothing_to_read_back_is_not_applicable():
    trace, output = learned_from(
        template("{% for m in messages %}{% if m.role == 'user' %}{{ m.content }}{% endif %}{% endfor %}")
    )
    found = round_trips(trace, output)
    assert not found.trips
    assert found.not_applicable
