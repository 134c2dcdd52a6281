"""Real-shaped outputs of real templates, read with the formats learned from those templates.

How the cases' flags are mapped:

| flag | here |
|---|---|
| `reasoning_format: none` | `reasoning=False`: reasoning stays in the content |
| `reasoning_format: auto, deepseek` | reasoning is set apart |
| `tool_choice`, `parallel_tool_calls` | nothing: they constrain the model, not the reading |
| `enable_thinking`, `add_generation_prompt`, `continue_final_message` | contained in `generation_prompt` |
| `is_partial` | the arguments of the last call are compared as the text they are |
| `json_schema` | llama.cpp unwraps a fenced answer; our parser leaves content as it is, so the test unwraps it |
| `expect_reconstruction` | nothing: `verify` holds that the history begins with prompt and text |
"""

from __future__ import annotations

import json
import re
from functools import cache

import pytest

from chatlint.parse.message import assemble
from tests.conftest import SHARED
from tests.infer.learned import learned_from, real, template

CASES = SHARED / "parse_cases.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()] if CASES.exists() else []
FENCED = re.compile(r"\A```(?:json)?\n(.*)\n```\Z", re.DOTALL)


@cache
def format_of(name):
    """The format learned from the template of that name, without special tokens, as the cases have it."""
    files = {row["llama_cpp_name"]: file for file, row in real(SHARED).items()}
    text = (SHARED / "templates" / files[name]).read_text(encoding="utf-8")
    return learned_from(template(text, {"bos_token": "", "eos_token": ""}))[1]


def plain(message, case):
    """Content, reasoning and flat calls, their arguments decoded where they are whole."""
    content = message.get("content") or ""
    if case["flags"]["json_schema"]:
        content = FENCED.sub(r"\1", content)
    calls = [call.get("function", call) | {"id": call["id"]} for call in message.get("tool_calls") or []]
    return (
        content,
        message.get("reasoning_content") or "",
        [(call["name"], decoded(call["arguments"], case), call["id"]) for call in calls],
    )


def decoded(arguments, case):
    return arguments.strip() if case["flags"]["is_partial"] else json.loads(arguments)


def parser(case):
    tools = [tool if "function" in tool else {"type": "function", "function": tool} for tool in case["tools"]]
    return format_of(case["template"]).parser(
        tools=tools or None,
        generation_prompt=case["generation_prompt"],
        reasoning=case["flags"]["reasoning_format"] != "none",
    )


@pytest.mark.skipif(not ROWS, reason="needs ../shared/parse_cases.jsonl, which is not part of the project")
def test_every_case_is_there():
    assert len(ROWS) == 81


@pytest.mark.parametrize("case", ROWS, ids=[row["id"] for row in ROWS])
def test_whole(case):
    assert plain(parser(case).parse(case["input"]), case) == plain(case["expect"], case)


@pytest.mark.parametrize("case", ROWS, ids=[row["id"] for row in ROWS])
def test_one_character_at_a_time(case):
    reader = parser(case)
    events = [event for character in case["input"] for event in reader.feed(character)]
    assert plain(assemble([*events, *reader.finish()]), case) == plain(case["expect"], case)
