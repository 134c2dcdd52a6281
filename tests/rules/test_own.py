"""The rules that watch chatlint's own parser: what a broken one does is a failure, never a finding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatlint.parse.parser import OutputParser
from chatlint.rules.run import Judged, run
from chatlint.rules.selection import Selection
from chatlint.verify.trip import Cause, Difference
from tests.rules.subjects import subject_of

SOURCE = """{% for m in messages %}<|{{ m.role }}|>
{{- '<think>' ~ m.reasoning_content ~ '</think>' if m.reasoning_content }}{{ m.content or '' }}
{%- for c in m.tool_calls or [] %}{% set a = c.function.arguments %}
<call>{{ c.function.name }} {{ a if a is string else a | tojson }}</call>
{%- endfor %}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"""
OWN = ("chunk-invariance", "never-drop-silently", "reasoning-then-tools", "round-trip")


def subjects(judged: Judged) -> list[str]:
    return [failure.subject for failure in judged.failures]


def test_a_parser_that_is_right_is_silent() -> None:
    with subject_of(SOURCE) as subject:
        judged = run(subject, Selection(OWN))
        assert subject.round_trips.passed > 8
    assert judged.failures == ()
    assert judged.unevaluated == ()


@pytest.mark.parametrize("dropped", ["content", "reasoning_content"])
def test_error_a_word_that_comes_back_nowhere(monkeypatch: pytest.MonkeyPatch, dropped: str) -> None:
    parse = OutputParser.parse
    with subject_of(SOURCE) as subject:
        monkeypatch.setattr(OutputParser, "parse", lambda self, text: {**parse(self, text), dropped: ""})
        judged = run(subject, Selection(("never-drop-silently",)))
    assert judged.findings == ()
    assert subjects(judged) == ["never-drop-silently"]
    assert "comes back nowhere" in judged.failures[0].message


def test_error_another_message_in_chunks() -> None:
    with subject_of(SOURCE) as subject:
        first, *rest = subject.round_trips.trips
        subject.round_trips = replace(
            subject.round_trips, trips=(replace(first, chunks=("Ju", "niper")), *rest)
        )
        judged = run(subject, Selection(("chunk-invariance",)))
    assert judged.findings == ()
    assert subjects(judged) == ["chunk-invariance"]
    assert "['Ju', 'niper']" in judged.failures[0].message
    assert judged.failures[0].message.endswith(f"({first.case})")


def test_error_what_the_parser_misreads_is_no_finding() -> None:
    with subject_of(SOURCE) as subject:
        first, *rest = subject.round_trips.trips
        misread = replace(first, differences=(Difference("content", "Juniper", "Jun", Cause.PARSER),))
        subject.round_trips = replace(subject.round_trips, trips=(misread, *rest))
        judged = run(subject, Selection(("round-trip",)))
    assert judged.findings == ()
    assert subjects(judged) == ["round-trip"]
    assert "'Juniper' comes back as 'Jun'" in judged.failures[0].message


def test_error_a_phantom_call(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = OutputParser.parse
    phantom = {"tool_calls": [{"function": {"name": "look", "arguments": "{}"}}]}
    with subject_of(SOURCE) as subject:
        monkeypatch.setattr(OutputParser, "parse", lambda self, text: {**parse(self, text), **phantom})
        judged = run(subject, Selection(("reasoning-then-tools",)))
    assert judged.findings == ()
    assert subjects(judged) == ["reasoning-then-tools"]
    assert "1 calls are read, 0 were made" in judged.failures[0].message


def test_error_a_thought_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    parse = OutputParser.parse
    with subject_of(SOURCE) as subject:
        monkeypatch.setattr(
            OutputParser, "parse", lambda self, text: {**parse(self, text), "reasoning_content": ""}
        )
        judged = run(subject, Selection(("reasoning-then-tools",)))
    assert "comes back nowhere" in judged.failures[0].message
