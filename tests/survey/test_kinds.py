"""Every kind of target that a check takes is surveyed, in whatever process."""

from __future__ import annotations

import json

import pytest

from chatlint.config import Settings
from chatlint.pipeline import check_target
from chatlint.source.package import TargetKind
from chatlint.survey.record import keyed
from chatlint.survey.targets import Named
from tests.source.gguf_files import write_gguf

from .conftest import CHATTY


@pytest.fixture
def kinds(tmp_path):
    """A target of each kind that lies on this machine; a survey reads none from standard input."""
    pytest.importorskip("gguf", reason="needs the extra `test`")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": CHATTY, "eos_token": "</s>"}))
    (tmp_path / "bare.jinja").write_text(CHATTY + "\n")
    both = tmp_path / "both"
    both.mkdir()
    (both / "chat_template.jinja").write_text(CHATTY + "\n\n")
    write_gguf(both / "model.gguf", template=CHATTY + " ")
    return {
        "file": tmp_path / "bare.jinja",
        "json": folder / "tokenizer_config.json",
        "directory": folder,
        "directory with a GGUF": both,
        "gguf": write_gguf(tmp_path / "little.gguf", template=CHATTY + "-"),
        "gguf, big-endian": write_gguf(tmp_path / "big.gguf", template=CHATTY + "+", big_endian=True),
        "corpus": "corpus:chatml",
    }


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("cache", [True, False])
def test_each_kind_is_judged_as_a_check_judges_it(kinds, survey, jobs, cache):
    settings = Settings(cache=cache)
    lines = survey([Named(str(target), kind) for kind, target in kinds.items()], jobs=jobs, settings=settings)
    results = {key: result for line in lines for key, result in keyed(line) if result is not None}
    assert len(lines) == len(kinds)
    for line in lines:
        assert (line["status"], line["failure"]) == ("checked", None), line["target"]
        report = check_target(str(kinds[line["target"]]), settings).to_dict()
        found = [[one["fingerprint"] for one in results[key]["findings"]] for key, _ in keyed(line)]
        assert found
        # A check tells those about the package apart from those about a template.
        checked = [one["fingerprint"] for one in report["findings"]]
        for template, fingerprints in zip(report["templates"], found, strict=True):
            own = [one["fingerprint"] for one in template["findings"]]
            assert sorted(own) == sorted(one for one in fingerprints if one not in checked)
    assert {line["kind"] for line in lines} == set(TargetKind) - {TargetKind.HUB, TargetKind.STDIN}
