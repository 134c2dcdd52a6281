"""The overview has a place for everything that detection answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chatlint import check
from chatlint.detect.capabilities import detect_capabilities
from chatlint.detect.capability import Switch
from chatlint.export.serving import EngineServing, Serving
from chatlint.probe.trace import Trace
from chatlint.report.answers import GROUPS, answers_of
from chatlint.report.canvas import Canvas
from chatlint.report.overview import overview_lines
from chatlint.source.load import load
from tests.report.conftest import template_report


def test_every_capability_has_its_group():
    with Trace(load("corpus:qwen3").templates[0]) as trace:
        names = set(detect_capabilities(trace).capabilities)
    assert names == {name for group in GROUPS.values() for name in group}


def test_every_capability_is_shown_once():
    report = template_report()
    text = "\n".join(overview_lines(Canvas(80, verbose=True), report))
    grid = [mark for mark in "✓✗◐!?" for _ in range(text.partition("prompt ends")[0].count(f"{mark} "))]
    noted = 1  # "tool calls" says what is partial about it
    assert len(grid) == len(report.capabilities.capabilities) + noted


def test_what_is_not_evaluated_is_said():
    text = "\n".join(overview_lines(Canvas(80), template_report()))
    assert "unevaluated 1 rule (--verbose says why): double-bos" in text
    assert "failed      rules clock: ValueError: broke" in text
    text = "\n".join(overview_lines(Canvas(80, verbose=True), template_report()))
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


def test_another_form_of_calls_is_shown_beside_the_usual_one():
    report = template_report()
    switch = Switch("inner", "unset", ('["f"]',), "opening text, calls to <|code|>⟨name⟩(⟨key⟩, …)")
    capabilities = replace(report.capabilities, switches=(switch,))
    text = "\n".join(overview_lines(Canvas(80), replace(report, capabilities=capabilities)))
    assert 'inner (["f"]) changes opening text, calls\n' in text
    assert "or         <|code|>⟨name⟩(⟨key⟩, …)  (with inner)" in text


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
    text = "\n".join(overview_lines(Canvas(80, verbose=True), report))
    assert "prompt ends (no question gave a prompt)" in text
    assert "writes      (no answer was shown to learn from)" in text
    assert "round trips" not in text
    assert 300 < text.count("x") < 400


def answered(**supports):
    from chatlint.detect.capability import Capabilities, Capability, GenerationPrompt, Support

    given = {name: Capability(name, Support(support)) for name, support in supports.items()}
    return Capabilities({}, given, (), GenerationPrompt(""))


ROLES = dict.fromkeys(GROUPS["roles"], "yes")


@pytest.mark.parametrize(
    ("supports", "said"),
    [
        (ROLES, "✓ all"),
        ({**ROLES, "named_roles": "no"}, "✓ all but ✗ named roles"),
        (dict.fromkeys(ROLES, "no"), "✗ none"),
        ({**dict.fromkeys(ROLES, "no"), "history": "yes"}, "✓ history ✗ the rest"),
        (
            {"system": "no", "consecutive_users": "no", "consecutive_assistants": "no", "history": "yes"},
            "✓ history ✗ system, consecutive users/assistants",
        ),
        ({"system": "yes", "history": "no", "developer": "unknown"}, "✓ system ? developer ✗ history"),
    ],
)
def test_most_of_a_group_is_one_word(supports, said):
    ((label, answers),) = answers_of(answered(**supports))
    assert label == "roles"
    assert " ".join(f"{answer.mark} {answer.said}" for answer in answers) == said


def test_no_two_answers_of_a_group_are_shortened():
    """Whoever reads "all but" has to see what not."""
    for count in range(len(ROLES) + 1):
        supports = {name: "yes" if index < count else "no" for index, name in enumerate(ROLES)}
        ((_, answers),) = answers_of(answered(**supports))
        assert sum(bool(answer.short) for answer in answers) <= 1


def test_a_plain_template_takes_a_dozen_lines(tmp_path):
    path = tmp_path / "plain.jinja"
    path.write_text(
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    report = check(str(path), cache=False).targets[0].templates[0]
    assert len(list(overview_lines(Canvas(100), report))) <= 12


def test_what_several_engines_are_told_for_one_reason_is_said_once():
    engines = {
        "a": EngineServing(
            "A", "1", flags=("--hf",), basis="new marks; no parser of A 1 reads it", fits=False
        ),
        "b": EngineServing(
            "B", "2", flags=("--rt",), basis="new marks; no parser of B 2 reads it", fits=False
        ),
        "c": EngineServing("C", "3", basis="no tool calls were shown"),
        "d": EngineServing("D", "4", basis="no tool calls were shown"),
    }
    text = "\n".join(overview_lines(Canvas(100), template_report(serving=Serving(engines))))
    assert text.count("new marks") == text.count("no tool calls were shown") == 1
    assert "no parser of A 1 or B 2 reads it" in text
    assert "C, D no tool calls were shown" in text


def test_what_all_engines_are_told_fits_a_narrow_screen():
    names = ("a long name", "one as long", "one that is longer")
    engines = {name: EngineServing(name, "1", basis="no answer was shown") for name in names}
    lines = list(overview_lines(Canvas(40), template_report(serving=Serving(engines))))
    assert max(map(len, lines)) <= 40
    assert "one that is longer no answer was shown" in " ".join(" ".join(lines).split())
