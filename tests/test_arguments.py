"""Arguments of the library that are none: whose fault it is and what was expected, never an error from inside."""

from __future__ import annotations

import pytest

import chatlint
from chatlint.errors import UsageError
from chatlint.parse.formats import OutputFormat

FORMAT = OutputFormat(header="<|assistant|>", end_of_turn=("<|end|>",))
NO_TOOLS = ["tools", 3, {"type": "function"}, [3], ["look"], [None], iter([])]


@pytest.mark.parametrize("value", ["template", None, 3, {}, FORMAT], ids=repr)
def test_no_template(value):
    for take in (chatlint.learn_format, lambda it: chatlint.render_prompt(it, [])):
        with pytest.raises(UsageError, match="template: expected Template, found") as caught:
            take(value)
        assert "load" in caught.value.hint


@pytest.mark.parametrize("tools", NO_TOOLS, ids=repr)
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


def test_no_settings():
    template = chatlint.load("corpus:chatml").template()
    with pytest.raises(UsageError, match="settings: expected RenderSettings, found dict"):
        chatlint.learn_format(template, settings={"host": "transformers-5.24"})


def test_tools_may_be_none_or_empty():
    for tools in (None, [], ()):
        assert FORMAT.parser(tools=tools).parse("Hi")["content"] == "Hi"
