"""The code keeps its shape: short functions, short files, names that say something."""

from __future__ import annotations

import re
import statistics

import pytest

from tests.conftest import ROOT
from tests.house.source import functions, length, modules, named

FORBIDDEN_MODULES = {"utils", "util", "helpers", "helper", "core", "types", "manager", "common", "misc"}
FORBIDDEN_WORDS = re.compile(r"handler|manager|Processor$|helper|(?:^|_)utils?(?:_|$)|issue|violation", re.I)
"""Not "processor": that is transformers' own word, and its files speak of processors."""


def place(path, line=None):
    return f"{path.relative_to(ROOT)}" + (f":{line}" if line else "")


def test_no_function_is_longer_than_60_lines():
    long = [
        f"{place(path, node.lineno)} {node.name}: {node.end_lineno - node.lineno + 1} lines"
        for path in modules()
        for node in functions(path)
        if node.end_lineno - node.lineno + 1 > 60
    ]
    assert not long


def test_the_median_function_is_shorter_than_8_lines():
    assert statistics.median(length(node) for path in modules() for node in functions(path)) < 8


def test_no_file_is_longer_than_400_lines():
    lengths = {place(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {path: lines for path, lines in lengths.items() if lines > 400} == {}


@pytest.mark.parametrize("folder", ["chatlint", "tests"])
def test_no_module_has_a_name_that_says_nothing(folder):
    assert [place(path) for path in (ROOT / folder).rglob("*.py") if path.stem in FORBIDDEN_MODULES] == []


def test_names_use_the_words_of_the_house():
    found = [
        f"{place(path, line)} {name}"
        for path in modules()
        for line, name in named(path)
        if FORBIDDEN_WORDS.search(name)
    ]
    assert not found
