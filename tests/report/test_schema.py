"""The published schema fits what is written, and names every member of it."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

import chatlint
from chatlint.report import REPORTERS
from chatlint.report.canvas import Canvas
from tests.conftest import ROOT

SCHEMA = json.loads((ROOT / "chatlint" / "report" / "report.schema.json").read_text(encoding="utf-8"))


def closed(schema):
    """The schema with every object closed: then a member that it does not name is an error."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    shut = {name: closed(value) for name, value in schema.items()}
    if "properties" in schema:
        shut.setdefault("additionalProperties", False)
    return shut


def complaints(report):
    written = json.loads(REPORTERS["json"](report, Canvas()))
    return [error.message for error in Draft202012Validator(closed(SCHEMA)).iter_errors(written)]


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


def test_the_fixed_report_fits(report):
    assert complaints(report) == []


def test_the_hostile_report_fits_too(hostile):
    assert complaints(hostile) == []


@pytest.mark.parametrize("name", ["no/such/target", "corpus:chatml"])
def test_real_reports_fit(name):
    assert complaints(chatlint.check(name, cache=False)) == []


def test_a_member_that_is_missing_or_wrong_does_not_fit(report):
    written = json.loads(REPORTERS["json"](report, Canvas()))
    validator = Draft202012Validator(SCHEMA)
    written["targets"][0]["templates"][0]["findings"][0]["severity"] = "fatal"
    del written["summary"]["errors"]
    assert len(list(validator.iter_errors(written))) == 2


def test_more_members_do_fit(report):
    written = json.loads(REPORTERS["json"](report, Canvas()))
    written["targets"][0]["later"] = 1
    assert Draft202012Validator(SCHEMA).is_valid(written)
