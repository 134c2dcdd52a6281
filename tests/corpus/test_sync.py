"""Real models held against the facts listed for them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from chatlint import corpus
from chatlint.config import Settings
from chatlint.corpus import Model, SyncState, models, sync
from chatlint.errors import TargetError, UsageError
from chatlint.source.load import load


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Ids of models that are there, and the templates that they have."""
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))
    there = {}

    def read(target, settings, say):
        if target not in there:
            raise TargetError(f"{target} is not on the Hub")
        say(f"reading {target}")
        return there[target]

    monkeypatch.setattr(corpus, "read_target", read)
    return there


FACTS = {
    "supports_tools": True,
    "supports_parallel_tool_calls": True,
    "generation_prompt": "<|im_start|>assistant\n",
    "call": '<tool_call>\n{"name": "',
}


def model(**changes):
    sha256 = load("corpus:qwen3").templates[0].sha256
    return replace(Model("org/model", "qwen3", sha256, FACTS), **changes)


def state(wanted):
    (one,) = sync([wanted], Settings())
    return one


def test_facts_that_hold(hub):
    hub["org/model"] = load("corpus:qwen3")
    assert state(model()).state is SyncState.SAME
    assert state(model(sha256=None)).state is SyncState.SAME
    assert state(model(sha256="0" * 64)).state is SyncState.EDITED
    unlisted = state(model(sha256=None, facts={}))
    assert unlisted.state is SyncState.UNLISTED
    assert {name: unlisted.found[name] for name in FACTS if name != "call"} == {
        name: fact for name, fact in FACTS.items() if name != "call"
    }


def test_facts_that_do_not(hub):
    hub["org/model"] = load("corpus:llama-3")
    found = state(model())
    assert found.state is SyncState.DIFFERS
    assert {name for name, _, _ in found.differences} == {
        "supports_parallel_tool_calls",
        "generation_prompt",
        "call",
    }


def test_a_model_that_is_not_there(hub):
    found = state(model())
    assert (found.state, found.reason) == (SyncState.NOT_READ, "org/model is not on the Hub")


def test_models_by_name():
    assert len(models()) >= 40
    assert {one.entry for one in models(["qwen3"])} == {"qwen3"}
    assert [one.id for one in models(["Qwen/Qwen3-0.6B"])] == ["Qwen/Qwen3-0.6B"]
    with pytest.raises(UsageError, match=r"is not in models\.json"):
        models(["Qwen/Qwen3-0.6C"])


def test_the_command(chatlint, hub, monkeypatch):
    hub["Qwen/Qwen3-0.6B"] = load("corpus:qwen3")
    done = chatlint("corpus", "sync", "Qwen/Qwen3-0.6B", "--format", "json")
    (one,) = json.loads(done.out)
    assert (done.status, one["state"], one["differences"]) == (0, "edited", [])
    hub["Qwen/Qwen3-0.6B"] = load("corpus:llama-3")
    done = chatlint("corpus", "sync", "Qwen/Qwen3-0.6B")
    assert done.status == 1
    assert "differs" in done.out
    done = chatlint("corpus", "sync", "llama-3")
    assert done.status == 3
    assert "is not on the Hub" in " ".join(done.out.split())
    assert chatlint("corpus", "sync", "nothing").status == 2


def test_the_facts_hold_on_the_real_templates(shared, tmp_path, monkeypatch):
    """What `sync` would find, for the models whose templates are at hand."""
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))
    wanted = [one for one in models() if one.sha256][::4]
    places = {one.id: shared / "templates" / f"{one.sha256[:12]}.jinja" for one in wanted}
    monkeypatch.setattr(corpus, "read_target", lambda target, settings, say: load(str(places[target])))
    assert {one.model.id: one.differences for one in sync(wanted, Settings())} == {
        one.id: () for one in wanted
    }
