"""What a template would use to get out of the sandbox, and no chat template needs.

Attributes with two underscores and those of frames and functions lead from any value to the interpreter; so
do Jinja's globals that are Python objects. Names that are put together from pieces are read as the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jinja2 import nodes

from chatlint.lazy import regex
from chatlint.render.syntax import Use

_WAY_OUT = regex(
    r"__\w+__|(?:gi|cr|ag|tb)_(?:frame|code)|f_(?:globals|locals|builtins|back|code)|func_(?:globals|code)|mro"
)
_IN_FORMAT = regex(r"\{[^{}]{0,80}[.\[]__\w{1,40}__[^{}]{0,80}\}")
_GLOBALS = frozenset(
    {"self", "cycler", "joiner", "lipsum", "request", "config", "application", "session", "url_for"}
    | {"get_flashed_messages", "__builtins__"}
)
"""Python objects that Jinja or a web framework gives to templates."""
_BY_NAME = frozenset({"attr", "map", "selectattr", "rejectattr", "groupby", "sort", "sum", "unique"})
"""Filters that read an attribute whose name they are given."""


def escapes_of(kinds: Mapping[type[nodes.Node], list[nodes.Node]]) -> tuple[Use, ...]:
    """Every way out that is named, by line. `kinds` has a tree's nodes by class."""
    found = [
        Use(name, node.lineno)
        for kind in (nodes.Getattr, nodes.Getitem, nodes.Filter, nodes.Const)
        for node in kinds.get(kind, ())
        for name in _named(node)
    ]
    names = [node for node in kinds.get(nodes.Name, ()) if isinstance(node, nodes.Name)]
    globals_ = [node for node in names if node.name in _GLOBALS]
    own = {node.name for node in globals_ if node.ctx != "load"}
    found += [Use(node.name, node.lineno) for node in globals_ if node.name not in own]
    return tuple(sorted(found, key=lambda use: use.line))


def _named(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Getattr):
        yield from _found(node.attr)
    elif isinstance(node, nodes.Getitem):
        yield from _found(_text(node.arg))
    elif isinstance(node, nodes.Filter) and node.name in _BY_NAME:
        for argument in (*node.args, *(keyword.value for keyword in node.kwargs)):
            for step in _text(argument).split("."):
                yield from _found(step)
    elif isinstance(node, nodes.Const) and isinstance(node.value, str):
        match = _IN_FORMAT.search(node.value) if "__" in node.value else None
        if match:
            yield match.group()


def _found(name: str) -> Iterator[str]:
    if ("_" in name and _WAY_OUT.fullmatch(name)) or name == "mro":
        yield name


def _text(node: nodes.Node | None) -> str:
    """The text of a constant, or of constants put together by `~` and `+`."""
    if isinstance(node, nodes.Const):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, nodes.Add):
        return _text(node.left) + _text(node.right)
    if isinstance(node, nodes.Concat):
        return "".join(map(_text, node.nodes))
    return ""
