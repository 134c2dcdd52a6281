"""The reports of a survey: a file for each target, and none that is somebody else's or an earlier survey's."""

from __future__ import annotations

import json

import pytest

from chatlint.config import Settings
from chatlint.errors import UsageError
from chatlint.survey.reports import Reports
from chatlint.survey.targets import Named

from .conftest import CHATTY


@pytest.fixture
def target(tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text(CHATTY)
    return str(path)


@pytest.fixture
def report(tmp_path, target):
    """`report("a", "b")` writes reports of targets with these names; gives the names of them by file."""
    folder = tmp_path / "reports"

    def report(*names):
        reports = Reports(folder, [Named(target, name) for name in names])
        reports.write(Settings(select=("syntax",)))
        reports.tidy()
        return {path.name: _named(path) for path in sorted(folder.iterdir())} if folder.exists() else {}

    return report


def _named(path):
    content = json.loads(path.read_text())
    assert content["schema"] == "chatlint.report/1"
    return content["targets"][0]["target"]


def test_a_report_of_each_target(report):
    assert report("corpus:chatml", "../a b", "a/b", "A/B", "a_b-2", "a-b") == {
        "A_B-3.json": "A/B",
        "a-b.json": "a-b",
        "a_b-2-2.json": "a_b-2",
        "a_b-2.json": "a/b",
        "a_b.json": "../a b",
        "chatml.json": "corpus:chatml",
    }


def test_a_target_that_cannot_be_loaded_has_a_report_too(tmp_path):
    Reports(tmp_path / "reports", [Named("corpus:nothing", "x")]).write(Settings())
    (path,) = (tmp_path / "reports").iterdir()
    assert json.loads(path.read_text())["targets"][0]["status"] == "failed"


def test_long_and_empty_names_have_files(report):
    long = "x/" * 1_000
    found = report(long, long + "y", "ü" * 300, "...", "é", "short")
    assert sorted(found.values()) == sorted((long, long + "y", "ü" * 300, "...", "é", "short"))
    assert max(len(name.encode()) for name in found) <= 255 - len(".tmp")
    assert min(len(name) for name in found) > len(".json")
    assert {report(long).popitem()} <= found.items()


def test_reports_of_an_earlier_survey_are_removed_and_nothing_else(report, tmp_path):
    long = "y" * 400
    assert len(report("a", "b", "b ", long)) == 4
    others = {
        "mine.json": json.dumps(
            {"schema": "chatlint.report/1", "targets": [{"target": "t.jinja"}]}, indent=2
        ),
        "two.json": json.dumps(
            {"schema": "chatlint.report/1", "targets": [{"target": "two"}, {"target": "b"}]}, indent=2
        ),
        "no.json": "[1]",
        "torn.json": '{\n  "schema": "chatlint.report/1", "targ',
        "a.txt": "",
    }
    for name, text in others.items():
        (tmp_path / "reports" / name).write_text(text)
    reports = Reports(tmp_path / "reports", [Named("corpus:chatml", "a")])
    reports.write(Settings(select=("syntax",)))
    assert reports.tidy() == 3
    assert {path.name for path in (tmp_path / "reports").iterdir()} == {"a.json", *others}
    for name, text in others.items():
        assert (tmp_path / "reports" / name).read_text() == text


def test_a_survey_without_reports_leaves_none(report, tmp_path):
    report("a", "b")
    assert report() == {}
    assert not (tmp_path / "reports").exists()
    assert Reports(tmp_path / "reports", ()).tidy() == 0


def test_error_for_a_report_that_no_survey_wrote(tmp_path, target):
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "a.json").write_text("{}")
    with pytest.raises(UsageError, match=r"a\.json was not written by a survey"):
        Reports(tmp_path / "reports", [Named(target, "a")])


def test_error_where_no_folder_can_be_made(tmp_path, target):
    (tmp_path / "reports").write_text("")
    with pytest.raises(UsageError, match="cannot be made"):
        Reports(tmp_path / "reports", [Named(target, "a")]).write(Settings())
