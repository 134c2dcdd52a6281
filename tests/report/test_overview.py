"""The overview has a place for everything that detection answers."""

from __future__ import annotations

from chatlint.detect.capabilities import detect_capabilities
from chatlint.probe.trace import Trace
from chatlint.report.canvas import Canvas
from chatlint.report.overview import GROUPS, overview_lines
from chatlint.source.load import load
from tests.report.conftest import template_report


def test_every_capability_has_its_group():
    with Trace(load("corpus:qwen3").templates[0]) as trace:
        names = set(detect_capabilities(trace).capabilities)
    assert names == {name for group in GROUPS.values() for name in group}


def test_every_capability_is_shown_once():
    report = template_report()
    text = "\n".join(overview_lines(Canvas(80), report))
    grid = [mark for mark in "✓✗◐!?" for _ in range(text.partition("prompt ends")[0].count(f"{mark} "))]
    noted = 1  # "tool calls" says what is partial about it
    assert len(grid) == len(report.capabilities.capabilities) + noted


def test_what_is_not_evaluated_is_said():
    text = "\n".join(overview_lines(Canvas(80), template_report()))
    assert "unevaluated double-bos (special tokens are assumed)" in text
    assert "failed      rules clock: ValueError: broke" in text


def test_the_end_of_a_long_generation_prompt_is_what_is_kept():
    from chatlint.detect.capability import Capabilities, GenerationPrompt

    asked = GenerationPrompt("x" * 200 + "<|assistant|>\n")
    report = template_report(capabilities=Capabilities({}, {}, (), asked), format=None)
    lines = list(overview_lines(Canvas(60), report))
    assert lines[0].startswith("  prompt ends …xxx")
    assert lines[0].endswith("<|assistant|>⏎")
    assert len(lines[0]) <= 60


def test_the_grammar_is_said_as_a_person_reads_it():
    lines = [line.rstrip() for line in overview_lines(Canvas(90), template_report())]
    start = lines.index("  writes      reasoning  <think>⟨reasoning⟩</think>  (medium confidence)")
    assert lines[start + 1 : start + 4] == [
        "              content    ⟨content⟩",
        "              calls      <calls><call>⟨name⟩⟨arguments⟩</call>…</calls>  (a guess)",
        "              arguments  <arg=⟨key⟩>⟨value⟩</arg>…  strings as they are",
    ]
    assert "  prompt ends <|assistant|>⏎ (reasoning open)" in lines


def test_what_did_not_come_back_is_named():
    text = "\n".join(overview_lines(Canvas(90), template_report()))
    assert "round trips 1 of 2 (1 not applicable)" in text
    assert "arguments/one: tool_calls/0/arguments/a (format-ambiguous)" in text


def test_where_nothing_was_rendered_nothing_is_said_to_be_known():
    from chatlint.detect.capability import Capabilities, Capability, GenerationPrompt, Support
    from chatlint.infer.learn import learn
    from chatlint.render.syntax import syntax_of
    from chatlint.verify.roundtrip import round_trips
    from tests.rules.subjects import subject_of

    with subject_of("{{ raise_exception('never') }}", learned=False) as subject:
        output = learn(subject.trace, syntax_of(subject.template.text))
        trips = round_trips(subject.trace, output)
    asked = Capability("generation_prompt", Support.RAISES, note="x" * 2000)
    capabilities = Capabilities({}, {"generation_prompt": asked}, (), GenerationPrompt(""))
    report = template_report(capabilities=capabilities, format=output, round_trips=trips)
    text = "\n".join(overview_lines(Canvas(80), report))
    assert "prompt ends (no question gave a prompt)" in text
    assert "writes      (no answer was shown to learn from)" in text
    assert "round trips" not in text
    assert 300 < text.count("x") < 400
