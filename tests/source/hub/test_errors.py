"""Whatever is wrong at the Hub: one line, what to do about it, and no silent minutes."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from chatlint.errors import TargetError, UsageError
from chatlint.source import hub_client, hub_stream
from chatlint.source.hub_client import HubClient
from tests.source.hub.conftest import model_files

_http = pytest.importorskip("huggingface_hub.utils._http")


@pytest.fixture
def impatient(monkeypatch):
    """Waiting is measured in seconds, not in tens of them."""
    for module in (hub_client, hub_stream):
        monkeypatch.setattr(module, "HUB_WAIT_SECONDS", 0.6)
    monkeypatch.setattr(hub_client, "HUB_SECONDS", 1.5)


def refused(load, target="org/model", **options):
    with pytest.raises(TargetError) as raised:
        load(target, **options)
    error = raised.value
    assert "\n" not in error.message + error.hint
    assert error.hint
    assert "http" not in error.message
    return f"{error.message} | {error.hint}"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("org/mo--del", "cannot be the id"),
        ("org/model.git", "cannot be the id"),
        ("org/" + "x" * 97, "cannot be the id"),
        ("org/model@../../etc", "cannot be a revision"),
    ],
)
def test_what_can_be_no_id(hub, load, target, said):
    assert said in refused(load, target)
    assert hub.log == []


def test_paths_are_no_ids(load):
    for target in ("a/b/c", "./org/model", "org/model.jinja"):
        with pytest.raises(TargetError, match="there is no file or directory"):
            load(target)


def test_two_revisions(load):
    with pytest.raises(UsageError, match="two revisions"):
        load("org/model@v1", revision="v2")


def test_not_found(hub, load, monkeypatch):
    assert "org/model does not exist on the Hub, or is private | check the spelling" in refused(load)
    hub.tokens.add("hf_good")
    monkeypatch.setenv("HF_TOKEN", "hf_good")
    assert "or the token's account may not see it" in refused(load)


def test_private(hub, load, monkeypatch):
    hub.add("org/model", model_files(), private=True, readers=frozenset({"hf_reader"}))
    assert "log in with `hf auth login`" in refused(load)
    hub.tokens |= {"hf_reader"}
    monkeypatch.setenv("HF_TOKEN", "hf_reader")
    assert load("org/model").templates


def test_gated(hub, load, monkeypatch):
    hub.add("org/model", model_files(), gated="manual", readers=frozenset({"hf_reader"}))
    assert "org/model is gated | accept the terms on its page, then log in" in refused(load)
    hub.tokens |= {"hf_other", "hf_reader"}
    monkeypatch.setenv("HF_TOKEN", "hf_other")
    assert "gated, and the token's account has no access" in refused(load)
    monkeypatch.setenv("HF_TOKEN", "hf_reader")
    assert load("org/model").templates


def test_gated_but_shown(hub, load):
    """The page of a gated model shows its template and named tokens: better than nothing, and said."""
    config = {
        "tokenizer_config": {"bos_token": "<s>", "eos_token": "<e>"},
        "chat_template_jinja": "{{ bos_token }}x",
    }
    hub.add("org/model", model_files(), gated="manual", info={"config": config})
    package = load("org/model")
    assert package.template().text == "{{ bos_token }}x"
    assert package.template().special_tokens["eos_token"] == "<e>"
    assert "is gated: this is the template that its page shows" in package.notes[0]
    assert {failure.subject for failure in package.failures} >= {
        "tokenizer_config.json",
        "generation_config.json",
    }
    assert package.tokenizer.adds_bos is None
    assert not package.generation.complete


def test_bad_token(hub, load, monkeypatch):
    hub.add("org/model", model_files())
    monkeypatch.setenv("HF_TOKEN", "hf_old")
    said = refused(load)
    assert "the Hub does not accept the token | it is wrong or expired" in said
    assert "hf_old" not in said


def test_a_token_that_cannot_be_sent(hub, load, monkeypatch):
    hub.add("org/model", model_files())
    monkeypatch.setenv("HF_TOKEN", "hf_gеheim")  # its second letter is not an e
    said = refused(load)
    assert "HF_TOKEN holds signs that no token has" in said
    assert "heim" not in said


def test_disabled(hub, load):
    hub.add("org/model", model_files(), disabled=True)
    assert "org/model is disabled on the Hub" in refused(load)


def test_no_such_revision(hub, load):
    hub.add("org/model", model_files())
    assert "org/model has no revision v9" in refused(load, "org/model@v9")


def test_no_such_file(hub, load):
    hub.add("org/model", model_files())
    assert "no GGUF Q4_K_M in the repository | it holds no GGUF" in refused(load, "org/model:Q4_K_M")
    assert "other.jinja is not in" in refused(load, "org/model:other.jinja")


def test_a_file_that_is_listed_and_not_there(hub, load):
    """The rest is read, and the report says what is missing."""
    hub.add("org/model", model_files())
    hub.fault("HEAD .*/generation_config.json", 404, X_Error_Code="EntryNotFound")
    package = load("org/model")
    assert package.templates
    assert [failure.subject for failure in package.failures] == ["generation_config.json"]
    assert not package.generation.complete


@pytest.mark.parametrize("where", ["GET /api", "HEAD .*config.json", "GET /org/.*config.json"])
@pytest.mark.parametrize(
    "headers", [{"RateLimit": '"api";r=0;t=55'}, {"Retry_After": "55"}], ids=["ratelimit", "retry-after"]
)
def test_rate_limit(hub, load, where, headers):
    hub.add("org/model", model_files())
    hub.fault(where, 429, **headers)
    start = time.monotonic()
    assert "the Hub's rate limit is reached; it lifts in 55 s" in refused(load)
    assert time.monotonic() - start < 20  # the Hub says 55


@pytest.mark.parametrize("where", ["GET /api", "HEAD .*config.json"])
@pytest.mark.parametrize("status", [500, 503])
def test_server_trouble(hub, load, where, status):
    hub.add("org/model", model_files())
    hub.fault(where, status)
    start = time.monotonic()
    assert f"the Hub is in trouble (status {status})" in refused(load)
    assert time.monotonic() - start < 15  # the client would try for 23


def test_a_hiccup_is_no_error(hub, load):
    hub.add("org/model", model_files())
    hub.fault("HEAD .*generation_config.json", 503, times=1)
    hub.fault("GET /org/.*tokenizer_config.json", "halve", times=1)
    assert load("org/model").failures == ()


@pytest.mark.parametrize("where", ["GET /api", "HEAD .*tokenizer_config", "GET /org/.*tokenizer_config"])
@pytest.mark.parametrize("kind", ["stall", "drop"])
def test_a_server_that_does_not_answer(hub, load, impatient, where, kind):
    hub.add("org/model", model_files())
    hub.fault(where, kind)
    start = time.monotonic()
    said = refused(load)
    assert "did not answer in time" in said or "cannot be reached" in said
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("where", ["GET /org/.*tokenizer_config", "GET /api"])
def test_a_server_that_answers_without_end(hub, load, impatient, where):
    """One byte at a time, just often enough to be alive."""
    hub.add("org/model", model_files())
    hub.fault(where, "drip")
    start = time.monotonic()
    if "api" in where:
        load("org/model")  # its answers are small; the fault only drips files
    else:
        assert "did not answer in time" in refused(load)
    assert time.monotonic() - start < 20


def test_a_server_that_is_not_there(hub, load):
    hub.add("org/model", model_files())
    hub.die()
    start = time.monotonic()
    assert "the Hub cannot be reached (ConnectError)" in refused(load)
    assert time.monotonic() - start < 15


@pytest.mark.parametrize("after", ["the listing", "the first file", "all files"])
def test_a_server_that_dies_between_requests(hub, load, monkeypatch, after):
    """The client makes a new session for every connection that is refused: that is watched as well."""
    hub.add("org/model", model_files(**{"m.gguf": b"GGUF"}))
    step = {"the listing": "fetch", "the first file": "_download", "all files": "open"}[after]
    whole, asks, asked = getattr(HubClient, step), hub_client._Watch.asks, Counter()

    def dying(self, *given, **more):
        if after != "the first file" or given[-1] != "config.json":
            hub.die()
        return whole(self, *given, **more)

    def counting(self, method, url):
        asked[method, url] += 1
        asks(self, method, url)

    monkeypatch.setattr(HubClient, step, dying)
    monkeypatch.setattr(hub_client._Watch, "asks", counting)
    assert "the Hub cannot be reached" in refused(load, "org/model:m.gguf" if step == "open" else "org/model")
    assert max(asked.values()) <= 3  # of these the last is not made
    assert _http._GLOBAL_CLIENT_FACTORY is _http.default_client_factory


@pytest.mark.parametrize("fault", [503, "drop", "stall"])
def test_the_commit_in_the_cache_instead(hub, load, request, fault):
    hub.add("org/model", model_files())
    first = load("org/model")
    request.getfixturevalue("impatient")
    hub.repos["org/model"].commit(model_files(**{"chat_template.jinja": b"new"}))
    hub.fault("GET /api", fault)
    second = load("org/model")
    assert second.templates == first.templates
    assert second.target.revision == first.target.revision
    assert f"commit {first.target.revision[:12]}, which was main" in second.notes[0]
    assert second.notes[0].endswith("was read instead")


def test_no_commit_of_another_name_instead(hub, load):
    hub.add("org/model", model_files())
    load("org/model")
    hub.fault("GET /api", 503)
    assert "in trouble" in refused(load, "org/model@v2")


def test_offline_and_not_cached(hub, load):
    hub.add("org/model", model_files())
    said = refused(load, offline=True)
    assert "org/model is not on this machine, and the Hub may not be asked" in said
    assert hub.log == []


def test_offline_and_only_partly_cached(hub, load, home):
    hub.add("org/model", model_files())
    load("org/model")
    for path in (home / "hf").rglob("tokenizer_config.json"):
        path.unlink()
    assert "tokenizer_config.json is not on this machine" in refused(load, offline=True)


def test_a_renamed_repository(hub, load):
    hub.add("new/model", model_files())
    hub.renames["org/model"] = "new/model"
    package = load("org/model")
    assert package.templates
    assert package.notes == ("org/model is called new/model now",)
    assert load("org/model", offline=True).templates == package.templates


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"config.json": b"{}"}, "org/model has no chat template"),
        ({"encoding/encoding_x.py": b"pass"}, "written by Python code"),
        ({"tekken.json": b"{}"}, "written by mistral-common"),
        ({"chat_template.jinja": b"version https://git-lfs.github.com/spec/v1\n"}, "Git LFS pointer"),
    ],
)
def test_no_template(hub, load, files, said):
    hub.add("org/model", files)
    assert said in refused(load)


def test_no_commit(hub, load):
    hub.add("org/model", {}, info={"sha": None})
    assert "has no commit yet" in refused(load)


def test_an_answer_that_is_none(hub, load):
    hub.add("org/model", {}, info={"id": 7, "siblings": "many"})
    assert "the Hub's answer makes no sense" in refused(load)


def test_files_that_are_too_large_are_not_fetched(hub, load):
    hub.add("org/model", model_files(**{"special_tokens_map.json": b" " * (70 << 20)}))
    package = load("org/model")
    assert "too large to be what its name says" in package.failures[0].message
    assert hub.sent < 1_000_000


def test_exit_status_and_words(hub, run):
    done = run("check", "org/none", text=True)
    assert done.status == 3
    assert "failed: org/none does not exist on the Hub, or is private" in done.out
    assert "= help  check the spelling" in done.out
    assert "Traceback" not in done.out + done.err


def test_the_client_says_nothing(hub, run):
    """Its warnings hold addresses, and what went wrong is said by us."""
    hub.add("org/model", model_files())
    hub.fault("HEAD .*generation_config.json", 503, times=1)
    done = run("render", "org/model")
    assert (done.status, done.err) == (0, "")
