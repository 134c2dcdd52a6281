"""Generality is the product: what renders, detects, learns, reads and verifies knows no model family.

Docstrings and comments may quote a family as the source of a fact; code may not branch on one.
"""

from __future__ import annotations

import re

import pytest

from tests.house.source import PACKAGE, named, strings, tree

ROOMS = ("render", "detect", "infer", "parse", "verify")

FAMILIES = (
    "apertus", "aya", "baichuan", "chatglm", "chatml", "cohere", "command-r", "dbrx", "deepseek", "dsml",
    "ernie", "exaone", "falcon", "functionary", "gemma", "gpt-oss", "granite", "harmony", "hermes", "hunyuan",
    "internlm", "jamba", "kimi", "lfm2", "llama", "magistral", "minicpm", "minimax", "ministral", "mistral",
    "mixtral", "muse", "nemotron", "olmo", "openchat", "orion", "phi", "qwen", "qwq", "seed-oss", "smollm",
    "solar", "starling", "step3", "tekken", "vicuna", "xlam", "zephyr", "atem",
)  # fmt: skip
FAMILY = re.compile(r"(?<![a-z])(" + "|".join(FAMILIES) + r")(?![a-z])", re.I)

ENGINES = re.compile(r"llama[._ -]?cpp|llamacpp", re.I)
"""An engine's name is not a family's."""

MARKERS = (
    re.compile(r"<[|｜][^<>]*[|｜]>"),
    re.compile(r"\[/?[A-Z]{3,}(?:_[A-Z]+)*\]"),
    re.compile(
        r"</?(?:think|thinking|tool_calls?|tool_response|function|parameter|invoke|arg_key|arg_value)\b"
    ),
    re.compile(r"<(?:start|end)_of_turn>|functools\["),
)


def code(room):
    for path in sorted((PACKAGE / room).rglob("*.py")):
        yield from ((path, line, text) for line, text in named(path))
        yield from ((path, line, text) for line, text in strings(path))


@pytest.mark.parametrize("room", ROOMS)
def test_no_family_is_named(room):
    found = [
        f"{path.name}:{line} {text!r}"
        for path, line, text in code(room)
        if FAMILY.search(ENGINES.sub("", text))
    ]
    assert not found


@pytest.mark.parametrize("room", ROOMS)
def test_no_format_marker_is_written(room):
    found = [
        f"{path.name}:{line} {text!r}"
        for path, line, text in code(room)
        if any(marker.search(text) for marker in MARKERS)
    ]
    assert not found


@pytest.mark.parametrize(
    "text", ["<|im_start|>", "[TOOL_CALLS]", "</think>", "<tool_call>", "<start_of_turn>"]
)
def test_the_markers_of_the_field_are_known(text):
    assert any(marker.search(text) for marker in MARKERS)


def test_the_rooms_exist():
    assert all(tree(PACKAGE / room / "__init__.py") for room in ROOMS)
