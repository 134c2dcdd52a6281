"""What a condition settles about variables: which are surely defined, and which get a default under it."""

from __future__ import annotations

from jinja2 import nodes

from chatlint.render.tree import nodes_below

_NONE: frozenset[str] = frozenset()


def stored_names(target: nodes.Node) -> list[str]:
    if type(target) is nodes.Name:
        return [target.name]
    return [name.name for name in target.find_all(nodes.Name)]


def gives_default(node: nodes.Assign, settled: list[frozenset[str]]) -> bool:
    """`set x = x | default(…)`, `set x = x if x is defined else …`, or a `set x` under `x is not defined`."""
    names = stored_names(node.target)
    if any(name in under for name in names for under in settled):
        return True
    reads = {below.name for below in nodes_below(node.node) if type(below) is nodes.Name} if names else set()
    return bool(names) and reads.issuperset(names)


def tested(test: nodes.Node) -> tuple[frozenset[str], frozenset[str]]:
    """Names whose definedness is settled where `test` holds, and where it does not.

    "Settled" covers both outcomes: under `x is not defined` an assignment of x is a default.
    """
    if type(test) is nodes.Not:
        with_true, with_false = tested(test.node)
        if type(test.node) is nodes.Name:
            return frozenset({test.node.name}), with_true  # under `not x`, setting x gives a default
        return with_false, with_true
    if type(test) is nodes.Test and test.name in ("defined", "undefined", "none"):
        names = frozenset({test.node.name} if type(test.node) is nodes.Name else ())
        return names, names
    if type(test) is nodes.Name:
        return frozenset({test.name}), _NONE
    if type(test) is nodes.And:
        left, right = tested(test.left), tested(test.right)
        return left[0] | right[0], left[1] & right[1]
    if type(test) is nodes.Or:
        left, right = tested(test.left), tested(test.right)
        return left[0] & right[0], left[1] | right[1]
    return _NONE, _NONE


def defined_unless(test: nodes.Node) -> frozenset[str]:
    """Names that are surely defined where `test` does not hold."""
    if type(test) is nodes.Or:
        return defined_unless(test.left) | defined_unless(test.right)
    if type(test) is nodes.Test and test.name == "undefined" and type(test.node) is nodes.Name:
        return frozenset({test.node.name})
    if type(test) is not nodes.Not:
        return _NONE
    inner = test.node
    if type(inner) is nodes.Test and inner.name == "defined":
        inner = inner.node
    return frozenset({inner.name} if type(inner) is nodes.Name else ())
