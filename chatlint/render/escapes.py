"""What a template would use to get out of the sandbox, and no chat template needs.

Attributes with two underscores and those of frames and functions lead from any value to the interpreter; so
do Jinja's globals that are Python objects. Names that are put together from pieces are read as the whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import nodes

from chatlint.lazy import regex
from chatlint.render.syntax import Use
from chatlint.render.tree import Tree

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


def escapes_of(tree: Tree) -> tuple[Use, ...]:
    """Every way out that is named, by line."""
    found = [Use(name, node.lineno) for node, name in _named(tree) if _is_way_out(name)]
    found += [
        Use(match.group(), node.lineno)
        for node in tree.of(nodes.Const)
        if isinstance(node.value, str) and "__" in node.value and (match := _IN_FORMAT.search(node.value))
    ]
    globals_ = [node for node in tree.of(nodes.Name) if node.name in _GLOBALS]
    own = {node.name for node in globals_ if node.ctx != "load"}
    found += [Use(node.name, node.lineno) for node in globals_ if node.name not in own]
    return tuple(sorted(found, key=lambda use: use.line))


def _named(tree: Tree) -> Iterator[tuple[nodes.Node, str]]:
    """The names of attributes that are read."""
    for attribute in tree.of(nodes.Getattr):
        yield attribute, attribute.attr
    for item in tree.of(nodes.Getitem):
        yield item, _text(item.arg)
    for reading in tree.of(nodes.Filter):
        if reading.name in _BY_NAME:
            for argument in (*reading.args, *(keyword.value for keyword in reading.kwargs)):
                for step in _text(argument).split("."):
                    yield reading, step


def _is_way_out(name: str) -> bool:
    return name == "mro" or ("_" in name and _WAY_OUT.fullmatch(name) is not None)


def _text(node: nodes.Node | None) -> str:
    """The text of a constant, or of constants put together by `~` and `+`."""
    if type(node) is nodes.Const:
        return node.value if isinstance(node.value, str) else ""
    if type(node) is nodes.Add:
        return _text(node.left) + _text(node.right)
    if type(node) is nodes.Concat:
        return "".join(map(_text, node.nodes))
    return ""
