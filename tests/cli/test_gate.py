"""`chatlint check` as a gate: the configuration, baselines, comments, many targets. A story, step by step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

GOOD = """{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}
"""
BAD = GOOD.split("{% if")[0] + "\n"


@pytest.fixture
def write(chatlint, tmp_path):
    """Files in the empty directory that commands run in."""

    def write(**files):
        for name, text in files.items():
            stem, _, suffix = name.rpartition("_")
            path = tmp_path / f"{stem}.{suffix}"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)

    return write


def concise(done):
    """The rules that a run names, in its order."""
    return [line.split("[")[1].split("]")[0] for line in done.out.splitlines() if "[" in line]


def test_a_story(chatlint, write):
    write(t_jinja=BAD)
    assert chatlint("check", "t.jinja").status == 1
    assert chatlint("check", "t.jinja", "--update-baseline").status == 0
    done = chatlint("check", "t.jinja")
    assert done.status == 0
    assert "0 errors, 0 warnings, 0 infos\nsuppressed: " in done.out
    write(t_jinja="{#- moved -#}\n\n" + BAD)
    assert chatlint("check", "t.jinja").status == 0
    write(t_jinja=BAD.replace("<|end|>", "<|end|>{{ None }}"))
    assert chatlint("check", "t.jinja", "--isolated").status == 1
    write(t_jinja=GOOD)
    done = chatlint("check", "t.jinja")
    assert "1 entry of it fits nothing any more" in done.out
    assert "generation-prompt in t.jinja › default" in done.out
    updated = chatlint("check", "t.jinja", "--update-baseline")
    assert ", 1 that fit nothing any more removed" in updated.err
    assert "nothing any more" not in chatlint("check", "t.jinja").out


@pytest.mark.parametrize(
    "form", ["terminal", "concise", "json", "jsonl", "sarif", "junit", "github", "markdown", "html"]
)
def test_what_is_accepted_counts_in_no_format(chatlint, write, form):
    write(t_jinja=BAD)
    chatlint("check", "t.jinja", "--update-baseline")
    assert chatlint("check", "t.jinja", "--format", form).status == 0
    assert chatlint("check", "t.jinja", "--format", form, "--isolated").status == 1


def test_a_baseline_of_another_name_and_place(chatlint, write, tmp_path):
    write(t_jinja=BAD)
    (tmp_path / "ci").mkdir()
    assert chatlint("check", "t.jinja", "--baseline", "ci/known.json", "--update-baseline").status == 0
    assert json.loads(Path("ci/known.json").read_text())["findings"][0]["target"] == "../t.jinja"
    assert chatlint("check", "t.jinja").status == 1
    assert chatlint("check", "./t.jinja", "--baseline", "ci/known.json").status == 0
    write(chatlint_toml='baseline = "ci/known.json"')
    assert chatlint("check", tmp_path / "t.jinja").status == 0


def test_error_a_baseline_that_is_not_there(chatlint, write):
    write(t_jinja=GOOD)
    done = chatlint("check", "t.jinja", "--baseline", "none.json")
    assert done.status == 2
    assert "none.json" in done.err


def test_a_baseline_does_not_accept_what_is_asked_for(chatlint, write):
    write(t_jinja=GOOD, chatlint_toml='require = ["tools"]')
    assert chatlint("check", "t.jinja", "--update-baseline").status == 1
    assert concise(chatlint("check", "t.jinja", "--format", "concise")) == ["required-capability"]


def test_severities_profiles_and_ignores_of_the_configuration(chatlint, write):
    write(t_jinja=GOOD, chatlint_toml='profile = "training"\n[rules.content-shape]\nseverity = "error"\n')
    assert chatlint("check", "t.jinja").status == 1
    assert chatlint("check", "t.jinja", "--ignore", "content-shape").status == 0
    write(
        chatlint_toml='[per-target-ignores]\n"t.*" = ["content-shape"]\n[rules.content-shape]\nseverity = "error"\n'
    )
    assert chatlint("check", "t.jinja").status == 0
    write(u_jinja=GOOD)
    assert chatlint("check", "t.jinja", "u.jinja").status == 1


def test_a_glob_that_may_have_meant_a_target_is_said(chatlint, write):
    write(t_jinja=GOOD, chatlint_toml='[per-target-ignores]\n"t.jinia" = ["CT3"]\n"org/*" = ["CT3"]\n')
    done = chatlint("check", "t.jinja", "--format", "json")
    assert done.err == "chatlint.toml: per-target-ignores 't.jinia' fits no target: did you mean 't.jinja'?\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[rules.prefix-brek]\nseverity = "error"', "chatlint.toml:1: no rule 'prefix-brek'"),
        ('\n[per-target-ignores]\n"a" = ["prefix-brek"]', "chatlint.toml:3: no rule 'prefix-brek'"),
        ('\n[per-target-ignores]\n"a" = ["CT599"]', "did you mean 'CT501'"),
        ('[rules.CT302]\nseverity = "error"', "chatlint.toml:1: 'CT302' is no rule's name"),
        ('select = ["CT3"]\nignore = ["CT3"]', "no rule is left to run"),
        ('ignore = ["prefix-brek"]', "chatlint.toml:1: no rule 'prefix-brek'"),
        ('expect = "none.json"', "none.json"),
        ('probes = "none"', "none is no folder"),
        ('require = ["tool"]', "chatlint.toml:1: no capability 'tool' to require"),
    ],
)
def test_error_a_configuration_that_means_nothing(chatlint, write, text, said):
    write(t_jinja=GOOD, chatlint_toml=text)
    done = chatlint("check", "t.jinja")
    assert done.status == 2
    assert said in done.err
    assert chatlint("check", "t.jinja", "--isolated").status == 0


def test_expected_facts(chatlint, write):
    write(t_jinja=GOOD)
    write(
        report_json=chatlint("check", "t.jinja", "--format", "json").out,
        chatlint_toml='expect = "report.json"',
    )
    assert chatlint("check", "t.jinja").status == 0
    write(t_jinja=GOOD.replace("<|end|>", "<|over|>"))
    done = chatlint("check", "t.jinja", "--format", "concise")
    assert done.status == 1
    assert set(concise(done)) >= {"expected-facts"}
    assert "stops differ from report.json" in done.out
    write(t_jinja=GOOD + "{# a remark #}")
    assert chatlint("check", "t.jinja").status == 0


def test_expected_facts_of_several_targets(chatlint, write):
    write(t_jinja=GOOD, u_jinja=GOOD.replace("<|end|>", "<|over|>"), v_jinja=GOOD)
    write(
        report_json=chatlint("check", "t.jinja", "u.jinja", "--format", "json").out,
        chatlint_toml='expect = "report.json"',
    )
    assert chatlint("check", "t.jinja", "u.jinja").status == 0
    (target,) = json.loads(chatlint("check", "v.jinja", "--format", "json").out)["targets"]
    assert {"rule": "expected-facts", "reason": "report.json says nothing about this target"} in target[
        "templates"
    ][0]["not_evaluated"]


def test_own_conversations(chatlint, write, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "hello.json").write_text('[{"role": "user", "content": "Hello"}]')
    write(t_jinja=GOOD, chatlint_toml='probes = "own"')
    (own / "hello.txt").write_text(chatlint("render", "t.jinja", "--messages", "own/hello.json").out)
    assert "reference-mismatch" not in concise(chatlint("check", "t.jinja", "--format", "concise"))
    write(t_jinja=GOOD.replace("<|end|>", " <|end|>"))
    done = chatlint("check", "t.jinja", "--format", "concise")
    assert "own/hello.json gives another prompt than own/hello.txt, from line 1 on" in done.out
    write(t_jinja=GOOD + "{{ raise_exception('no') if messages[0].content == 'Hello' }}")
    done = chatlint("check", "t.jinja", "--format", "concise")
    assert "error[reference-mismatch] own/hello.json is refused: no" in done.out
    assert done.status == 1


def test_the_configuration_of_a_model_directory_holds_for_it(chatlint, tmp_path):
    model = tmp_path / "model"
    model.mkdir()
    (model / "chat_template.jinja").write_text(GOOD)
    (model / "chatlint.toml").write_text('require = ["tools"]')
    assert chatlint("check", "model").status == 1
    assert chatlint("check", "model", "model").status == 0
    assert chatlint("check", "model", "--profile", "security").status == 0
    assert json.loads(chatlint("check", "model", "--untrusted", "--show-settings").out)["config"] is None


def test_settings_are_shown(chatlint, write):
    write(chatlint_toml='fail-on = "info"\n[rules.syntax]\nseverity = "info"\n')
    shown = json.loads(chatlint("check", "t.jinja", "--show-settings", "--ignore", "CT9").out)
    assert (shown["fail_on"], shown["ignore"], shown["config"]) == ("info", ["CT9"], "chatlint.toml")
    assert shown["severities"] == {"syntax": "info"}
    assert json.loads(chatlint("check", "t.jinja", "--show-settings", "--isolated").out)["config"] is None


def test_many_targets_one_sum(chatlint, write):
    names = [f"{name}.jinja" for name in "dbca"]
    for name in names:
        Path(name).write_text(BAD)
    one, several = (chatlint("check", *names, "--jobs", jobs) for jobs in ("1", "2"))
    assert one.out == several.out
    assert [line.split()[1] for line in one.out.splitlines() if line.startswith("──")] == names
    assert "in several templates\n  4 ×  error" in one.out
    assert "in 4 templates of 4 targets" in one.out


def test_statistics(chatlint, write):
    write(t_jinja=BAD, u_jinja=GOOD)
    done = chatlint("check", "t.jinja", "u.jinja", "--statistics")
    assert done.status == 1
    rows = [line.split() for line in done.out.splitlines()]
    failed = chatlint("check", "no/such.jinja", "--statistics")
    assert (failed.status, failed.out.split()[0]) == (3, "failed")
    assert ["1", "CT301", "error", "generation-prompt", "in", "1", "template"] in rows
    assert ["2", "CT303", "warning", "content-shape", "in", "2", "templates"] in rows
    assert [int(row[0]) for row in rows] == sorted((int(row[0]) for row in rows), reverse=True)


def test_init_writes_what_holds(chatlint, tmp_path):
    import shutil

    from tests.conftest import ROOT

    shutil.copytree(ROOT / "corpus" / "qwen3", tmp_path / "model")
    done = chatlint("init", "model")
    assert done.status == 0
    assert "requires 7 capabilities that hold today" in done.out
    shown = json.loads(chatlint("check", "model", "--show-settings").out)
    assert shown["require"][-1] == "parallel_tool_calls"
    assert chatlint("check", "model").status == 0
    again = chatlint("init", "model")
    assert again.status == 2
    assert "configures chatlint already" in again.err


def test_init_without_a_template(chatlint, tmp_path):
    (tmp_path / "empty").mkdir()
    done = chatlint("init", "empty")
    assert done.status == 0
    assert "no template was seen" in done.out
    assert json.loads(chatlint("check", "empty", "--show-settings").out)["require"] == []
    assert chatlint("init", "no/such").status == 2
