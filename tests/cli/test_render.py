"""`chatlint render`: the exact prompt to a pipe, the coloured one to a person, and what is said instead of one."""

from __future__ import annotations

import json
import sys

import pytest

from chatlint import check
from chatlint.probe.trace import Trace
from chatlint.source.bundled import corpus_names
from chatlint.source.load import load

ECHO = "{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ '\\n' }}{% endfor %}"
ECHO += "{% if tools %}{{ tools | length }}{% endif %}{{ style }}{% if add_generation_prompt %}<assistant>{% endif %}"


@pytest.fixture
def template(tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text(ECHO)
    return path


@pytest.fixture
def messages(tmp_path):
    path = tmp_path / "m.json"
    path.write_text(json.dumps([{"role": "user", "content": "Grüße\x1b[31m"}]))
    return path


def test_to_a_pipe_it_is_the_exact_prompt(chatlint, template, messages):
    done = chatlint("render", template, "--messages", messages)
    assert (done.status, done.out, done.err) == (0, "<bos_token><user>Grüße\x1b[31m\n<assistant>", "")


def test_without_a_generation_prompt(chatlint, template, messages):
    done = chatlint("render", template, "--messages", messages, "--no-generation-prompt")
    assert done.out == "<bos_token><user>Grüße\x1b[31m\n"


def test_a_probe_is_a_conversation_too(chatlint, template, messages, tmp_path):
    inner = {"messages": json.loads(messages.read_text())}
    (tmp_path / "p.json").write_text(json.dumps({"id": "a/b", "title": "", "why": "", "conversation": inner}))
    alike = [chatlint("render", template, "--messages", file).out for file in (messages, "p.json")]
    assert alike[0] == alike[1]


def test_tools_and_kwargs(chatlint, template, messages, tmp_path):
    (tmp_path / "tools.json").write_text('{"tools": [{"type": "function", "function": {"name": "f"}}]}')
    done = chatlint(
        "render", template, "--messages", messages, "--tools", "tools.json", "--kwargs", '{"style": "!"}'
    )
    assert done.out.endswith("\n1!<assistant>")


def test_a_whole_conversation_in_one_file(chatlint, template, tmp_path):
    (tmp_path / "c.json").write_text(
        '{"messages": [{"role": "a"}], "tools": [{}], "template_kwargs": {"style": "?"}}'
    )
    assert chatlint("render", template, "--messages", "c.json").out == "<bos_token><a>\n1?<assistant>"


def test_a_person_never_gets_control_characters(chatlint, template, messages):
    done = chatlint("render", template, "--messages", messages, "--color", "always")
    assert "\x1b[32mGrüße␛[31m\x1b[0m" in done.out
    assert "\x1b[33m⏎\x1b[0m\n" in done.out
    assert "\x1b[1;35m<bos_token>" in done.out


def test_spans_name_every_origin(chatlint, template, messages):
    rows = [
        line.split()
        for line in chatlint("render", template, "--messages", messages, "--spans").out.splitlines()
    ]
    assert rows[0] == ["0-11", "special", "bos_token", "<bos_token>"]
    assert ["12-16", "input", "/messages/0/role", "user"] in rows


def test_spans_as_json(chatlint, template, messages):
    rendered = json.loads(chatlint("render", template, "--messages", messages, "--format", "json").out)
    ends = [(span["start"], span["end"]) for span in rendered["spans"]]
    assert [start for start, _ in ends] == [0, *(end for _, end in ends[:-1])]
    assert ends[-1][1] == len(rendered["text"])


def test_a_case_as_findings_name_it(chatlint, template):
    assert chatlint("render", template, "--probe", "roles/user").out == "<bos_token><user>Walnut\n<assistant>"
    assert (
        chatlint("render", template, "--probe", "roles/user@generation=off").out
        == "<bos_token><user>Walnut\n"
    )


def test_a_case_that_a_rule_made_for_this_template(chatlint, tmp_path):
    path = tmp_path / "slow.jinja"
    path.write_text(
        "{% for m in messages %}{% for n in messages %}{% endfor %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    )
    done = chatlint("render", path, "--probe", "scaling/messages-100")
    assert (done.status, done.out[:30]) == (0, "<|user|>Walnut<|assistant|>Jun")
    done = chatlint("render", path, "--probe", "scaling/messages-99")
    assert (done.status, done.out) == (2, "")
    assert "there is no probe 'scaling/messages-99'" in done.err


@pytest.mark.parametrize("name", corpus_names())
def test_every_case_of_a_report_can_be_rendered(name):
    from chatlint.cli.render import _case

    package, report = load(f"corpus:{name}"), check(f"corpus:{name}").to_dict()["targets"][0]
    for template, told in zip(package.templates, report["templates"], strict=True):
        named = list(dict.fromkeys(_named(told)))
        assert named
        with Trace(template) as trace:
            assert [_case(package, trace, case).id for case in named] == named


def _named(value):
    """Case ids anywhere in a report."""
    if isinstance(value, dict):
        for name, member in value.items():
            if name in ("evidence", "cases") and isinstance(member, list):
                yield from (item for item in member if isinstance(item, str))
            elif name == "case":
                yield member
            yield from _named(member)
    elif isinstance(value, list):
        for item in value:
            yield from _named(item)


def test_a_refusal_is_said_and_is_1(chatlint, tmp_path):
    path = tmp_path / "no.jinja"
    path.write_text("{{ raise_exception('no system here') }}")
    done = chatlint("render", path)
    assert (done.status, done.out) == (1, "")
    assert "the template declines this conversation (line 1): no system here" in " ".join(done.err.split())


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--messages", "missing.json"], 2, "there is no file missing.json"),
        (["--messages", "t.jinja"], 2, "t.jinja is not JSON"),
        (["--messages", "m.json", "--probe", "roles/user"], 2, "two conversations"),
        (["--messages", "empty.json"], 2, "empty.json is empty"),
        (["--messages", "m.json", "--tools", "t.json"], 2, '[{"type": "function"'),
        (["--messages", "-", "--tools", "-"], 2, "standard input is named twice"),
        (["--messages", "deep.json"], 2, "nested too deep"),
        (["--kwargs", "[]"], 2, "--kwargs: an object was expected, not []"),
        (["--kwargs", "{"], 2, "--kwargs is not JSON"),
        (["--probe", "roles/usr"], 2, "did you mean roles/user"),
        (["--probe", "roles/user@generation=no"], 2, "it has on, off"),
        (["--name", "tool_use"], 2, "no template 'tool_use'"),
        (["--special-tokens", "missing.json"], 2, "missing.json"),
    ],
)
def test_error_says_what_to_do(chatlint, template, messages, tmp_path, arguments, status, said):
    (tmp_path / "empty.json").write_text("\n", encoding="utf-8")
    (tmp_path / "t.json").write_text("{}", encoding="utf-8")
    (tmp_path / "deep.json").write_text("[" * 100_000, encoding="utf-8")
    done = chatlint("render", template, *arguments)
    assert (done.status, done.out) == (status, "")
    assert said in " ".join(done.err.split())


def test_a_byte_order_mark_is_no_part_of_the_messages(chatlint, template, tmp_path):
    (tmp_path / "bom.json").write_text('[{"role": "user", "content": "hi"}]', encoding="utf-8-sig")
    assert "<user>hi" in chatlint("render", template, "--messages", "bom.json").out


def test_messages_from_standard_input(chatlint, template, monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO('[{"role": "user", "content": "hi"}]'))
    assert chatlint("render", template, "--messages", "-").out == "<bos_token><user>hi\n<assistant>"
