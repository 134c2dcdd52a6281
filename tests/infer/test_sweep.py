"""Every real template: a format for each that writes calls, and every loss on the way back attributed.

Slow; run by `pytest -m sweep tests/infer`. Set CHATLINT_SWEEP to a file to have one JSON line per template.
"""

from __future__ import annotations

import json
import os

import pytest

from chatlint.infer.needles import needle_in, needles_of
from chatlint.verify.roundtrip import round_trips
from tests.conftest import SHARED
from tests.infer.learned import learned_from, template

FILES = sorted((SHARED / "templates").glob("*.jinja"))
AT_LEAST = 0.98

pytestmark = [
    pytest.mark.sweep,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(
        not FILES, reason="needs the real templates in ../shared, which are not part of the project"
    ),
]


def shows_calls(trace):
    """Whether any render of a call printed its name and an argument."""
    for observation in trace.observations:
        prompt = observation.prompt
        for index in range(len(observation.case.conversation.messages)) if prompt else ():
            call = f"/messages/{index}/tool_calls/0/function"
            if prompt.shows(f"{call}/name") and prompt.shows(f"{call}/arguments"):
                return True
    return False


@pytest.fixture(scope="module")
def swept():
    found = []
    for file in FILES:
        trace, output = learned_from(template(file.read_text(encoding="utf-8")))
        found.append((file.stem, trace, output, round_trips(trace, output)))
        trace.close()
    if path := os.environ.get("CHATLINT_SWEEP"):
        rows = [
            {
                "name": name,
                "renders": trace.renders,
                "format": output.to_dict(),
                "trips": len(trips.trips),
                "failed": [
                    [trip.case, [(d.field, d.cause) for d in trip.differences], bool(trip.chunks)]
                    for trip in trips.failures
                ],
            }
            for name, trace, output, trips in found
        ]
        with open(path, "w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return found


def test_every_template_that_writes_calls_has_a_format(swept):
    assert [
        name for name, trace, output, _ in swept if shows_calls(trace) and output.tool_calls is None
    ] == []


def test_what_was_not_learned_says_why(swept):
    for name, _, output, _ in swept:
        for part in ("reasoning", "tool_calls"):
            if getattr(output, part) is None:
                assert output.grounds[part].note, name


def test_no_text_that_tells_everything_is_misread(swept):
    misread = {name: trips.failures for name, _, _, trips in swept if trips.failed}
    assert len(misread) <= (1 - AT_LEAST) * len(swept), misread


def test_round_trips(swept):
    """Every message that a template with calls can express comes back; but for a value made of the format's own marks,
    which only a format that escapes can tell apart."""
    calling = [(name, trips) for name, _, output, trips in swept if output.tool_calls]
    failed = {
        name: [(trip.case, trip.differences) for trip in found]
        for name, trips in calling
        if (
            found := [
                trip for trip in trips.failures if not trip.template_only and "own-marks" not in trip.case
            ]
        )
    }
    assert len(calling) > 300
    assert len(failed) <= (1 - AT_LEAST) * len(calling), failed


def test_no_probe_value_is_part_of_a_mark(swept):
    for name, trace, output, _ in swept:
        words = needles_of(observation.case.conversation for observation in trace.observations)
        parts = (output.header, output.header_end, output.reasoning, output.content, output.tool_calls)
        assert needle_in((*parts, output.end_of_turn, output.end_of_message), words) == "", name
