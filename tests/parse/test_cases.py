"""Model outputs shaped like real ones and the messages they must read as: `parse_cases.jsonl`.

How the cases' flags are mapped:

    reasoning_format none      parser(reasoning=False)
    generation_prompt          parser(generation_prompt=…), also where a message is continued
    tools []                   no tools
    calls                      flat there, nested here; arguments are compared as JSON
    is_partial                 253: the text stops inside a call; arguments are compared as text, they are cut
    json_schema                031: the answer is asked for by a schema, and the case wants it without its fence.
                               A parser knows of no schema: the fence is content. The test takes it off, as a
                               server would that asked for JSON.
    enable_thinking, tool_choice, parallel_tool_calls, add_generation_prompt, continue_final_message
                               are in the prompt already
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from chatlint.parse.formats import OutputFormat, Reasoning, Syntax, ToolCalls
from chatlint.parse.message import assemble
from tests.conftest import SHARED
from tests.parse.catalogue import CATALOGUE, JSON_BODY
from tests.parse.reading import check_events, chunks_of, decoded, stream

NEMOTRON = OutputFormat(
    header="<SPECIAL_11>Assistant\n", reasoning=Reasoning("<think>\n", "</think>"), end_of_turn=("<SPECIAL_12>",),
    tool_calls=ToolCalls(section_start="<TOOLCALL>[", section_end="]</TOOLCALL>", separator=", ", body=JSON_BODY),
)  # fmt: skip
FUNCTIONARY = OutputFormat(
    header="<|start_header_id|>assistant<|end_header_id|>\n\n", end_of_turn=("<|eot_id|>", "<|eom_id|>"),
    tool_calls=ToolCalls(call_start="<function=", body="⟨name⟩>⟨arguments⟩", call_end="</function>", syntax=Syntax.TEXT),
)  # fmt: skip
DEVSTRAL = OutputFormat(
    tool_calls=ToolCalls(call_start="[TOOL_CALLS]", body="⟨name⟩[ARGS]⟨arguments⟩", syntax=Syntax.TEXT),
    end_of_turn=("</s>",),
)
FORMATS = {
    "mistralai-Ministral-3-14B-Reasoning-2512.jinja": CATALOGUE["mistral_v11_args"].output,
    "google-gemma-4-31B-it.jinja": CATALOGUE["gemma4"].output,
    "Qwen-QwQ-32B.jinja": replace(
        CATALOGUE["hermes_json"].output, reasoning=Reasoning("<think>", "</think>")
    ),
    "deepseek-ai-DeepSeek-V4.jinja": CATALOGUE["deepseek_v4_dsml"].output,
    "moonshotai-Kimi-K2.jinja": CATALOGUE["kimi_k2"].output,
    "LFM2-8B-A1B.jinja": CATALOGUE["lfm2_pythonic"].output,
    "NVIDIA-Nemotron-Nano-v2.jinja": NEMOTRON,
    "meetkai-functionary-medium-v3.1.jinja": FUNCTIONARY,
    "unsloth-mistral-Devstral-Small-2507.jinja": DEVSTRAL,
}
"""By template, as one would write them down from its text."""

CASES = (
    [json.loads(line) for line in (SHARED / "parse_cases.jsonl").read_text().splitlines()]
    if SHARED.is_dir()
    else []
)


def fence_taken_off(content: str) -> str:
    """The JSON inside a fence."""
    return content.removeprefix("```json").removesuffix("```").strip()


def check(case: dict, output: OutputFormat, size: int) -> None:
    """One case, its text in chunks of one size."""
    wants_none = case["flags"]["reasoning_format"] == "none"
    settings = {
        "tools": case["tools"],
        "generation_prompt": case["generation_prompt"],
        "reasoning": not wants_none,
    }
    events = stream(output, chunks_of(case["input"], size), **settings)
    check_events(events)
    message, want = assemble(events), case["expect"]
    content = fence_taken_off(message["content"]) if case["flags"]["json_schema"] else message["content"]
    calls = [
        (call["id"], call["function"]["name"], decoded(call["function"]["arguments"]))
        for call in message["tool_calls"]
    ]
    assert content == want["content"]
    assert message["reasoning_content"] == want["reasoning_content"]
    assert calls == [(call["id"], call["name"], decoded(call["arguments"])) for call in want["tool_calls"]]


def test_all_are_here(shared: Path) -> None:
    assert len(CASES) == 81
    assert {case["template"] for case in CASES} == set(FORMATS)


@pytest.mark.parametrize("size", [1, 3, 1_000_000], ids=["by character", "by three", "whole"])
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict, size: int) -> None:
    check(case, FORMATS[case["template"]], size)


@pytest.mark.parametrize("size", [1, 1_000_000], ids=["by character", "whole"])
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if "LFM2" in case["template"] or "Kimi" in case["template"]],
    ids=lambda case: case["id"],
)
def test_case_where_the_template_is_silent(case: dict, size: int) -> None:
    """These templates never render calls, or reasoning: the same must be read by guesses."""
    output = FORMATS[case["template"]]
    silent = (
        replace(output, tool_calls=None) if "LFM2" in case["template"] else replace(output, reasoning=None)
    )
    check(case, silent, size)
