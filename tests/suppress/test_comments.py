"""Comments that ask not to be told of a rule: what they hold for, and that they never change a prompt."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chatlint
from chatlint import limits
from chatlint.config import Settings
from chatlint.gate import held
from chatlint.pipeline import examine
from chatlint.render.renderer import render_prompt
from chatlint.results import placed, question
from chatlint.rules.finding import SuppressedBy
from chatlint.rules.ignores import ignores_in
from chatlint.source.load import load
from chatlint.source.package import Target, TargetKind

LOOP = """{%- for m in messages %}
{{- '<|' ~ m.role ~ '|>' ~ m.content ~ '<|end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}
"""
ASKED = {"role": "user", "content": "Juniper"}
ANSWERED = {"role": "assistant", "content": "Kestrel"}
NOTE = "{# chatlint: ignore[forged-turns] our own input #}"


def lines(text):
    return text.splitlines(keepends=True)


def put(at, note=NOTE, text=LOOP):
    """The template with a comment on a line of its own before line `at`, counted from 1."""
    before, after = lines(text)[: at - 1], lines(text)[at - 1 :]
    return "".join([*before, f"{note}\n", *after])


@pytest.mark.parametrize(
    ("text", "line", "holds_for", "harmless"),
    [
        (put(1), 1, None, True),
        (put(2), 2, (3, 3), True),
        (put(3), 3, (4, 4), False),  # `{%- endfor` cannot strip the line break before the comment
        (put(3, NOTE.replace("{#", "{#-").replace("#}", "-#}")), 3, (4, 4), True),
        (put(4), 4, (5, 5), True),
        ("{{ x }}\n" + NOTE + "\n{% if y %}{% endif %}", 2, (3, 3), True),
        (LOOP.replace("%}\n{{-", f"%}}\n  {NOTE}\n{{{{-"), 2, (3, 3), True),
        (LOOP.replace("{{-", f"{NOTE}{{{{-"), 2, (2, 2), True),
        ("text\n" + NOTE, 2, (2, 2), False),
        ("text\n" + NOTE + "\n", 2, (2, 2), False),
        ("{% if x %}\n{% endif %}\n" + NOTE + "\n", 3, (3, 3), True),
        (f"text {NOTE}\ntext", 1, (1, 1), False),
        ("{{ x }}\n{#- chatlint: ignore[a] -#}\n{{ y }}", 2, (3, 3), False),
        ("{{ x -}}\n{#- chatlint: ignore[a] -#}\n{{- y }}", 2, (3, 3), True),
        ("{% if x %}\n" + NOTE + "\n{% if y\n and z %}a{% endif %}{% endif %}", 2, (3, 4), True),
        ("{{ x }}\r\n{% if y %}\r\n" + NOTE + "\r\na{% endif %}", 3, (4, 4), True),
    ],
)
def test_where_it_stands(text, line, holds_for, harmless):
    (ignore,) = ignores_in(text)
    assert (ignore.line, ignore.lines, ignore.harmless) == (line, holds_for, harmless)


@pytest.mark.parametrize("name", ["chatml", "qwen3", "llama-3"])
def test_in_the_bundled_templates_harmless_ones_change_no_prompt(name):
    template = load(f"corpus:{name}").templates[0]
    written = template.text.split("\n")
    conversations = ([ASKED], [{"role": "system", "content": "Walnut"}, ASKED, ANSWERED, ASKED])

    def prompts(text):
        changed = replace(template, text=text)
        return [render_prompt(changed, messages).text for messages in conversations]

    before, harmless = prompts(template.text), 0
    for at in range(0, len(written) + 1, 4):
        text = "\n".join([*written[:at], NOTE, *written[at:]])
        (ignore,) = ignores_in(text)
        harmless += ignore.harmless
        assert not ignore.harmless or prompts(text) == before
    assert harmless


def test_two_that_change_the_prompt_only_together():
    first, second = ignores_in(f"text\n{NOTE}\n{NOTE}\n{{%- if x %}}{{% endif %}}")
    assert (first.harmless, second.harmless) == (False, True)


@pytest.mark.parametrize(
    ("comment", "rules", "reason"),
    [
        ("{# chatlint: ignore[prefix-break] it is #}", ("prefix-break",), "it is"),
        ("{#chatlint:ignore[CT304,double-bos]#}", ("CT304", "double-bos"), ""),
        ("{# chatlint: ignore [ a , b ]: two\nlines #}", ("a", "b"), "two\nlines"),
        ("{# chatlint: ignore prefix-break #}", (), ""),
        ("{# chatlint: ignore[] #}", (), ""),
    ],
)
def test_what_it_says(comment, rules, reason):
    (ignore,) = ignores_in(comment + "\n{{ x }}")
    assert (ignore.rules, ignore.reason) == (rules, reason)


@pytest.mark.parametrize(
    "text",
    [
        "{{ '{# chatlint: ignore[a] #}' }}",
        "{% raw %}{# chatlint: ignore[a] #}{% endraw %}",
        "{# about chatlint: ignore[a] #}",
        "chatlint: ignore[a]",
        "{% if %}{{ '",
        "{# chatlint: ignore[a]",
    ],
)
def test_what_is_no_such_comment(text):
    assert ignores_in(text) == ()


BITS = [
    "{%- if x %}",
    "{% endif %}",
    "{%- endif -%}",
    "{{ a }}",
    "{{- a }}",
    "text",
    " ",
    "\n",
    "\n  ",
    NOTE,
    "\t",
]


@given(st.lists(st.sampled_from(BITS), max_size=12))
def test_harmless_is_what_jinja_prints_without_it(bits):
    """Judged by rendering: a comment that is called harmless can be taken out and nothing changes."""
    from jinja2 import Environment, TemplateSyntaxError

    environment = Environment(trim_blocks=True, lstrip_blocks=True)
    text = "".join(bits)
    try:
        printed = environment.from_string(text).render(x=True, a="A")
    except TemplateSyntaxError:
        return
    ignores = ignores_in(text)
    if ignores and all(ignore.harmless for ignore in ignores):
        whole = [
            line
            for line in text.splitlines(keepends=True)
            if NOTE not in line or line.replace(NOTE, "").strip()
        ]
        without = "".join(whole).replace(NOTE, "")
        assert environment.from_string(without).render(x=True, a="A") == printed


@pytest.mark.timeout(60)
def test_a_flood_of_comments_takes_no_time():
    started = time.process_time()
    many = ignores_in("{# chatlint: ignore[a] x #}" * 5_000 + "{{ x }}")
    spaces = ignores_in("{# chatlint: ignore[a] x" + " " * 500_000 + "y #}{{ x }}")
    mixed = ignores_in("text\n{# chatlint: ignore[a] #}\n{%- if x %}{% endif %}" * 1_000)
    assert time.process_time() - started < 20
    assert len(many) == len(mixed) == limits.IGNORES + 1
    assert many[-1].rules == ()
    assert len(spaces) == 1


def judged(tmp_path, text, name="t.jinja", **settings):
    path = tmp_path / name
    path.write_text(text)
    return chatlint.check(path, cache=False, **settings)


def rules(report):
    return {one.rule for one in report.targets[0].all_findings}


def test_a_finding_is_kept_aside_with_the_reason(tmp_path):
    report = judged(tmp_path, put(2))
    (aside,) = report.targets[0].all_suppressed
    assert "forged-turns" in rules(judged(tmp_path, LOOP))
    assert rules(judged(tmp_path, put(2, NOTE.replace("{#", "{#-").replace("#}", "-#}")))) == rules(
        judged(tmp_path, LOOP)
    ) - {"forged-turns"}
    assert rules(report) >= rules(judged(tmp_path, LOOP)) - {"forged-turns"}
    assert (aside.rule, aside.suppressed.by, aside.suppressed.reason) == (
        "forged-turns",
        SuppressedBy.COMMENT,
        "our own input",
    )
    assert report.summary()["suppressed"] == 1
    assert report.to_dict()["targets"][0]["templates"][0]["suppressed"][0]["suppressed"]["line"] == 2


def test_it_holds_for_its_line_alone(tmp_path):
    assert "forged-turns" in rules(judged(tmp_path, put(4)))
    assert "unused-ignore" in rules(judged(tmp_path, put(4)))
    assert "forged-turns" not in rules(judged(tmp_path, put(1)))


def test_error_one_that_changes_the_prompt_is_not_obeyed(tmp_path):
    note = "{# chatlint: ignore[generation-prompt] so #}"
    found = rules(judged(tmp_path, put(3, note)))
    assert "ignore-changes-prompt" in found
    assert "unused-ignore" not in found
    text = put(3, note)
    before, after = (
        render_prompt(load(tmp_path / "t.jinja").templates[0], [{"role": "user", "content": "a"}]).text
        for written in (LOOP, text)
        if (tmp_path / "t.jinja").write_text(written)
    )
    assert before != after


def test_error_an_unknown_rule_is_named_with_the_nearest(tmp_path):
    report = judged(tmp_path, put(1, "{# chatlint: ignore[forged-turn] why #}"))
    (unused,) = [one for one in report.targets[0].all_findings if one.rule == "unused-ignore"]
    assert unused.message == "there is no rule 'forged-turn' to ignore: did you mean 'forged-turns'?"
    assert unused.location.line == 1


def test_error_a_comment_that_says_nothing(tmp_path):
    report = judged(tmp_path, put(1, "{# chatlint: ignore everything #}"))
    (unused,) = [one for one in report.targets[0].all_findings if one.rule == "unused-ignore"]
    assert "is not understood" in unused.message


def test_a_rule_that_was_not_asked_is_not_unused(tmp_path):
    note = "{# chatlint: ignore[tool-calls-lost] no tools #}"
    assert "unused-ignore" in rules(judged(tmp_path, put(1, note)))
    assert "unused-ignore" not in rules(judged(tmp_path, put(1, note), ignore=("tool-calls-lost",)))
    assert "unused-ignore" not in rules(judged(tmp_path, put(1, note), select=("CT301", "unused-ignore")))


def test_codes_are_names_too_but_prefixes_are_not(tmp_path):
    assert "forged-turns" not in rules(judged(tmp_path, put(1, "{# chatlint: ignore[CT901] so #}")))
    report = judged(tmp_path, put(1, "{# chatlint: ignore[CT9] so #}"))
    assert "forged-turns" in rules(report)
    assert "a comment ignores single rules, not all of CT9" in {
        one.message for one in report.targets[0].all_findings
    }
    note = "{# chatlint: ignore[CT402] no tools #}"
    assert "unused-ignore" not in rules(judged(tmp_path, put(1, note), ignore=("tool-calls-lost",)))


def test_no_comment_hides_that_a_comment_is_wrong(tmp_path):
    note = "{# chatlint: ignore[unused-ignore, tool-calls-lost] hush #}"
    report = judged(tmp_path, put(1, note))
    assert "unused-ignore" in rules(report)


def test_lines_are_those_of_the_template_inside_json(tmp_path):
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": put(2)}))
    report = chatlint.check(tmp_path, cache=False)
    assert [one.rule for one in report.targets[0].all_suppressed] == ["forged-turns"]


@pytest.mark.parametrize("settings", [{"untrusted": True}, {"profile": "security"}])
def test_the_author_of_a_template_from_elsewhere_is_not_its_judge(tmp_path, settings):
    report = judged(tmp_path, put(1), **settings)
    assert "forged-turns" in rules(report)
    assert report.targets[0].all_suppressed == ()


def test_nor_is_that_of_one_from_the_hub(tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text(put(1))
    package = load(path)
    template = package.templates[0]
    report = examine(question(template, package, Settings()), None)[0]
    report = placed(report, template, package, Settings())
    assert "forged-turns" in {one.rule for one in held(report, template, package, Settings()).suppressed}
    elsewhere = replace(package, target=Target(TargetKind.HUB, "org/model"))
    assert held(report, template, elsewhere, Settings()) == report


def test_no_comment_hides_what_the_user_asks_for(tmp_path):
    note = "{# chatlint: ignore[required-capability, CT121] no #}"
    assert "required-capability" in rules(judged(tmp_path, put(1, note), require="tools"))


def test_a_result_that_was_kept_is_as_a_fresh_one(tmp_path, monkeypatch):
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))
    path = tmp_path / "t.jinja"
    path.write_text(put(2))
    fresh, kept = (chatlint.check(path).to_dict() for _ in range(2))
    assert fresh == kept
