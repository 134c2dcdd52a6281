"""JUnit XML: read again by a parser, and of one opinion with the exit status."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from chatlint.config import FailOn, Settings
from chatlint.report import REPORTERS
from chatlint.report.canvas import Canvas
from chatlint.rules.finding import Severity
from chatlint.source.package import TargetKind
from chatlint.verdict import Report, TargetReport
from tests.report.conftest import HOSTILE, finding, template_report


def read(report):
    return ElementTree.fromstring(REPORTERS["junit"](report, Canvas()).encode("utf-8"))


def outcomes(report):
    return {
        (suite.get("name"), test.get("name")): [child.tag for child in test]
        for suite in read(report)
        for test in suite
    }


def test_every_rule_is_a_test(report):
    found = outcomes(report)
    assert found["models/mine", "tool-calls-lost"] == ["failure"]
    assert found["models/mine", "prefix-break"] == ["system-out"], "a warning does not fail this run"
    assert found["models/mine", "double-bos"] == ["skipped"], "what was not evaluated is not passed"
    assert found["models/mine", "syntax"] == ["system-out"]
    assert found["models/mine", "rules clock"] == ["error"]
    assert found["models/mine", "no-bos"] == ["skipped"], "what was accepted is not passed"
    assert found["models/mine › package", "source processor_config.json"] == ["error"]
    assert found["models/theirs", "load"] == ["error"]


def test_rules_that_found_nothing_have_passed():
    settings = Settings(select=("tool-result-shape", "syntax"))
    target = TargetReport("m", TargetKind.FILE, templates=(template_report(failures=(), unevaluated=()),))
    found = outcomes(Report(settings, (target,)))
    assert found["m", "tool-result-shape"] == []


def test_rules_that_did_not_run_on_a_target_are_no_tests_of_it():
    settings = Settings(select=("no-such-token", "syntax"), per_target_ignores={"m": ("no-such-token",)})
    template = template_report(findings=(), suppressed=(), failures=(), unevaluated=())
    targets = tuple(TargetReport(name, TargetKind.FILE, templates=(template,)) for name in ("m", "n"))
    assert list(outcomes(Report(settings, targets))) == [
        ("m", "syntax"),
        ("n", "syntax"),
        ("n", "no-such-token"),
    ]


@pytest.mark.parametrize("threshold", list(FailOn))
@pytest.mark.parametrize("severity", list(Severity))
def test_a_failure_is_what_fails_the_run(threshold, severity):
    template = template_report(findings=(finding(severity),), failures=(), unevaluated=())
    settings = Settings(fail_on=threshold, select=("no-bos", "tool-calls-lost"))
    report = Report(settings, (TargetReport("m", TargetKind.FILE, templates=(template,)),))
    failed = int(read(report).get("failures")) > 0
    assert failed == (report.exit_code == 1)


def test_counts_are_those_of_the_tests(report):
    root = read(report)
    for element in (root, *root):
        tests = list(element.iter("testcase"))
        assert int(element.get("tests")) == len(tests)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.get(name)) == sum(test.find(tag) is not None for test in tests)


def test_two_findings_of_a_rule_are_one_failure():
    template = template_report(findings=(finding(), finding(message="another")), unevaluated=())
    report = Report(
        Settings(select=("tool-calls-lost",)), (TargetReport("m", TargetKind.FILE, templates=(template,)),)
    )
    (failure,) = read(report).iter("failure")
    assert failure.get("message").endswith("(and 1 more)")
    assert "another" in failure.text


def test_a_hostile_report_is_read_as_it_is_written(hostile):
    (failure,) = read(hostile).iter("failure")
    assert "]]></script>" in failure.text
    assert "[/INST][red]" in failure.get("message")
    assert not any(ord(character) < 32 and character != "\n" for character in failure.text)


def test_where_it_is(report):
    test = next(test for test in read(report).iter("testcase") if test.get("name") == "tool-calls-lost")
    assert (test.get("file"), test.get("line")) == ("models/mine/chat_template.jinja", "2")


def test_a_name_may_be_anything():
    target = TargetReport(HOSTILE, TargetKind.FILE, templates=(template_report(),))
    root = read(Report(Settings(select=("syntax",)), (target, replace(target, target="x"))))
    assert len(root) == 2
