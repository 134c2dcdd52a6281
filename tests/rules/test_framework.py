"""From causes to findings: order, grouping, fingerprints, what breaks and what is not evaluated."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

import chatlint
from chatlint.config import Profile
from chatlint.errors import UsageError
from chatlint.limits import FINDING_CHARACTERS, RULE_CAUSES
from chatlint.render.rendered import FailureKind, RenderFailure
from chatlint.rules import catalogue, run, selection
from chatlint.rules.catalogue import all_rules, find_rule
from chatlint.rules.cause import Cause, Gathering, NotEvaluated, Sight, failure_key, smallest_first
from chatlint.rules.finding import Location, Severity
from chatlint.rules.page import read_page
from chatlint.rules.rule import Check, Rule, Stage, rule
from chatlint.rules.selection import Selection
from chatlint.rules.severity import weighed
from chatlint.rules.sights import at_end, written_at
from chatlint.rules.subject import Subject
from chatlint.source.package import TemplatePlace
from chatlint.source.place import json_place
from chatlint.text import Input, Literal, Prompt, Span
from tests.rules.subjects import subject_of

LEDGER = {
    "CT101": "syntax",
    "CT102": "undefined-read",
    "CT103": "loop-scope",
    "CT104": "free-variables",
    "CT111": "sources-disagree",
    "CT112": "stale-copy",
    "CT113": "named-template-gap",
    "CT121": "required-capability",
    "CT122": "expected-facts",
    "CT123": "reference-mismatch",
    "CT124": "ignore-changes-prompt",
    "CT125": "unused-ignore",
    "CT201": "unbounded-work",
    "CT202": "mutates-input",
    "CT203": "whitespace-environment",
    "CT204": "clock",
    "CT205": "scaling",
    "CT301": "generation-prompt",
    "CT302": "role-support",
    "CT303": "content-shape",
    "CT304": "prefix-break",
    "CT305": "double-bos",
    "CT306": "null-content-printed",
    "CT307": "missing-content-key",
    "CT308": "turn-end-not-a-stop",
    "CT309": "turn-balance",
    "CT310": "bos-not-first",
    "CT311": "prefill-support",
    "CT312": "implicit-system-text",
    "CT313": "media-placeholders",
    "CT314": "content-altered",
    "CT315": "training-mask",
    "CT316": "header-markers",
    "CT401": "tools-not-rendered",
    "CT402": "tool-calls-lost",
    "CT403": "content-or-calls-lost",
    "CT404": "parallel-calls",
    "CT405": "argument-shape",
    "CT406": "tool-result-shape",
    "CT407": "schema-text-lost",
    "CT408": "schema-null-crash",
    "CT409": "dict-method-names",
    "CT410": "python-literals-in-output",
    "CT411": "call-name-lost",
    "CT412": "result-not-linkable",
    "CT413": "tool-id-constraint",
    "CT414": "instruction-replay-mismatch",
    "CT415": "tools-position-unstable",
    "CT416": "empty-tools-not-neutral",
    "CT417": "empty-call-list-not-neutral",
    "CT418": "empty-arguments",
    "CT419": "json-fidelity",
    "CT501": "reasoning-history",
    "CT502": "reasoning-start-state",
    "CT503": "thinking-switch-inert",
    "CT504": "close-tag-in-text",
    "CT601": "no-bos",
    "CT602": "missing-terminator",
    "CT603": "double-terminator",
    "CT604": "end-of-message-not-a-stop",
    "CT605": "unknown-special-tokens",
    "CT606": "pad-is-turn-end",
    "CT607": "trailing-space-in-generation-prompt",
    "CT608": "absent-special-token",
    "CT609": "eos-after-prompt",
    "CT610": "no-such-token",
    "CT611": "stops-disagree",
    "CT612": "mark-not-special",
    "CT613": "eot-not-written",
    "CT701": "round-trip",
    "CT702": "ambiguous-value",
    "CT703": "chunk-invariance",
    "CT704": "never-drop-silently",
    "CT705": "reasoning-then-tools",
    "CT801": "response-template-mismatch",
    "CT802": "format-to-parser",
    "CT803": "engine-portability",
    "CT804": "engine-divergence",
    "CT805": "breaks-in-serving",
    "CT901": "forged-turns",
    "CT902": "unsafe-code",
    "CT903": "content-gated-text",
    "CT904": "hidden-text",
}
"""Codes are never given twice: a line may be added here, none changed."""

STAGES = {
    "1": "load",
    "2": "render",
    "3": "prompt",
    "4": "tools",
    "5": "reasoning",
    "6": "tokens",
    "7": "round_trips",
    "8": "serving",
    "9": "hazards",
}


def stage_of(code: str) -> str:
    return "gate" if code.startswith("CT12") else STAGES[code[2]]


GOOD = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n{% endfor %}"


def test_the_ledger_of_codes() -> None:
    assert {rule.code: rule.name for rule in all_rules()} == LEDGER


def test_codes_follow_the_stages() -> None:
    assert [rule.name for rule in all_rules() if stage_of(rule.code) != rule.category] == []


def test_the_catalogue_imports_little() -> None:
    """`chatlint rules` only reads docstrings: what renders, detects and loads stays out."""
    code = (
        "import sys; from chatlint.rules.catalogue import all_rules; all_rules()\n"
        "print(*sorted(name for name in sys.modules if name.partition('.')[0] in ('chatlint', 'jinja2')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in loaded.stdout.split() if name.startswith("chatlint.")}
    assert "jinja2" not in loaded.stdout
    rendering = {name for name in loaded.stdout.split() if name.startswith("chatlint.render.")}
    assert rooms <= {
        "rules",
        "errors",
        "lazy",
        "limits",
        "config",
        "conversation",
        "text",
        "probe",
        "records",
        "render",
    }
    assert rendering <= {"chatlint.render.rendered"}  # the name of the host that settings have


def rule_of(
    check: Check, code: str = "CT999", severity: Severity = Severity.ERROR, needs: Stage = Stage.TEXT
) -> Rule:
    return Rule(
        code, f"made-up-{code.lower()}", "load", "Made up.", severity, "0.1", needs, check, "Made up."
    )


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> list[Rule]:
    made: list[Rule] = []
    for module in (catalogue, selection):
        monkeypatch.setattr(module, "all_rules", lambda: tuple(made))
    return made


def cause(key: str, **more: object) -> Cause:
    return replace(Cause(key, f"{key}!", "It hurts."), **more)


def found(rules: list[Rule], *causes: Cause, source: str = GOOD) -> run.Judged:
    rules[:] = [rule_of(lambda subject: iter(causes))]
    with subject_of(source) as subject:
        return run.run(subject)


def test_findings_come_worst_first_then_by_code(rules: list[Rule]) -> None:
    def two(subject: Subject) -> Iterator[Cause]:
        yield cause("mild", severity=Severity.INFO)
        yield cause("bad", line=2)
        yield cause("worse", line=1)

    rules += [rule_of(two, "CT102"), rule_of(lambda subject: iter([cause("x")]), "CT101", Severity.WARNING)]
    with subject_of(GOOD) as subject:
        judged = run.run(subject)
    assert [one.message for one in judged.findings] == ["worse!", "bad!", "x!", "mild!"]


def test_error_a_rule_that_breaks_is_a_failure_and_the_rest_is_judged(rules: list[Rule]) -> None:
    def broken(subject: Subject) -> Iterator[Cause]:
        yield cause("seen before")
        raise KeyError("oops")

    rules += [rule_of(broken, "CT101"), rule_of(lambda subject: iter([cause("x")]), "CT102")]
    with subject_of(GOOD) as subject:
        judged = run.run(subject)
    assert [(one.stage, one.subject, one.message) for one in judged.failures] == [
        ("rules", "made-up-ct101", "KeyError: 'oops'")
    ]
    assert [one.message for one in judged.findings] == ["x!"]


def test_error_a_fault_of_chatlint_is_a_failure_and_no_finding(rules: list[Rule]) -> None:
    def mixed(subject: Subject) -> Iterator[Cause]:
        yield cause("theirs")
        yield cause("ours", own=True, sights=(Sight(subject.see("roles/user")),))

    rules.append(rule_of(mixed))
    with subject_of(GOOD) as subject:
        judged = run.run(subject)
    assert [one.message for one in judged.findings] == ["theirs!"]
    assert [(one.subject, one.message) for one in judged.failures] == [
        ("made-up-ct999", "ours! (roles/user)")
    ]


def test_what_is_not_evaluated_is_said(rules: list[Rule]) -> None:
    def unsure(subject: Subject) -> Iterator[Cause]:
        raise NotEvaluated("nobody knows")
        yield

    rules.append(rule_of(unsure))
    with subject_of(GOOD) as subject:
        judged = run.run(subject)
    assert judged == run.Judged(unevaluated=(("made-up-ct999", "nobody knows"),))


@pytest.mark.parametrize(
    ("source", "needs", "reason"),
    [
        ("{% if %}", Stage.TRACE, "does not compile"),
        ("{{ x | nonsense }}", Stage.TRACE, "does not compile"),
        (GOOD, Stage.FORMAT, "no output format"),
        (GOOD, Stage.ROUND_TRIPS, "no output format"),
    ],
)
def test_a_rule_that_needs_more_than_there_is_does_not_run(
    rules: list[Rule], source: str, needs: Stage, reason: str
) -> None:
    rules.append(rule_of(lambda subject: iter([cause("x")]), needs=needs))
    with subject_of(source, learned=False) as subject:
        judged = run.run(subject)
    assert judged.findings == ()
    assert reason in judged.unevaluated[0][1]


def test_error_a_template_beyond_a_bound_is_no_syntax_error_and_not_judged() -> None:
    with subject_of("{{ " + "[" * 3000 + "]" * 3000 + " }}", learned=False) as subject:
        judged = run.run(subject)
    assert [finding.rule for finding in judged.findings] == ["unbounded-work"]
    assert ("role-support", "a question alone hits a bound") in judged.unevaluated


def test_error_a_cause_of_what_was_never_rendered_is_no_finding(rules: list[Rule]) -> None:
    def of_both(subject: Subject) -> Iterator[Cause]:
        yield replace(cause("seen"), sights=(Sight(subject.see("roles/user")),))
        yield replace(cause("unseen"), sights=(Sight(subject.see("content/markup")),))

    rules.append(rule_of(of_both))
    endless = "{% for a in range(99999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}"
    with subject_of(f"{{% if messages | length > 1 %}}{endless}{{% endif %}}x", learned=False) as subject:
        for probe in ("roles/system-user", "roles/user-assistant-user", "roles/two-users"):
            subject.see(probe)
        judged = run.run(subject)
    assert [one.message for one in judged.findings if one.code == "CT999"] == ["seen!"]
    assert judged.unevaluated[-1][0] == "made-up-ct999"
    assert judged.unevaluated[-1][1].startswith("not rendered: earlier cases hit a bound")


def test_error_names_that_are_no_text_have_fingerprints(rules: list[Rule]) -> None:
    rules[:] = [rule_of(lambda subject: iter([cause("loud")]))]
    with subject_of(GOOD) as subject:
        subject.template = replace(subject.template, name="\udcff")
        assert run.run(subject).findings[0].fingerprint


def test_fingerprints_survive_moved_lines_and_reworded_messages(rules: list[Rule]) -> None:
    one = found(rules, cause("a", line=3)).findings[0]
    two = found(rules, cause("a", line=9, message="said otherwise"), source="\n\n" + GOOD).findings[0]
    assert one.fingerprint == two.fingerprint
    assert one.location != two.location


def test_fingerprints_tell_causes_apart(rules: list[Rule]) -> None:
    findings = found(rules, cause("a", line=1), cause("b", line=1), cause("a", line=2)).findings
    assert len({one.fingerprint for one in findings}) == 3


def test_locations_are_places_in_the_file(rules: list[Rule]) -> None:
    text = '{\n  "chat_template": "a\\n{{ x }}"\n}'
    place = json_place("tokenizer_config.json", "/chat_template", text, text.index('"a'))
    rules.append(rule_of(lambda subject: iter([cause("x", line=2, column=4)])))
    with subject_of("a\n{{ x }}") as subject:
        subject.template = replace(subject.template, place=place)
        location = run.run(subject).findings[0].location
    assert (location.file, location.line) == ("tokenizer_config.json", 2)
    assert text.splitlines()[1][location.column - 1] == "x"


def test_a_place_of_its_own_is_the_cause_s(rules: list[Rule]) -> None:
    assert found(rules, cause("x", line=7)).findings[0].location.line == 7
    assert found(rules, cause("x")).findings[0].location == Location("chat_template.jinja")


def test_written_at_is_what_wrote_the_place_or_came_before_it() -> None:
    prompt = Prompt(
        "<a>hi<b>",
        (
            Span(0, 3, Literal(1, 5)),
            Span(3, 5, Input("/messages/0/content", 0)),
            Span(5, 8, Literal(2, 1)),
        ),
    )
    assert [written_at(prompt, place) for place in (0, 2, 3, 4, 5, 7)] == [(1, 5)] * 4 + [(2, 1)] * 2


def test_evidence_is_the_smallest_case_and_marks_the_place(rules: list[Rule]) -> None:
    def seen(subject: Subject) -> Iterator[Cause]:
        large, small = subject.see("roles/user-assistant-user"), subject.see("roles/user")
        sights = tuple(
            Sight(one, one.text.index("Walnut"), one.text.index("Walnut") + 6) for one in (large, small)
        )
        yield cause("x", sights=sights)

    rules.append(rule_of(seen))
    with subject_of(GOOD) as subject:
        finding = run.run(subject).findings[0]
    assert finding.cases == ("roles/user", "roles/user-assistant-user")
    evidence = finding.evidence[0]
    assert evidence.text[evidence.start : evidence.end] == "Walnut"
    assert finding.hosts[0] == "transformers-5.24"


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("message 1 is nowhere up to here", "the prompt is empty: message 1 is nowhere"),
        ("", "the prompt is empty"),
    ],
)
def test_an_empty_prompt_has_no_place_to_point_at(rules: list[Rule], note: str, shown: str) -> None:
    def seen(subject: Subject) -> Iterator[Cause]:
        yield replace(cause("nothing"), sights=(at_end(subject.trace.see("roles/user"), note),))

    rules.append(rule_of(seen))
    with subject_of("{% set a = 1 %}") as subject:
        (finding,) = run.run(subject).findings
    assert [(one.text, one.note) for one in finding.evidence] == [("", shown)]


def test_sights_of_one_cause_are_gathered_once_per_case() -> None:
    with subject_of(GOOD) as subject:
        small, large = Sight(subject.see("roles/user")), Sight(subject.see("roles/user-assistant"))
    gathering = Gathering()
    assert not gathering
    for sight in (large, small, large):
        gathering.add("cause", sight)
    assert list(gathering) == [("cause", (small, large))]
    assert smallest_first([large, large]) == (large,)


def test_equal_failures_have_equal_keys() -> None:
    def key(message: str, line: int = 3) -> str:
        return failure_key(RenderFailure(FailureKind.FAULT, "TypeError", message, line))

    assert key("'a' has 3") == key("'b' has 4")
    assert key("'a' has 3") != key("'a' lacks 3")
    assert key("x") != key("x", 4)


@pytest.mark.parametrize(
    ("select", "ignore", "names"),
    [
        ((), (), ["a", "b"]),
        (("CT1",), (), ["a"]),
        (("CT1", "b"), (), ["a", "b"]),
        ((), ("CT1",), ["b"]),
        (("CT",), ("CT2",), ["a"]),
        (("b",), ("CT2",), ["b"]),
        (("CT2",), ("b",), []),
        (("CT",), ("CT",), []),
    ],
)
def test_selection(
    rules: list[Rule], select: tuple[str, ...], ignore: tuple[str, ...], names: list[str]
) -> None:
    rules += [
        replace(rule_of(lambda subject: iter(()), f"CT{n}01"), name=name) for n, name in ((1, "a"), (2, "b"))
    ]
    assert [rule.name for rule in Selection(select, ignore).rules()] == names


def test_error_a_selection_that_fits_no_rule_is_refused() -> None:
    with pytest.raises(UsageError, match="parallel-cals") as caught:
        Selection(select=("parallel-cals",)).rules()
    assert "parallel-calls" in caught.value.hint


def test_error_an_unknown_rule_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        find_rule("sintax")
    assert "syntax" in caught.value.hint
    assert find_rule("ct101") is find_rule("syntax")


def test_severities_are_those_of_the_profile(rules: list[Rule]) -> None:
    """What a cause says of a profile goes before what its rule does, that before the cause's severity."""
    causes = [
        cause("plain"),
        replace(cause("light"), severity=Severity.INFO),
        replace(cause("own"), severity=Severity.INFO, profiles={"training": Severity.INFO}),
    ]
    heavier = {Profile.TRAINING: Severity.WARNING}
    rules.append(replace(rule_of(lambda subject: iter(causes)), name="a", profiles=heavier))
    with subject_of(GOOD) as subject:
        findings = run.run(subject).findings

    def severities(profile: Profile, chosen: dict[str, Severity]) -> list[str]:
        return [one.severity for one in weighed(findings, profile, chosen)]

    assert severities(Profile.SERVING, {}) == ["error", "info", "info"]
    assert severities(Profile.TRAINING, {}) == ["warning", "warning", "info"]
    assert severities(Profile.SECURITY, {}) == ["error", "info", "info"]
    assert severities(Profile.TRAINING, {"a": Severity.ERROR}) == ["error"] * 3
    assert severities(Profile.TRAINING, {"b": Severity.ERROR}) == ["warning", "warning", "info"]


