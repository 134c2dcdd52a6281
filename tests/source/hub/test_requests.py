"""What a check costs at the Hub: cold, warm, offline; and what it leaves behind."""

from __future__ import annotations

import json

import pytest

from chatlint.errors import TargetError
from tests.source.gguf_files import write_gguf
from tests.source.hub.conftest import model_files
from tests.source.model_files import template_processing, tokenizer_json

SMALL = ("config.json", "generation_config.json", "tokenizer_config.json")


def large_tokenizer(size, specials):
    """A `tokenizer.json` of `size` bytes whose head holds `specials` added tokens."""
    names = [f"<|special_{number:06}|>" for number in range(specials)]
    whole = tokenizer_json(template_processing("<s>"), specials=("<unk>", "<s>", "<|im_end|>", *names))
    text = json.dumps(whole)
    return text.replace('"vocab": {', '"vocab": {"' + "x" * (size - len(text)) + '": 999999, ', 1).encode()


def test_cold_warm_offline(hub, run):
    hub.add("org/model", model_files(**{"tokenizer.json": large_tokenizer(30_000_000, 10)}))

    cold = run("check", "org/model")
    assert (cold.status, cold.err) == (0, "")
    assert len(hub.log) <= 2 * len(SMALL) + 5
    assert hub.sent < 4_000_000

    hub.log.clear()
    warm = run("check", "org/model")
    assert hub.requests == ["GET /api/models/org/model"]
    assert warm.target == cold.target

    hub.log.clear()
    hub.die()
    offline = run("check", "org/model", "--offline")
    assert hub.log == []
    assert offline.target | {"notes": []} == cold.target
    assert "read offline; commit" in offline.target["notes"][0]


def test_a_survey_judges_models_and_ggufs(hub, run, home):
    pytest.importorskip("gguf", reason="needs the extra `test`")
    hub.add("org/model", model_files())
    quantized = write_gguf(
        home / "one.gguf", template="{{ bos_token }}{{ messages[0].content }}"
    ).read_bytes()
    hub.add("org/quantized", {"model-Q4_K_M.gguf": quantized})
    done = run(
        "survey", "org/model", "org/quantized:Q4_K_M", "--out", str(home / "out"), "--jobs", "2", text=True
    )
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("2 targets hold 2 different templates.\n")


def test_the_head_of_a_tokenizer_is_all_that_is_read_of_it(hub, run):
    """As large a head as real ones have: 6,000 added tokens are a megabyte."""
    hub.add("org/model", model_files(**{"tokenizer.json": large_tokenizer(30_000_000, 6_000)}))
    assert run("render", "org/model").status == 0
    assert hub.sent < 4_000_000
    ranges = [asked.range for asked in hub.log if asked.range]
    assert ranges == ["bytes=0-3145727"] * 2  # to the Hub, and on to its storage


def test_what_was_fetched_lands_in_the_clients_cache(hub, run, home):
    repo = hub.add("org/model", model_files())
    run("render", "org/model")
    snapshot = home / "hf" / "hub" / "models--org--model" / "snapshots" / repo.refs["main"]
    assert {path.name for path in snapshot.iterdir()} == {*SMALL, "tokenizer.json"}
    assert not (snapshot.parents[1] / "refs").exists()  # another tool must not take this for a whole snapshot


def test_what_is_in_the_clients_cache_is_taken_from_it(hub, run):
    hub.add("org/model", model_files())
    run(code="import huggingface_hub as h; h.snapshot_download('org/model', allow_patterns='*.json')")
    hub.log.clear()
    assert run("render", "org/model").status == 0
    assert hub.requests == ["GET /api/models/org/model"]


def test_offline_from_the_clients_cache_alone(hub, run):
    hub.add("org/model", model_files())
    run(code="import huggingface_hub as h; h.hf_hub_download('org/model', 'tokenizer_config.json')")
    hub.die()
    target = run("check", "org/model", HF_HUB_OFFLINE="1").target
    assert target["status"] == "checked"
    assert target["notes"][-1] == "only those files are known that were fetched before"
    assert {file["path"] for file in target["files"]} == {"tokenizer_config.json"}
    # The tokenizer may have a file that says more: nothing is concluded from its absence.
    assert [one["rule"] for one in target["templates"][0]["not_evaluated"]] == ["double-bos"]


def test_a_listing_that_the_client_made_is_whole(hub, run):
    """`snapshot_download` leaves one; then offline nothing is unknown but what was not fetched."""
    hub.add("org/model", model_files())
    run(
        code="import huggingface_hub as h; h.snapshot_download('org/model', allow_patterns='tokenizer_config.json')"
    )
    assert len(run("check", "org/model", "--offline").target["notes"]) == 1


def test_a_new_commit_is_noticed_and_fetched(hub, load):
    repo = hub.add("org/model", model_files())
    first = load("org/model")
    repo.commit(model_files(**{"chat_template.jinja": b"{{ messages[0].content }}"}))
    second = load("org/model")
    assert first.target.revision != second.target.revision == repo.refs["main"]
    assert second.template().place.file == "chat_template.jinja"


