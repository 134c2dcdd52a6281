"""`chatlint export`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chatlint.export.targets import ExportTarget, export_format
from tests.export.gbnf_machine import Machine

ROOT = Path(__file__).parents[2]
TOOLS = [
    {"type": "function", "function": {"name": "look", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}},
    {"type": "function", "function": {"name": "rest", "parameters": {"type": "object", "properties": {}}}},
]  # fmt: skip
CALL = '<tool_call>\n{"name": "look", "arguments": {"city": "Oslo"}}\n</tool_call>'


@pytest.fixture
def tools(tmp_path):
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}), encoding="utf-8")
    return str(tmp_path / "tools.json")


@pytest.mark.parametrize("to", ExportTarget)
def test_every_target_is_written(chatlint, tools, to):
    done = chatlint("export", "corpus:qwen3", "--to", to, "--tools", tools)
    assert (done.status, done.err) == (0, "")
    assert done.out


@pytest.mark.parametrize("to", ["gbnf", "llama.cpp-request", "lark"])
def test_a_grammar_that_takes_anything_is_noted(chatlint, tmp_path, to):
    (tmp_path / "s.json").write_text('{"type": "object"}')
    done = chatlint("export", "corpus:chatml", "--to", to)
    assert done.status == 0
    assert done.err == "note: the template shows no tool calls, so the grammar takes any answer\n"
    assert chatlint("export", "corpus:chatml", "--to", to, "--schema", "s.json").err == ""
    assert chatlint("export", "corpus:qwen3", "--to", to).err == ""
    assert chatlint("export", "corpus:chatml", "--to", "vllm").err == ""


def test_tools_without_a_form_of_calls_are_noted(chatlint, tools):
    done = chatlint("export", "corpus:chatml", "--to", "lark", "--tools", tools)
    assert done.status == 0
    assert "shows no tool calls" in done.err


def test_every_target_is_documented(chatlint):
    told = " ".join(chatlint("export", "--help").out.split())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    row = next(line for line in readme.splitlines() if line.startswith("| `chatlint export"))
    assert [to for to in ExportTarget if to not in told or f"`{to}`" not in row] == []
    assert [to for to in ExportTarget if to not in (export_format.__doc__ or "")] == []


def test_flags_name_the_package_own_tokens_and_stops(chatlint):
    out = chatlint("export", "corpus:harmony", "--to", "vllm").out
    assert out.startswith(
        "--enable-auto-tool-choice --tool-call-parser openai --reasoning-parser openai_gptoss\n"
    )
    assert "# stop at: <|return|>" in out
    assert "# tokens to keep in the output: <|channel|> <|message|>" in out


def test_the_prompt_is_that_of_the_request(chatlint, tools):
    """With thinking off the prompt has closed the reasoning: nothing of it is left to write."""
    grammars = [
        chatlint(
            "export", "corpus:qwen3", "--to", "gbnf", "--tools", tools, "--tool-choice", "required", *more
        ).out
        for more in ((), ("--kwargs", '{"enable_thinking": false}'))
    ]
    on, off = map(Machine, grammars)
    assert on.read(CALL) == off.read(CALL) == "accepted"
    assert on.read("<think>\nHm.\n</think>\n\n" + CALL) == "accepted"
    assert off.read("<think>\nHm.").startswith("refused")


def test_one_tool_once(chatlint, tools):
    options = ("--tools", tools, "--tool-choice", "look", "--no-parallel")
    grammar = chatlint("export", "corpus:qwen3", "--to", "gbnf", *options).out
    asked = json.loads(chatlint("export", "corpus:qwen3", "--to", "llama.cpp-request", *options).out)
    assert (asked["grammar"], asked["grammar_lazy"]) == (grammar, False)
    assert Machine(grammar).read(CALL) == "accepted"
    assert Machine(grammar).read(f"{CALL}\n{CALL}").startswith("refused")
    assert Machine(grammar).read(CALL.replace("look", "rest")).startswith("refused")


def test_what_cannot_be_expressed_is_the_request_fault(chatlint, tools, tmp_path):
    done = chatlint("export", "corpus:apertus", "--to", "response-template")
    assert (done.status, done.out) == (2, "")
    assert "only key of each call" in " ".join(done.err.split())
    (tmp_path / "schema.json").write_text('{"type": "object"}', encoding="utf-8")
    schema = ("--schema", str(tmp_path / "schema.json"))
    done = chatlint("export", "corpus:qwen3", "--to", "lark", "--tools", tools, *schema)
    assert done.status == 2
    assert "two hard constraints" in " ".join(done.err.split())
    assert chatlint("export", "corpus:qwen3", "--to", "lark", *schema).status == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("corpus:qwen3", "--to", "vlm"), 2),
        (("corpus:qwen3", "--to", "gbnf", "--tools", "missing.json"), 2),
        (("corpus:qwen3", "--to", "gbnf", "--tool-choice", "look"), 0),
        (("missing-model", "--to", "vllm"), 3),
    ],
)
def test_exit_status(chatlint, arguments, code):
    done = chatlint("export", *arguments)
    assert done.status == code
    assert (done.out == "") is (code != 0)