def test_error_a_profile_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="trainig"):
        rule("CT999", severity=Severity.INFO, profiles={"trainig": Severity.ERROR})


def test_a_page_has_sections_and_examples() -> None:
    page = read_page(
        "Sum.\n\n## What it does\nThis.\n\n## Example\n```jinja bad\n{{ x }}\n```\n```json f\n{}\n```\n"
    )
    assert page.summary == "Sum."
    assert page.section("What it does") == "This."
    assert page.example("bad") == "{{ x }}\n"
    assert [(one.language, one.name) for one in page.examples] == [("jinja", "bad"), ("json", "f")]
    with pytest.raises(KeyError):
        page.example("good")


def test_places_of_templates_in_their_own_file_are_kept() -> None:
    with subject_of(GOOD) as subject:
        subject.template = replace(subject.template, place=TemplatePlace("x.jinja"))
        assert (subject.locate(3, 4).line, subject.locate(3, 4).column) == (3, 4)
        assert (subject.locate(3).line, subject.locate(3).column) == (3, 0)


def test_a_rule_that_finds_without_end_is_cut_off_and_that_is_said(rules: list[Rule]) -> None:
    def endless(subject: Subject) -> Iterator[Cause]:
        while True:
            yield cause("again")

    rules.append(rule_of(endless))
    with subject_of(GOOD) as subject:
        judged = run.run(subject)
    assert len(judged.findings) == RULE_CAUSES
    assert judged.unevaluated == (
        ("made-up-ct999", f"what it found beyond {RULE_CAUSES} findings is left out"),
    )


def test_a_finding_is_no_longer_than_a_person_reads(tmp_path) -> None:
    template = tmp_path / "t.jinja"
    template.write_text(
        "{{ strftime_now('%c' * 10000) }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    found = chatlint.check(template, cache=False).targets[0].templates[0].findings
    assert any(finding.rule == "clock" for finding in found)
    for finding in found:
        texts = [finding.message, finding.fix, *(shown.text for shown in finding.evidence)]
        assert max(map(len, texts)) < 3 * FINDING_CHARACTERS
        assert all(shown.start <= shown.end <= len(shown.text) for shown in finding.evidence)
