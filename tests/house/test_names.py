"""The names that users rely on, pinned; and none of them hides a room."""

from __future__ import annotations

import ast
import subprocess
import sys

import chatlint
from tests.house.source import PACKAGE, tree

PUBLIC = [
    "ArgumentsDelta",
    "Capability",
    "ChatlintError",
    "Computed",
    "ContentDelta",
    "Conversation",
    "EndOfTurn",
    "FailOn",
    "Finding",
    "Input",
    "InternalError",
    "Literal",
    "NoTemplateError",
    "OutputFormat",
    "OutputParser",
    "Package",
    "Profile",
    "Prompt",
    "ReasoningDelta",
    "RenderSettings",
    "Report",
    "Settings",
    "Severity",
    "Span",
    "Special",
    "Support",
    "TargetError",
    "TargetReport",
    "Template",
    "TemplateError",
    "TemplateReport",
    "ToolCallEnd",
    "ToolCallStart",
    "UsageError",
    "__version__",
    "check",
    "export_format",
    "learn_format",
    "load",
    "render_prompt",
]


def rooms():
    return {
        path.stem
        for path in PACKAGE.iterdir()
        if path.name != "__pycache__" and not path.stem.startswith("_")
    }


def test_the_exported_names():
    assert chatlint.__all__ == PUBLIC


def test_every_name_is_there_and_documented():
    for name in PUBLIC:
        value = getattr(chatlint, name)
        assert name.startswith("__") or (value.__doc__ or "").strip(), name


def test_type_checkers_see_the_same_names():
    guarded = next(node for node in tree(PACKAGE / "__init__.py").body if isinstance(node, ast.If))
    seen = [alias.asname for statement in guarded.body for alias in statement.names]
    assert sorted(["__version__", *seen]) == PUBLIC


def test_no_name_hides_a_room():
    assert rooms().isdisjoint(PUBLIC)
    assert len(rooms()) > 15


def test_importing_chatlint_imports_no_room():
    code = (
        "import sys; import chatlint; print(*(name for name in sys.modules if name.startswith('chatlint')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["chatlint"]
