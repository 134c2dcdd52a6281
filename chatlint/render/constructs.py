"""Constructs of Jinja that engines do not agree on: which of them a template uses, and where first.

Only what the text alone decides: what depends on values (a number that is whole, a text with accents) a
render would have to show. What each engine makes of a construct is a table of the room `engines`; here it
only has a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from jinja2 import nodes

from chatlint.lazy import regex
from chatlint.render.grammar import children
from chatlint.render.syntax import Use
from chatlint.render.tree import Tree
from chatlint.render.trimming import tags_in

_STRIPS = frozenset({"strip", "lstrip", "rstrip"})
_JSON_OPTIONS = frozenset({"ensure_ascii", "separators", "sort_keys"})
_TEST_WITH_VALUE = frozenset(
    {"in", "eq", "equalto", "ne", "gt", "ge", "lt", "le", "greaterthan", "lessthan", "sameas", "divisibleby"}
)
_GLOBALS = frozenset({"joiner", "cycler", "lipsum", "dict"})
_LOOP = frozenset({"cycle", "changed", "depth", "depth0"})
_MACRO_NAMES = frozenset({"varargs", "kwargs"})
_USUAL_CODES = frozenset("YmdbBHM%")
_ESCAPE = regex(r"""\\(?:\\|(x[0-9a-fA-F]{2})|([^nrtuNxbfav0-7U'"\\\n]))""")
_ODD_ESCAPE = regex(r"""\\(?:x[0-9a-fA-F]{2}|[^nrtuNxbfav0-7U'"\\\n])""")
"""Where `_ESCAPE` may find one of them, wherever it begins."""
_FIRST_ALONE = regex(r"\s+\{[%{#](?!-)|[^\s{]\s*\{[%{#]")
_ORDERS = frozenset({"lt", "lteq", "gt", "gteq"})


def constructs_of(
    tree: Tree, source: str, dead: Collection[int] = ()
) -> tuple[tuple[Use, ...], tuple[Use, ...]]:
    """Each construct that is used, with the line of its first use, by line, and those that only nodes have
    which are never reached. `dead` has the ids of those nodes."""
    every = _first_uses(tree, source)
    if not dead:
        return _by_line(every), ()
    first = _first_uses(tree.without(dead), source)
    return _by_line(first), _by_line({name: line for name, line in every.items() if name not in first})


def _by_line(first: Mapping[str, int]) -> tuple[Use, ...]:
    return tuple(Use(name, line) for name, line in sorted(first.items(), key=lambda item: item[1]))


def _first_uses(tree: Tree, source: str) -> dict[str, int]:
    first: dict[str, int] = {}
    arities = {node.name: len(node.args) - len(node.defaults) for node in tree.of(nodes.Macro)}
    for kind, reader in _READERS.items():
        for node in tree.of(kind):
            for name in reader(node):
                first.setdefault(name, node.lineno)
    for name, line in (*_calls_short(tree, arities), *_guards(tree), *_in_source(source)):
        first.setdefault(name, line)
    return first


# -- by node


def _filter(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.Filter
    options = {str(keyword.key) for keyword in node.kwargs}
    yield f"filter {node.name}"
    if node.name == "tojson":
        yield from (f"filter tojson({option})" for option in sorted(options & _JSON_OPTIONS))
        if node.args:
            yield "filter tojson(positional)"
    elif node.name == "map" and node.args:
        yield "filter map(filter)"
    elif node.name == "select" and not node.args:
        yield "filter select(nothing)"
    elif node.name in ("selectattr", "rejectattr") and len(node.args) > 1:
        yield from _selection(node)
    elif (node.name == "replace" and len(node.args) > 2) or (node.name == "trim" and node.args):
        yield f"filter {node.name}(more)"
    elif node.name in ("default", "d") and "boolean" in options:
        yield "filter default(boolean=)"
    elif node.name == "join" and "attribute" in options:
        yield "filter join(attribute=)"


def _selection(node: nodes.Filter) -> Iterator[str]:
    test = _text(node.args[1])
    if node.name == "rejectattr" or not test.isidentifier():
        yield f"filter {node.name}(test)"
    if any(
        type(argument) is nodes.Const and not isinstance(argument.value, str) for argument in node.args[2:]
    ):
        yield "filter selectattr(value)"


def _test(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.Test
    yield f"test {node.name}"
    if node.name in _TEST_WITH_VALUE:
        yield "test with a value"


def _call(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.Call
    callee = node.node
    if type(callee) is nodes.Getattr:
        yield from _method(callee.attr, node)
    elif type(callee) is nodes.Name and callee.name == "strftime_now":
        codes = {text[0] for text in _text(node.args[0] if node.args else None).split("%")[1:] if text}
        yield "function strftime_now"
        if codes - _USUAL_CODES:
            yield "function strftime_now(code)"


def _method(name: str, node: nodes.Call) -> Iterator[str]:
    yield f"method {name}"
    if name in _STRIPS and node.args:
        yield "method strip(characters)"
    elif name in ("startswith", "endswith") and any(type(one) is nodes.Tuple for one in node.args):
        yield "method startswith(tuple)"
    elif name == "replace" and len(node.args) > 2:
        yield "filter replace(more)"
    elif name == "format" and node.kwargs:
        yield "method format(names)"


def _attribute(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.Getattr
    if type(node.node) is nodes.Name and node.node.name == "loop" and node.attr in _LOOP:
        yield f"loop.{node.attr}"


def _name(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.Name
    if node.ctx == "load" and node.name in _GLOBALS:
        yield f"function {node.name}"
    elif node.ctx == "load" and node.name in _MACRO_NAMES:
        yield "macro varargs"
    elif not node.name.isascii():
        yield "name with accents"


def _compare(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.Compare
    operators = [operand.op for operand in node.ops]
    if len(operators) > 1:
        yield "chained comparison"
    if operators[0] in _ORDERS and (_text(node.expr) or _text(node.ops[0].expr)):
        yield "order of texts"
    if operators[0] in ("in", "notin") and isinstance(node.expr, (nodes.List, nodes.Tuple)):
        yield "list in a list"


def _for(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.For
    if node.recursive:
        yield "for … recursive"


def _assign_block(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.AssignBlock
    if node.filter is not None:
        yield "set with a filter"


def _call_block(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.CallBlock
    if isinstance(node.call.node, nodes.ExtensionAttribute):
        yield "tag generation"


def _tuple(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.Tuple
    if len(node.items) == 1 and node.ctx == "load":
        yield "tuple of one"


def _dict(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.Dict
    if any(type(pair.key) is nodes.Const and not isinstance(pair.key.value, str) for pair in node.items):
        yield "key that is no text"


def _mul(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.Mul
    for side in (node.left, node.right):
        if _text(side):
            yield "text times a number"
        elif type(side) is nodes.List:
            yield "list times a number"


def _mod(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.Mod
    if _text(node.left):
        yield "text % values"


def _add(node: nodes.Node) -> Iterator[str]:
    assert type(node) is nodes.Add
    if any(type(side) is nodes.Filter and side.name == "safe" for side in (node.left, node.right)):
        yield "safe and +"


_READERS: dict[type[nodes.Node], Callable[[nodes.Node], Iterator[str]]] = {
    nodes.Filter: _filter,
    nodes.Test: _test,
    nodes.Call: _call,
    nodes.Getattr: _attribute,
    nodes.Name: _name,
    nodes.Compare: _compare,
    nodes.For: _for,
    nodes.AssignBlock: _assign_block,
    nodes.CallBlock: _call_block,
    nodes.Tuple: _tuple,
    nodes.Dict: _dict,
    nodes.Mul: _mul,
    nodes.Mod: _mod,
    nodes.Add: _add,
    nodes.With: lambda node: iter(("tag with",)),
    nodes.Block: lambda node: iter(("tag block",)),
    nodes.FloorDiv: lambda node: iter(("operator //",)),
    nodes.Pow: lambda node: iter(("operator **",)),
}


# -- by more than one node


def _calls_short(tree: Tree, arities: dict[str, int]) -> Iterator[tuple[str, int]]:
    """Calls of macros with fewer arguments than parameters without a default."""
    for node in tree.of(nodes.Call) if arities else ():
        if type(node.node) is nodes.Name:
            given = len(node.args) + len(node.kwargs)
            spread = node.dyn_args is not None or node.dyn_kwargs is not None
            if given < arities.get(node.node.name, 0) and not spread:
                yield "macro with too few arguments", node.lineno


def _guards(tree: Tree) -> Iterator[tuple[str, int]]:
    """`tools is none` where nothing else asks whether there are tools: a host may leave them out."""
    asked = [node for node in tree.of(nodes.Test) if node.name == "none" and _is_tools(node.node)]
    if asked:
        pairs = (*tree.of(nodes.And), *tree.of(nodes.Or))
        guarded = {id(side) for node in pairs for side in children(node)}
        yield from (("tools is none", node.lineno) for node in asked if id(node) not in guarded)


def _is_tools(node: nodes.Node) -> bool:
    return type(node) is nodes.Name and node.name == "tools"


def _in_source(source: str) -> Iterator[tuple[str, int]]:
    """What the tree does not show."""
    if _FIRST_ALONE.match(source):
        yield "one character before the first tag", 1
    if "\r\n" in source:
        yield "line ends of Windows", source.count("\n", 0, source.index("\r\n")) + 1
    raw = re.search(r"\{%[-+]?\s*raw\b", source)
    if raw:
        yield "tag raw", source.count("\n", 0, raw.start()) + 1
    for start, stop, line in tags_in(source) if _may_tell(source) else ():
        text = source[start:stop]
        if text.startswith(("{%+", "{{+")):
            yield "tag with +", line
        counted = 0
        for found in () if text.startswith("{#") else _ESCAPE.finditer(text):
            line += text.count("\n", counted, found.start())
            counted = found.start()
            if found[1] or found[2]:
                yield "escape by number" if found[1] else "escape without a meaning", line


def _may_tell(source: str) -> bool:
    """Whether a tag may hold such an escape or a plus: most have none, and to find all tags takes long."""
    if "{%+" in source:
        return True
    return "\\" in source and ("{{+" in source or _ODD_ESCAPE.search(source) is not None)


def _text(node: nodes.Node | None) -> str:
    return node.value if type(node) is nodes.Const and isinstance(node.value, str) else ""
