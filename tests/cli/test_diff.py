"""`chatlint diff` and `chatlint lock`."""

from __future__ import annotations

import json
import re

from tests.diff.test_drift import PLAIN


def write(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return name


def test_the_status_says_whether_the_behaviour_is_the_same(chatlint, tmp_path):
    a, b = write(tmp_path, "a.jinja", PLAIN), write(tmp_path, "b.jinja", "{#- x -#}" + PLAIN)
    c = write(tmp_path, "c.jinja", PLAIN.replace("<call>", "<do>"))
    assert chatlint("diff", a, a).status == 0
    cosmetic = chatlint("diff", a, b)
    assert (cosmetic.status, cosmetic.err) == (0, "")
    assert cosmetic.out.endswith("another text, the same behaviour\n")
    changed = chatlint("diff", a, c)
    assert changed.status == 1
    assert "the behaviour changed" in changed.out
    assert "template 3:1" in changed.out
    assert chatlint("diff", a, "corpus:nothing").status == 3
    assert chatlint("diff", a, c, "--format", "yaml").status == 2


def test_what_was_not_rendered_is_said_in_every_format(chatlint, tmp_path):
    looping = (
        PLAIN + "{% if tools %}" + "{% for a in range(99999) %}" * 2 + "{% endfor %}" * 2 + "{% endif %}"
    )
    a, b = write(tmp_path, "a.jinja", looping), write(tmp_path, "b.jinja", "{#- x -#}" + looping)
    done = chatlint("diff", a, b)
    assert (done.status, done.err) == (1, "")
    assert done.out.endswith("\n\nnobody knows whether the behaviour is the same\n")
    text = chatlint("diff", a, b, "--format", "markdown").out
    data = json.loads(chatlint("diff", a, b, "--format", "json").out)
    (template,) = data["templates"]
    said = (
        f"{template['unrendered']} cases were not rendered on both sides: more than 200,000 loop iterations"
    )
    assert said in " ".join(done.out.split())
    assert said in text
    assert data["sameness"] == template["sameness"] == "unknown"


def test_the_same_in_every_format(chatlint, tmp_path):
    a, c = write(tmp_path, "a.jinja", PLAIN), write(tmp_path, "c.jinja", PLAIN.replace("<call>", "<do>"))
    data = json.loads(chatlint("diff", a, c, "--format", "json").out)
    assert data["sameness"] == "behavioural"
    text = chatlint("diff", a, c, "--format", "markdown").out
    assert text.startswith("### The behaviour changed\n")
    assert "| `<call>` (line 3) | `<do>` (line 3) |" in text
    assert "| format tool\\_calls › call\\_start | `<call>` | `<do>` |" in text


def test_hostile_texts_stay_texts(chatlint, tmp_path):
    evil = "\x1b[31m`|<script>\u202e"
    a, c = write(tmp_path, "a.jinja", PLAIN), write(tmp_path, "c.jinja", PLAIN.replace("<call>", evil))
    for form in ("terminal", "markdown"):
        out = chatlint("diff", a, c, "--format", form).out
        assert "\x1b" not in out
        assert "\u202e" not in out


def test_a_lock_is_written_and_checked(chatlint, tmp_path):
    a, b = write(tmp_path, "a.jinja", PLAIN), write(tmp_path, "b.jinja", PLAIN)
    assert "make" in chatlint("lock", "--check").err
    assert chatlint("lock", a, b).out == "chatlint.lock: 2 templates locked\n"
    assert chatlint("lock", "--check").status == 0
    write(tmp_path, a, "{#- x -#}" + PLAIN)
    done = chatlint("lock", "--check")
    assert done.status == 0
    assert "renders the same" in done.out
    write(tmp_path, a, PLAIN.replace("<call>", "<do>"))
    done = chatlint("lock", "--check", "--format", "json")
    assert done.status == 1
    assert {one["target"]: one["state"] for one in json.loads(done.out)} == {
        "a.jinja": "changed",
        "b.jinja": "same",
    }
    assert chatlint("lock", "--check", "b.jinja").status == 0
    assert chatlint("lock", "a.jinja").status == 0
    assert chatlint("lock", "--check").status == 0
    assert "did you mean" in chatlint("lock", "--check", "c.jinja").err
    assert chatlint("lock").status == 2
    (tmp_path / "b.jinja").unlink()
    assert chatlint("lock", "--check").status == 3


def test_every_target_of_a_lock_is_checked(chatlint, tmp_path):
    names = [write(tmp_path, name, PLAIN) for name in ("a.jinja", "b.jinja", "c.jinja")]
    assert chatlint("lock", *names).status == 0
    (tmp_path / "a.jinja").unlink()
    write(tmp_path, "b.jinja", PLAIN.replace("<call>", "<do>"))
    done = chatlint("lock", "--check")
    assert (done.status, done.err) == (3, "")
    assert "a.jinja           failed: there is no file or directory a.jinja" in done.out
    states = {
        one["target"]: (one["state"], one["message"])
        for one in json.loads(chatlint("lock", "--check", "--format", "json").out)
    }
    assert states == {
        "a.jinja": ("failed", "there is no file or directory a.jinja"),
        "b.jinja": ("changed", ""),
        "c.jinja": ("same", ""),
    }
    assert chatlint("lock", "--check", "b.jinja").status == 1


def test_what_a_lock_does_not_hold_is_said(chatlint, tmp_path):
    endless = "{% if tools %}{% for a in range(99999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}{% endif %}"
    name = write(tmp_path, "a.jinja", endless + PLAIN)
    done = chatlint("lock", name)
    assert (done.status, done.out) == (0, "chatlint.lock: 1 template locked\n")
    said = re.fullmatch(
        r"note: a.jinja \(default\): (\d+) of (\d+) cases could not be rendered, .*\n", done.err
    )
    assert said
    assert 0 < int(said[1]) < int(said[2])


def test_a_lock_that_holds_nothing_is_no_gate(chatlint, tmp_path):
    write(tmp_path, "chatlint.lock", '{"schema": "chatlint.lock/1", "targets": {}}')
    done = chatlint("lock", "--check")
    assert (done.status, done.out) == (2, "")
    assert "chatlint.lock holds no target" in done.err
    write(tmp_path, "chatlint.lock", '{"schema": "chatlint.lock/1", "targets": {"a.jinja": {"default": {}}}}')
    done = chatlint("lock", "--check")
    assert done.status == 2
    assert "targets › a.jinja › default: `sha256` is missing" in " ".join(done.err.split())


def test_a_lock_says_what_is_so(chatlint, tmp_path):
    looping = (
        PLAIN + "{% if tools %}" + "{% for a in range(99999) %}" * 2 + "{% endfor %}" * 2 + "{% endif %}"
    )
    a = write(tmp_path, "a.jinja", looping)
    (tmp_path / "m").mkdir()
    write(tmp_path, "m/chat_template.jinja", PLAIN)
    write(tmp_path, "m/tokenizer_config.json", '{"eos_token": "<|end|>"}')
    assert chatlint("lock", a, "m").status == 0
    assert chatlint("lock", "--check").status == 0
    done = chatlint("lock", "--check", "m", "--host", "vllm")
    assert done.status == 1
    assert "outdated: the same text, locked on transformers-5.24, asked on vllm" in " ".join(done.out.split())
    write(tmp_path, "a.jinja", "{#- x -#}" + looping)
    write(tmp_path, "m/tokenizer_config.json", '{"eos_token": "<|other|>"}')
    done = chatlint("lock", "--check")
    said = " ".join(done.out.split())
    assert done.status == 1
    assert "cases could not be rendered; nobody knows whether it does the same" in said
    assert "tokens: its special tokens and the stops that its files declare changed" in said
