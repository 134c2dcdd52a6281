"""The commands that list things."""

from __future__ import annotations

import json

from chatlint.rules.catalogue import all_rules, rule_named
from chatlint.source.bundled import corpus_names


def test_rules(chatlint):
    done = chatlint("rules")
    listed = [line.split()[2] for line in done.out.splitlines() if line.startswith("  CT")]
    assert listed == [rule.name for rule in all_rules()]
    as_json = json.loads(chatlint("rules", "--format", "json").out)
    assert [one["code"] for one in as_json] == [rule.code for rule in all_rules()]


def test_a_rule_is_found_by_its_name_alone():
    assert [rule_named(rule.name) for rule in all_rules()] == list(all_rules())
    assert [rule_named(name) for name in ("no-such-rule", "", "..", "a b", "CT401", "__init__")] == [None] * 6


def test_every_rule_has_a_page(chatlint):
    for rule in all_rules():
        page = chatlint("rule", rule.name)
        assert page.status == 0
        assert "What it does" in page.out
    assert chatlint("rule", all_rules()[0].code).out == chatlint("rule", all_rules()[0].name).out


def test_probes(chatlint):
    as_json = json.loads(chatlint("probes", "--format", "json").out)
    assert len(as_json) >= 60
    assert {one["id"] for one in as_json} >= {"roles/user", "calls/one"}
    narrowed = chatlint("probes", "calls/one").out
    assert 0 < len(narrowed.splitlines()) < 20
    done = chatlint("probes", "rolez")
    assert (done.status, done.out) == (2, "")
    assert "no probe's id or title holds 'rolez'" in done.err
    assert "did you mean roles" in done.err


def test_corpus(chatlint):
    listed = [
        line.split()[0] for line in chatlint("corpus", "list").out.splitlines() if not line.startswith(" ")
    ]
    assert listed == list(corpus_names())
    as_json = json.loads(chatlint("corpus", "list", "--format", "json").out)
    assert all(len(entry["title"]) > 5 for entry in as_json)
    assert "messages" in chatlint("corpus", "show", "chatml").out
    assert chatlint("corpus", "show", "chatm").status == 3


def test_help_is_shown_for_nothing(chatlint):
    done = chatlint()
    assert "check" in done.out + done.err
    assert "Usage:" in done.out + done.err


def test_version(chatlint):
    assert chatlint("--version").out == "chatlint 0.1.0\n"
