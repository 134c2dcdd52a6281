"""Expressions that wait do what compiled ones do."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re

import pytest

import chatlint
from chatlint.lazy import _Waiting, regex
from tests.house.source import modules, tree


def test_an_expression_waits_until_it_is_used():
    waiting = regex(r"(?P<word>\w+)", re.IGNORECASE)
    assert "match" not in vars(waiting)
    compiled = re.compile(r"(?P<word>\w+)", re.IGNORECASE)
    assert waiting.match("ab c")["word"] == compiled.match("ab c")["word"] == "ab"
    assert "match" in vars(waiting)
    assert [one.span() for one in waiting.finditer("ab c", 1)] == [(1, 2), (3, 4)]
    assert (waiting.pattern, waiting.flags, waiting.groups) == (compiled.pattern, compiled.flags, 1)


def test_error_for_a_wrong_expression_when_it_is_used():
    waiting = regex("(")
    with pytest.raises(re.error):
        waiting.match("a")


def expressions():
    """Every one that a module of chatlint names."""
    for module in pkgutil.walk_packages(chatlint.__path__, "chatlint."):
        if module.name in ("chatlint.__main__", "chatlint.engines.minijinja_program"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, _Waiting):
                yield f"{module.name}.{name}", value


def test_what_a_module_names_waits():
    named = [(path, one) for path in modules() for one in tree(path).body if isinstance(one, ast.Assign)]
    calls = [(path.name, one.lineno, ast.unparse(one.value)) for path, one in named]
    assert [call for call in calls if re.match(r"re\.compile\((?!.*\)\.\w+$)", call[2])] == []


def test_every_expression_that_waits_can_be_compiled():
    found = dict(expressions())
    assert len(found) > 100
    for name, waiting in found.items():
        assert isinstance(waiting.pattern, str), name
