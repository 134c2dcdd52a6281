"""`chatlint check`: exit statuses, formats, selections, mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatlint.records import replace
from chatlint.report import REPORTERS
from chatlint.rules.catalogue import all_rules

BROKEN = "{% for m in messages %}{{ m.content }"
CLEAN = "corpus:chatml"


@pytest.fixture
def bare(tmp_path):
    def write(text, name="t.jinja"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_clean_target(chatlint):
    done = chatlint("check", CLEAN)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("── corpus:chatml ──")
    assert "0 errors, 0 warnings" in done.out


def test_findings_fail_from_the_threshold_on(chatlint, bare):
    path = bare(BROKEN)
    assert [chatlint("check", path, "--fail-on", level).status for level in ("error", "info", "never")] == [
        1,
        1,
        0,
    ]


OLD_ONLY = (
    "{% if tools %}{{ tools | tojson }}<|end|>{% endif %}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}{% set a = c.function.arguments %}"
    '<call>{"name": "{{ c.function.name }}", "arguments": {{ a if a is string else a | tojson }}}</call>'
    "{% endfor %}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def test_a_fault_of_an_older_host_is_told_and_fails_only_a_check_for_that(chatlint, bare):
    path = bare(OLD_ONLY)
    today = chatlint("check", path)
    assert today.status == 0
    assert "warning[null-content-printed]" in today.out
    assert "only on     transformers-4.57 (render it with --host transformers-4.57)" in today.out
    then = chatlint("check", path, "--host", "transformers-4.57")
    assert then.status == 1
    assert "error[null-content-printed]" in then.out
    assert "only on" not in then.out
    case = ("render", path, "--probe", "calls/one@content=null")
    assert "None<call>" not in chatlint(*case).out
    assert "None<call>" in chatlint(*case, "--host", "transformers-4.57").out


@pytest.mark.parametrize("form", ["terminal", "concise", "json", "jsonl"])
def test_the_status_is_the_same_in_every_format(chatlint, bare, form):
    assert chatlint("check", bare(BROKEN), "--format", form).status == 1


@pytest.mark.parametrize(
    ("target", "status", "said"),
    [("no/such/dir", "failed", "no"), ("corpus:chatm", "failed", "did you mean chatml"), ("", "failed", "")],
)
def test_error_for_a_target_that_cannot_be_loaded(chatlint, target, status, said):
    done = chatlint("check", target or "./missing.jinja", "--format", "json")
    (one,) = json.loads(done.out)["targets"]
    assert (done.status, one["status"], one["templates"]) == (3, status, [])
    assert said in one["failure"]["message"] + one["failure"]["hint"]


def test_error_for_a_directory_without_a_template(chatlint, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "tokenizer_config.json").write_text("{}")
    done = chatlint("check", tmp_path / "model", "--format", "json", "--fail-on", "never")
    assert done.status == 3
    assert json.loads(done.out)["targets"][0]["status"] == "no-template"


def test_of_several_targets_the_worst_status_counts_and_the_order_stays(chatlint, bare):
    done = chatlint("check", bare(BROKEN), "corpus:nothing", CLEAN, "--format", "json", "--jobs", "1")
    report = json.loads(done.out)
    assert done.status == 3
    assert [one["target"] for one in report["targets"]][1:] == ["corpus:nothing", CLEAN]
    assert report["summary"] | {"warnings": 0, "infos": 0} == {
        "targets": 3, "templates": 2, "failed": 1, "errors": 1, "warnings": 0, "infos": 0, "suppressed": 0,
    }  # fmt: skip


def test_several_processes_say_the_same(chatlint, bare):
    targets = [bare(BROKEN), "corpus:nothing", CLEAN]
    reports = [chatlint("check", *targets, "--format", "jsonl", "--jobs", jobs).out for jobs in ("1", "2")]
    assert reports[0] == reports[1]


def test_an_internal_error_comes_first(chatlint, bare, monkeypatch):
    def broken(*_):
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("chatlint.pipeline.judge", broken)
    done = chatlint("check", CLEAN, "corpus:nothing")
    assert done.status == 2
    assert "internal error, please report it: RuntimeError: a bug of ours" in " ".join(done.out.split())
    assert "Traceback" not in done.out + done.err


def test_outputs_beside_the_printed_one(chatlint, tmp_path):
    done = chatlint(
        "check", CLEAN, "--output", "json=r.json", "--output", "concise=r.txt", "--format", "jsonl"
    )
    assert json.loads((tmp_path / "r.json").read_text())["targets"][0]["target"] == CLEAN
    assert (tmp_path / "r.txt").exists()
    assert json.loads(done.out)["target"] == CLEAN


def test_outputs_overwrite_nothing_that_is_read(chatlint, bare, tmp_path):
    path = bare(BROKEN)
    (tmp_path / "again").symlink_to(path)
    (tmp_path / "chatlint.toml").write_text('fail-on = "never"\n')
    for file in (str(path), "again", "chatlint.toml"):
        done = chatlint("check", path, "--output", f"json={file}")
        assert done.status == 2
        assert "which is read" in " ".join(done.err.split())
    assert Path(path).read_text() == BROKEN


def test_a_run_that_fails_leaves_the_report_that_was_there(chatlint, tmp_path):
    (tmp_path / "r.json").write_text("kept")
    assert chatlint("check", CLEAN, "--output", "json=r.json", "--select", "prefix-brake").status == 2
    assert (tmp_path / "r.json").read_text() == "kept"
    nothing = ("--output", "json=/dev/null", "--output", "html=/dev/null")
    assert chatlint("check", CLEAN, *nothing).status == 0


def test_standard_input(chatlint, monkeypatch, tmp_path):
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BROKEN.encode())))
    done = chatlint("check", "-", "--format", "json")
    (one,) = json.loads(done.out)["targets"]
    assert (one["kind"], one["target"], one["status"]) == ("stdin", "-", "checked")


def test_rules_are_selected_and_ignored(chatlint, bare):
    path = bare(BROKEN)
    assert chatlint("check", path, "--ignore", "syntax").status == 0
    assert chatlint("check", path, "--select", "CT4,prefix-break").status == 0
    assert chatlint("check", path, "--select", "syntax").status == 1


def test_the_configuration_holds_and_the_command_line_overrules_it(chatlint, bare, tmp_path):
    path = bare(BROKEN)
    (tmp_path / "chatlint.toml").write_text('fail-on = "never"\n')
    assert chatlint("check", path).status == 0
    assert chatlint("check", path, "--fail-on", "error").status == 1
    (tmp_path / "other.toml").write_text('ignore = ["syntax"]\n')
    assert chatlint("check", path, "--config", "other.toml").status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check"], "check [OPTIONS] TARGET... Try"),
        (["check"], "Error: TARGET is missing"),
        (["export", "X"], "export [OPTIONS] TARGET Try"),
        (["export", "X"], "Error: --to WHAT is missing"),
        (["check", CLEAN, "--formt", "json"], "--format"),
        (["check", CLEAN, "--format", "jsn"], "did you mean 'json'?"),
        (["check", CLEAN, "--fail-on", "warnings"], "did you mean 'warning'?"),
        (["check", CLEAN, "--select", "prefix-brake"], "no rule fits 'prefix-brake'"),
        (["check", "no-such-file.jinja", "--ignore", "prefix-brake"], "no rule fits 'prefix-brake'"),
        (["check", CLEAN, "--host", "transformers-5.25"], "transformers-5.24"),
        (["check", CLEAN, "--jobs", "two"], "--jobs two"),
        (["check", CLEAN, "--output", "json"], "--output json names no file"),
        (["check", CLEAN, "--output", "json=/nowhere/x.json"], "/nowhere/x.json cannot be written"),
        (["check", CLEAN, "--output", "json=-"], "--format json prints it"),
        (["check", CLEAN, "--output", "json=x", "--output", "html=x"], "--output names x twice"),
        (["check", CLEAN, "--config", "missing.toml"], "missing.toml"),
        (["check", CLEAN, "--color", "alwys"], "did you mean 'always'?"),
        (["chek", CLEAN], "check"),
        (["rule", "prefix-brake"], "did you mean"),
        (["schema", "reports"], "did you mean 'report'?"),
    ],
)
def test_error_of_usage_is_2_and_says_what_to_do(chatlint, arguments, said):
    done = chatlint(*arguments)
    assert (done.status, done.out) == (2, "")
    assert said in " ".join(done.err.split())
    assert "Traceback" not in done.err


def test_colour_only_where_it_is_wanted(chatlint, bare, monkeypatch):
    path = bare(BROKEN)
    assert "\x1b" not in chatlint("check", path).out
    assert "\x1b[1;31merror[syntax]" in chatlint("check", path, "--color", "always").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[1;31merror[syntax]" in chatlint("check", path).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in chatlint("check", path).out


def test_an_unexpected_error_is_no_traceback(chatlint, monkeypatch):
    def broken(*_):
        raise RuntimeError("a bug of ours")

    monkeypatch.setattr("chatlint.survey.judge_each", broken)
    done = chatlint("check", CLEAN)
    assert done.status == 2
    assert "internal error, please report it: RuntimeError: a bug of ours" in " ".join(done.err.split())
    assert "CHATLINT_DEBUG=1" in done.err
    monkeypatch.setenv("CHATLINT_DEBUG", "1")
    with pytest.raises(RuntimeError, match="a bug of ours"):
        chatlint("check", CLEAN)


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (("--select", "CT599"), "did you mean 'CT501'"),
        (("--select", "ct3029"), "did you mean 'CT302'?"),
        (("--select", "role-suport"), "did you mean 'role-support'?"),
        (("--ignore", "zzzzzz"), "`chatlint rules` lists them"),
        (
            ("--select", "CT3", "--ignore", "CT3"),
            "no rule is left to run: to ignore CT3 takes all of CT3 away",
        ),
    ],
)
def test_error_a_selection_that_fits_nothing(chatlint, chosen, said):
    done = chatlint("check", CLEAN, *chosen)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_error_a_pattern_that_no_file_fits(chatlint):
    assert "no file here fits the pattern" in chatlint("check", "no-*.jinja").out


def _break(monkeypatch):
    """One rule fails, with a character that steers terminals in what it says."""
    broken = next(rule for rule in all_rules() if rule.name == "prefix-break")

    def check(_):
        raise ValueError("it broke\x1b[1m here")

    rules = tuple(replace(rule, check=check) if rule is broken else rule for rule in all_rules())
    monkeypatch.setattr("chatlint.rules.selection.all_rules", lambda: rules)


@pytest.mark.parametrize(
    "form", [*(("--format", name) for name in REPORTERS), ("--statistics",), ("--diff",)], ids="-".join
)
def test_every_format_says_why_the_status_is_two(chatlint, monkeypatch, form):
    _break(monkeypatch)
    done = chatlint("check", CLEAN, "--no-cache", *form)
    assert done.status == 2
    said = done.out + done.err
    assert "it broke" in said
    assert "prefix-break" in said
    assert "\x1b" not in said


def test_a_difference_says_why_there_is_none(chatlint):
    done = chatlint("check", "nowhere.jinja", "--diff")
    assert (done.status, done.out) == (3, "")
    assert "nowhere.jinja: failed: " in done.err
