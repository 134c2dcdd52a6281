"""`chatlint check --fix` and `--diff`: what is written, what is printed, and the status."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys

import pytest

BARE = """\
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}
"""
MENDED = """\
{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}
"""
ONLY = ("--select", "generation-prompt")


@pytest.fixture
def bare(tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text(BARE)
    return path


def test_diff_prints_and_writes_nothing(chatlint, bare):
    done = chatlint("check", "--diff", "t.jinja", *ONLY)
    assert done.status == 1
    assert done.out == (
        "--- t.jinja\n+++ t.jinja\n@@ -1,2 +1,3 @@\n"
        " {% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>\n {% endfor %}\n"
        "+{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}\n"
    )
    assert done.err.startswith(
        "would fix generation-prompt in t.jinja: no generation prompt after a question"
    )
    assert bare.read_text() == BARE


def test_fix_writes_and_judges_what_is_left(chatlint, bare):
    done = chatlint("check", "--fix", "t.jinja", *ONLY, "--format", "concise")
    assert (done.status, bare.read_text()) == (0, MENDED)
    assert done.err.startswith("fixed generation-prompt in t.jinja")
    assert "generation-prompt" not in done.out
    again = chatlint("check", "--fix", "t.jinja", *ONLY, "--format", "concise")
    assert (again.status, again.err, bare.read_text()) == (0, "", MENDED)


def test_a_template_in_json(chatlint, tmp_path):
    path = tmp_path / "tokenizer_config.json"
    text = json.dumps({"bos_token": "<s>", "chat_template": BARE, "z": 1}, indent=1)
    path.write_text(text)
    done = chatlint("check", "--fix", tmp_path, *ONLY)
    assert done.status == 0
    assert path.read_text() == text.replace(json.dumps(BARE), json.dumps(MENDED))


@pytest.mark.skipif(not shutil.which("patch"), reason="needs the program `patch`")
def test_a_difference_can_be_applied(chatlint, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "chat_template.jinja").write_text(BARE)
    (tmp_path / "model" / "tokenizer_config.json").write_text("{}")
    done = chatlint("check", "--diff", "model", *ONLY)
    assert done.out.startswith("--- model/chat_template.jinja\n+++ model/chat_template.jinja\n")
    subprocess.run(["patch", "-p0"], input=done.out, text=True, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "model" / "chat_template.jinja").read_text() == MENDED


def test_what_lies_elsewhere_is_only_shown(chatlint, monkeypatch):
    standard_input = io.TextIOWrapper(io.BytesIO(BARE.encode()))
    monkeypatch.setattr(sys, "stdin", standard_input)
    done = chatlint("check", "--fix", "-", *ONLY)
    assert done.status == 1
    assert "nothing is written: it came from standard input; --diff shows the change" in done.err


def test_what_may_not_be_written_is_said_and_the_rest_is_mended(chatlint, bare, tmp_path):
    bare.write_text(BARE)
    bare.chmod(0o444)
    other = tmp_path / "other.jinja"
    other.write_text(BARE)
    done = chatlint("check", "--fix", "t.jinja", "other.jinja", *ONLY)
    assert done.err.splitlines()[0].startswith("would fix generation-prompt in t.jinja")
    assert done.err.splitlines()[1] == "nothing is written: t.jinja is read-only; --diff shows the change"
    assert done.err.splitlines()[2].startswith("fixed generation-prompt in other.jinja")
    assert (bare.read_text(), done.status) == (BARE, 1)
    assert other.read_text() != BARE


def test_what_is_accepted_is_not_mended(chatlint, bare, tmp_path):
    bare.write_text("{# chatlint: ignore[generation-prompt] so #}\n" + BARE)
    assert chatlint("check", "--diff", "t.jinja", *ONLY).out == ""
    bare.write_text(BARE)
    (tmp_path / "chatlint.toml").write_text('[per-target-ignores]\n"t.*" = ["generation-prompt"]\n')
    assert chatlint("check", "--diff", "t.jinja", *ONLY).out == ""
    assert "add_generation_prompt" in chatlint("check", "--diff", "t.jinja", *ONLY, "--isolated").out


def test_what_cannot_be_mended_says_why(chatlint, tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text(
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content or '' }}"
        "{% for c in m.tool_calls or [] %}<call>{{ c.function.name }}"
        "{% for k, v in c.function.arguments | items %}<{{ k }}>{{ v | tojson }}{% endfor %}</call>"
        "{% endfor %}<|end|>\n{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    before = path.read_text()
    done = chatlint("check", "--fix", "t.jinja", "--format", "concise", "--select", "argument-shape")
    assert done.err.startswith(
        "not fixed: argument-shape in t.jinja: nothing in the source prints `arguments` by itself, "
    )
    assert path.read_text() == before


def test_a_target_that_cannot_be_loaded(chatlint):
    done = chatlint("check", "--fix", "missing.jinja")
    assert done.status == 3


def test_a_template_given_beside_a_target(chatlint, bare):
    done = chatlint("check", "--fix", "corpus:chatml", "--template", bare)
    assert done.status == 2
    assert "edit a target's own template" in done.err
