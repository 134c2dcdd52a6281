"""What a condition settles about variables: which are surely defined, and which get a default under it."""

from __future__ import annotations

from jinja2 import nodes


def stored_names(target: nodes.Node) -> list[str]:
    if isinstance(target, nodes.Name):
        return [target.name]
    return [name.name for name in target.find_all(nodes.Name)]


def gives_default(node: nodes.Assign, settled: list[frozenset[str]]) -> bool:
    """`set x = x | default(…)`, `set x = x if x is defined else …`, or a `set x` under `x is not defined`."""
    names = stored_names(node.target)
    if any(name in under for name in names for under in settled):
        return True
    reads = {name.name for name in node.node.find_all(nodes.Name)}
    if isinstance(node.node, nodes.Name):
        reads.add(node.node.name)
    return bool(names) and set(names) <= reads


def tested(test: nodes.Node) -> tuple[frozenset[str], frozenset[str]]:
    """Names whose definedness is settled where `test` holds, and where it does not.

    "Settled" covers both outcomes: under `x is not defined` an assignment of x is a default.
    """
    if isinstance(test, nodes.Not):
        with_true, with_false = tested(test.node)
        if isinstance(test.node, nodes.Name):
            return frozenset({test.node.name}), with_true  # under `not x`, setting x gives a default
        return with_false, with_true
    if isinstance(test, nodes.Test) and test.name in ("defined", "undefined", "none"):
        names = frozenset({test.node.name} if isinstance(test.node, nodes.Name) else ())
        return names, names
    if isinstance(test, nodes.Name):
        return frozenset({test.name}), frozenset()
    if isinstance(test, nodes.And):
        left, right = tested(test.left), tested(test.right)
        return left[0] | right[0], left[1] & right[1]
    if isinstance(test, nodes.Or):
        left, right = tested(test.left), tested(test.right)
        return left[0] & right[0], left[1] | right[1]
    return frozenset(), frozenset()


def defined_unless(test: nodes.Node) -> frozenset[str]:
    """Names that are surely defined where `test` does not hold."""
    if isinstance(test, nodes.Or):
        return defined_unless(test.left) | defined_unless(test.right)
    if isinstance(test, nodes.Test) and test.name == "undefined" and isinstance(test.node, nodes.Name):
        return frozenset({test.node.name})
    if not isinstance(test, nodes.Not):
        return frozenset()
    inner = test.node
    if isinstance(inner, nodes.Test) and inner.name == "defined":
        inner = inner.node
    return frozenset({inner.name} if isinstance(inner, nodes.Name) else ())