def test_revisions(hub, load):
    repo = hub.add("org/model", model_files())
    old = repo.refs["main"]
    repo.commit(model_files(**{"chat_template.jinja": b"new"}), ref="refs/pr/1")
    by_name = load("org/model@refs/pr/1")
    assert by_name.target.revision == repo.refs["refs/pr/1"]
    assert by_name.template().text == "new"
    assert load("org/model", revision=old).target.revision == old
    hub.log.clear()
    assert load(f"org/model@{old}", offline=True).target.revision == old
    assert hub.log == []


def test_offline_imports_no_client(hub, run):
    hub.add("org/model", model_files())
    run("render", "org/model")
    code = """
import sys
from chatlint.source.load import load
load("org/model", offline=True)
print(*(name for name in sys.modules if name.split(".")[0] in ("huggingface_hub", "httpx2", "httpx")))
"""
    assert run(code=code).out.strip() == ""


def test_local_targets_import_no_client(run):
    code = """
import sys
from chatlint.source.load import load
load("corpus:chatml")
print(*{"huggingface_hub", "tokenizers", "chatlint.source.hub", "chatlint.source.gguf"} & sys.modules.keys())
"""
    assert run(code=code).out.strip() == ""


def test_nothing_is_reported_about_its_use(hub, run):
    hub.add("org/model", model_files())
    run("render", "org/model", HF_HUB_DISABLE_TELEMETRY="0")
    assert all("/api/models/" in path or "/resolve/" in path for path in hub.requests)


def test_without_a_store_the_clients_cache_still_serves(hub, load, home):
    hub.add("org/model", model_files())
    load("org/model", cache=False)
    assert not (home / "store").exists()
    hub.log.clear()
    load("org/model", cache=False)
    assert len(hub.log) == 1


def test_settings_of_the_process_come_back(hub, load):
    import logging

    from huggingface_hub import constants
    from huggingface_hub.utils import are_progress_bars_disabled

    def settings():
        level = logging.getLogger("huggingface_hub").level
        return level, constants.HF_HUB_DISABLE_TELEMETRY, are_progress_bars_disabled()

    before = settings()
    hub.add("org/model", model_files())
    load("org/model")
    assert settings() == before


def test_requests_of_others_are_not_watched(hub, load):
    from huggingface_hub.utils import get_session

    hub.add("org/model", model_files())
    load("org/model")
    hub.fault("/busy", 429)
    assert get_session().get(f"{hub.url}/busy").status_code == 429


def test_it_is_said_what_is_being_fetched(hub, load):
    hub.add("org/model", model_files())
    said = []
    load("org/model", say=said.append)
    assert said[0] == "org/model: asking the Hub"
    assert said[1:] == [f"org/model: {number} of 4 files" for number in range(4)]


def test_progress_is_for_terminals(hub, run):
    hub.add("org/model", model_files())
    assert run("check", "org/model", text=True).err == ""


def test_the_caches_place_is_where_the_client_has_it(run, home):
    places = [
        {"HF_HOME": None},
        {"HF_HOME": None, "XDG_CACHE_HOME": str(home / "xdg")},
        {"HF_HOME": ""},
        {"HF_HOME": "~/hf home"},
        {"HF_HUB_CACHE": "$HOME/elsewhere"},
        {"HUGGINGFACE_HUB_CACHE": str(home / "old")},
        {"HF_HUB_CACHE": str(home / "new"), "HUGGINGFACE_HUB_CACHE": str(home / "old")},
    ]
    code = """
from chatlint.source.hub_cache import cache_root
from huggingface_hub.constants import HF_HUB_CACHE
print(cache_root()); print(HF_HUB_CACHE)
"""
    for place in places:
        ours, theirs = run(code=code, **place).out.splitlines()
        assert ours == theirs, place


def test_templates_of_strangers_are_rendered_apart(hub, load):
    from chatlint.config import Settings
    from chatlint.results import question

    hub.add("org/model", model_files())
    package = load("org/model")
    assert question(package.template(), package, Settings()).untrusted


def test_another_template_with_this_models_tokens(hub, load, tmp_path):
    hub.add("org/model", model_files())
    (tmp_path / "mine.jinja").write_text("{{ bos_token }}mine")
    package = load("org/model", template_file=str(tmp_path / "mine.jinja"))
    assert package.template().text == "{{ bos_token }}mine"
    assert package.template().special_tokens["bos_token"] == "<s>"
    assert package.generation.eos_ids["generation_config.json"] == (4,)


def test_a_template_of_the_repository_that_nobody_reads(hub, load):
    hub.add("org/model", model_files(**{"templates/other.jinja": b"{{ eos_token }}other"}))
    package = load("org/model:templates/other.jinja")
    assert package.template().text == "{{ eos_token }}other"
    assert package.template().special_tokens["eos_token"] == "<|im_end|>"
    assert load("org/model:templates/other.jinja", offline=True).templates == package.templates


def test_the_whole_tokenizer_where_ids_are_asked_for(hub, load):
    from chatlint.source.tokenizer_file import tokenizer_file

    content = large_tokenizer(2_000_000, 10)
    hub.add("org/model", model_files(**{"tokenizer.json": content}))
    package = load("org/model")
    with pytest.raises(TargetError, match=r"tokenizer.json of .* is not on this machine"):
        tokenizer_file(package, offline=True)
    assert tokenizer_file(package).read_bytes() == content
    hub.die()
    assert tokenizer_file(load("org/model", offline=True), offline=True).read_bytes() == content
