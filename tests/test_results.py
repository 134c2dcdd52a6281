"""Results that are kept: the same as fresh ones, found by everything they depend on, and by nothing else."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from dataclasses import replace

import pytest

from chatlint import results
from chatlint.config import Settings
from chatlint.pipeline import check_target, judge
from chatlint.results import question
from chatlint.rules.finding import Finding, Location
from chatlint.rules.run import run
from chatlint.source.bundled import corpus_names
from chatlint.source.load import load
from chatlint.source.package import AddedToken, Failure, PackageFile, Template, TemplatePlace
from chatlint.store import Store

CHATTY = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
"""It has findings: no generation prompt, content that must be text."""


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))
    return Store()


@pytest.fixture
def counted(monkeypatch):
    """How often a template was really examined."""
    from chatlint import pipeline

    seen = []
    real = pipeline.examine
    monkeypatch.setattr(pipeline, "examine", lambda *args: seen.append(args) or real(*args))
    return seen


def facts(target, **settings):
    return json.dumps(check_target(str(target), Settings(**settings)).to_dict())


def results_kept(store):
    return store.rooms().get("results", (0, 0))[0]


@pytest.mark.parametrize("name", corpus_names()[::5])
def test_what_was_kept_is_what_a_fresh_run_says(name, counted):
    target = f"corpus:{name}"
    fresh, first, kept = facts(target, cache=False), facts(target), facts(target)
    assert fresh.replace('"cache": false', '"cache": true') == first == kept
    templates = len(json.loads(fresh)["templates"])
    assert len(counted) == 2 * templates


def test_a_result_serves_every_profile(counted):
    def severities(profile):
        report = check_target("corpus:qwen3", Settings(profile=profile)).templates[0]
        return {one.rule: one.severity for one in report.findings}

    serving, training = severities("serving"), severities("training")
    assert len(counted) == 1
    assert serving["prefix-break"] == "info"
    assert training["prefix-break"] == "warning"


def test_a_template_in_another_file_is_the_same_question_elsewhere(tmp_path, counted):
    (tmp_path / "a.jinja").write_text(CHATTY)
    for name, indent in (("one", 0), ("two", 2)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": CHATTY}, indent=indent))
    folders = [tmp_path / "one", tmp_path / "two"]
    kept = [facts(folder) for folder in folders]
    assert len(counted) == 1
    assert kept == [facts(folder, cache=False) for folder in folders]
    places = [[one["location"] for one in json.loads(text)["templates"][0]["findings"]] for text in kept]
    assert places[0]
    assert places[0] != places[1]


def test_a_path_of_its_own_is_no_other_question(tmp_path, counted):
    for name in ("a.jinja", "b.jinja"):
        (tmp_path / name).write_text(CHATTY)
    a, b = facts(tmp_path / "a.jinja"), facts(tmp_path / "b.jinja")
    assert len(counted) == 1
    assert a.replace("a.jinja", "b.jinja") == b


PACKAGE = replace(load("corpus:qwen3"), files=(PackageFile("tokenizer_config.json", "0" * 64, 9),))
TEMPLATE = PACKAGE.templates[0]
TOKENIZER = PACKAGE.tokenizer

CHANGES = {
    "text": lambda: question(replace(TEMPLATE, text=TEMPLATE.text + " ", sha256="1"), PACKAGE, Settings()),
    "special tokens": lambda: question(
        replace(TEMPLATE, special_tokens={"bos_token": "<x>"}), PACKAGE, Settings()
    ),
    "tokens assumed": lambda: question(replace(TEMPLATE, special_tokens_assumed=True), PACKAGE, Settings()),
    "name": lambda: question(replace(TEMPLATE, name="tool_use"), PACKAGE, Settings()),
    "bos": lambda: asked(tokenizer=replace(TOKENIZER, adds_bos=None if TOKENIZER.adds_bos else True)),
    "added tokens": lambda: asked(tokenizer=replace(TOKENIZER, added_tokens=(AddedToken(1, "<x>", True),))),
    "a token's kind": lambda: asked(
        tokenizer=replace(TOKENIZER, added_tokens=(AddedToken(1, "<x>", False),))
    ),
    "stops": lambda: asked(generation=replace(PACKAGE.generation, eos_ids={"generation_config.json": (7,)})),
    "files": lambda: asked(files=(PackageFile("config.json", "", 0),)),
    "failures": lambda: asked(failures=(Failure("source", "config.json", "broken"),)),
    "copies": lambda: asked(copies=(Template("default", "x", "y", TemplatePlace("f")),)),
    "file": lambda: question(
        replace(TEMPLATE, place=TemplatePlace("tokenizer_config.json")), PACKAGE, Settings()
    ),
    "host": lambda: question(TEMPLATE, PACKAGE, Settings(host="transformers-4.57")),
    "rules": lambda: question(TEMPLATE, PACKAGE, Settings(select=("CT4",))),
    "no rules": lambda: question(TEMPLATE, PACKAGE, Settings(ignore=("CT4",))),
    "worker": lambda: question(TEMPLATE, PACKAGE, Settings(untrusted=True)),
}


def asked(**changes):
    return question(TEMPLATE, replace(PACKAGE, **changes), Settings())


def test_everything_that_matters_makes_another_key():
    keys = {"": question(TEMPLATE, PACKAGE, Settings()).key} | {
        name: made().key for name, made in CHANGES.items()
    }
    assert len(set(keys.values())) == len(keys)


@pytest.mark.parametrize(
    "other",
    [
        lambda: question(
            replace(TEMPLATE, place=replace(TEMPLATE.place, line_starts=((3, 4),))), PACKAGE, Settings()
        ),
        lambda: asked(target=replace(PACKAGE.target, locator="elsewhere", revision="main")),
        lambda: asked(files=(PackageFile("tokenizer_config.json", "1" * 64, 10),)),
        lambda: asked(notes=("from commit 1",)),
        lambda: question(TEMPLATE, PACKAGE, Settings(fail_on="never", offline=True, cache=False)),
    ],
    ids=["place", "target", "bytes of a file", "notes", "ways"],
)
def test_nothing_else_does(other):
    assert other().key == question(TEMPLATE, PACKAGE, Settings()).key


def test_the_rules_see_no_more_than_the_key_holds(monkeypatch):
    """Where they could see a path, a result would depend on it."""
    seen = []
    monkeypatch.setattr(
        "chatlint.rules.run.run", lambda subject, how: seen.append(subject) or run(subject, how)
    )

    judge(TEMPLATE, PACKAGE, Settings(cache=False, fail_on="never"))
    (subject,) = seen
    assert subject.package.target.locator == ""
    assert subject.template.place == TemplatePlace("chat_template.jinja")
    assert [file.sha256 for file in subject.package.files] == [""]
    assert subject.settings == Settings()


def test_other_code_makes_another_key(monkeypatch):
    before = question(TEMPLATE, PACKAGE, Settings()).key
    monkeypatch.setattr(results, "code_digest", lambda: "other")
    assert question(TEMPLATE, PACKAGE, Settings()).key != before


def test_without_the_cache_nothing_is_read_or_written(store, counted):
    facts("corpus:chatml")
    kept = store.rooms()
    facts("corpus:chatml", cache=False)
    facts("corpus:qwen3", cache=False)
    assert len(counted) == 3
    assert store.rooms() == kept


@pytest.mark.parametrize("content", [b"", b"\x80\x05.", b"cos\nnothing\n.", b"\x80\x05K\x01."])
def test_an_entry_that_is_no_result_is_made_anew(content, store, counted):
    package = load("corpus:chatml")
    key = question(package.templates[0], package, Settings()).key
    store.write("results", key, content)
    facts("corpus:chatml")
    assert len(counted) == 1
    facts("corpus:chatml")
    assert len(counted) == 1


def test_a_fault_of_ours_is_not_kept(store, monkeypatch):
    def broken(*_):
        raise RuntimeError("a bug of ours")

    with monkeypatch.context() as patched:
        patched.setattr("chatlint.infer.learn.learn", broken)
        assert "a bug of ours" in facts("corpus:chatml")
    assert results_kept(store) == 0
    assert "a bug of ours" not in facts("corpus:chatml")
    assert results_kept(store) == 1


def test_what_a_clock_decided_is_not_kept(store, tmp_path, monkeypatch):
    slow = tmp_path / "slow.jinja"
    slow.write_text(
        "{% set xs = range(900) | list %}{% for x in range(90000) %}{% if 901 in xs %}{% endif %}{% endfor %}"
    )
    monkeypatch.setattr("chatlint.render.guard.RENDER_SECONDS", 0.01)
    assert "seconds of CPU time" in facts(slow)
    assert results_kept(store) == 0


def test_findings_point_at_the_file_that_is_judged():
    place = TemplatePlace(
        "tokenizer_config.json", "/chat_template", ((2, 20), (2, 31)), "first line\\nsecond line"
    )
    finding = Finding("r", "CT1", "error", "high", "m", "c", Location("", 2, 3))
    assert results._location(finding, place) == Location("tokenizer_config.json", 2, 34 - 1)
    assert results._location(replace(finding, location=Location("")), place) == Location(place.file)


def _judge_for_ever(root, target):
    os.environ["CHATLINT_CACHE_DIR"] = root
    while True:
        facts(target)
        Store().clear()


def test_many_at_once_and_killed_leave_only_good_results(store, tmp_path):
    """Processes that judge, clear and are killed at any moment: whoever looks sees a whole result or none."""
    expected = facts("corpus:chatml", cache=False).replace('"cache": false', '"cache": true')
    fork = multiprocessing.get_context("spawn")
    workers = [
        fork.Process(target=_judge_for_ever, args=(str(store.root), "corpus:chatml")) for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    deadline = time.monotonic() + 4
    while time.monotonic() < deadline:
        assert facts("corpus:chatml") == expected
    for worker in workers:
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
    assert facts("corpus:chatml") == expected
