"""Arguments of the library that are none: whose fault it is and what was expected, never an error from inside."""

from __future__ import annotations

from pathlib import Path

import pytest

import chatlint
from chatlint.errors import UsageError
from chatlint.parse.formats import OutputFormat
from chatlint.parse.message import assemble

FORMAT = OutputFormat(header="<|assistant|>", end_of_turn=("<|end|>",))
NO_TOOLS = ["tools", 3, {"type": "function"}, [3], ["look"], [None], iter([])]


@pytest.mark.parametrize("value", ["template", None, 3, {}, FORMAT], ids=repr)
def test_no_template(value):
    for take in (chatlint.learn_format, lambda it: chatlint.render_prompt(it, [])):
        with pytest.raises(UsageError, match="template: expected Template, found") as caught:
            take(value)
        assert "load" in caught.value.hint


@pytest.mark.parametrize("tools", NO_TOOLS, ids=lambda tools: repr(tools).partition(" at 0x")[0])
def test_no_tools(tools):
    for take in (FORMAT.parser, lambda tools: chatlint.export_format(FORMAT, "gbnf", tools=tools)):
        with pytest.raises(UsageError, match="tools must be a list of objects"):
            take(tools=tools)


@pytest.mark.parametrize("value", ["format", None, 3, {}], ids=repr)
def test_no_format(value):
    with pytest.raises(UsageError, match="format: expected OutputFormat, found"):
        chatlint.export_format(value, "vllm")


def test_no_text():
    with pytest.raises(UsageError, match="generation_prompt: expected str, found bytes"):
        FORMAT.parser(generation_prompt=b"<|assistant|>")
    with pytest.raises(UsageError, match="text: expected str, found bytes"):
        FORMAT.parser().parse(b"Hi")


CALLS = chatlint.learn_format(chatlint.load("corpus:qwen3").template())
WRITTEN = '<think>\nLet me see.\n</think>\n\nHere.\n<tool_call>\n{"name": "find", "arguments": {"id": "a b"}}\n</tool_call>'


@pytest.mark.parametrize("chunk", [3, None, b"", b"Hi", [], ["Hi"]], ids=repr)
def test_no_chunk_wherever_the_parser_stands(chunk):
    whole = CALLS.parser().parse(WRITTEN)
    for place in range(len(WRITTEN) + 1):
        parser = CALLS.parser()
        events = parser.feed(WRITTEN[:place])
        with pytest.raises(UsageError, match="chunk: expected str, found"):
            parser.feed(chunk)
        events += parser.feed(WRITTEN[place:]) + parser.finish()
        assert assemble(events) == whole


def test_no_bytes():
    parser = FORMAT.parser()
    for chunk in ("Hi", 3, None):
        with pytest.raises(UsageError, match="chunk: expected bytes, found"):
            parser.feed_bytes(chunk)
    assert assemble(parser.feed_bytes(b"Hi") + parser.finish())["content"] == "Hi"


def test_no_settings():
    template = chatlint.load("corpus:chatml").template()
    with pytest.raises(UsageError, match="settings: expected RenderSettings, found dict"):
        chatlint.learn_format(template, settings={"host": "transformers-5.24"})
    with pytest.raises(UsageError, match="settings: expected RenderSettings, found dict"):
        chatlint.render_prompt(template, [{"role": "user", "content": "Hi"}], settings={"thinking": True})


def test_tools_may_be_none_or_empty():
    for tools in (None, [], ()):
        assert FORMAT.parser(tools=tools).parse("Hi")["content"] == "Hi"


@pytest.mark.parametrize("value", [None, 3, b"corpus:chatml", ["corpus:chatml"]], ids=repr)
def test_no_target(value):
    for take in (chatlint.load, chatlint.check):
        with pytest.raises(UsageError, match="target: expected str, found"):
            take(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("revision", 3), ("template_file", 3), ("special_tokens_file", []), ("host", None)],
)
def test_no_option_of_load(name, value):
    with pytest.raises(UsageError, match=f"{name}: expected str, found"):
        chatlint.load("corpus:chatml", **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("select", 3),
        ("select", [3]),
        ("ignore", None),
        ("revision", 3),
        ("template", 3),
        ("special_tokens", {}),
        ("base", 3),
        ("host", None),
        ("fail_on", 3),
        ("profile", 3),
    ],
)
def test_no_option_of_check(name, value):
    with pytest.raises(UsageError, match=r"expected|no severity|no profile"):
        chatlint.check("corpus:chatml", **{name: value})


def test_one_rule_is_one_name():
    one = chatlint.check("corpus:chatml", select="double-bos", ignore="CT9")
    assert one.settings.select == ("double-bos",)
    assert one.settings.ignore == ("CT9",)
    with pytest.raises(UsageError, match="no rule fits 'sintax'"):
        chatlint.check("corpus:chatml", select="sintax", cache=False)


def test_revision_and_offline_come_second_and_third(tmp_path):
    """`load(target, revision, offline)`, as DESIGN has it."""
    with pytest.raises(UsageError, match="is not on the Hub and has no revision 'v1'"):
        chatlint.load("corpus:chatml", "v1")
    assert chatlint.load("corpus:chatml", None, True).templates


def test_a_path_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("org/model", "model", "-", "corpus:chatml"):
        with pytest.raises(chatlint.TargetError, match="there is no file or directory"):
            chatlint.load(Path(name))
        assert chatlint.check(Path(name)).targets[0].failure.message.startswith("there is no file")
    (tmp_path / "-").write_text("{{ messages[0].content }}")
    (tmp_path / "mine.jinja").write_text("{{ messages[0].content }}")
    assert chatlint.load(Path("-")).template().text == chatlint.load(Path("mine.jinja")).template().text
    assert chatlint.check(Path("mine.jinja")).targets[0].target == "mine.jinja"
    report = chatlint.check("corpus:chatml", template=tmp_path / "mine.jinja")
    assert report.settings.template == str(tmp_path / "mine.jinja")
