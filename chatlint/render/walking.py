"""Jinja's code generator, with other walks through the tree.

Jinja asks visitors, which are slow, which names and filters are used below a node: that is more than half of
its time. Here loops ask the same, in the same order. Jinja's own methods stay as they are, and find these in
place of its visitors (`_with`).
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import ClassVar, Protocol, TypeVar, cast

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.idtracking import FrameSymbolVisitor, RootVisitor, Symbols
from jinja2.nodes import EvalContext

_Method = TypeVar("_Method")


class _Visit(Protocol):
    def __call__(self, *arguments: object, **options: object) -> object: ...


def _with(method: _Method, **others: object) -> _Method:
    """A method of Jinja's that sees other things where these names stand."""
    made = cast("FunctionType", method)
    names = {**made.__globals__, **others}
    return cast(
        "_Method", FunctionType(made.__code__, names, made.__name__, made.__defaults__, made.__closure__)
    )


def _find_undeclared(roots: Iterable[nodes.Node], names: Iterable[str]) -> set[str]:
    """Which of the names are read before they are set, outside of blocks."""
    wanted = set(names)
    found: set[str] = set()
    stack = [*roots][::-1]
    while stack and found != wanted:
        node = stack.pop()
        if isinstance(node, nodes.Name):
            if node.name in wanted:
                (found.add if node.ctx == "load" else wanted.discard)(node.name)
        elif type(node) is not nodes.Block:
            stack += node.children[::-1]  # type: ignore[attr-defined]
    return found


class _Dependencies:
    """The filters and tests that are used below a node, outside of blocks."""

    def __init__(self) -> None:
        self.filters: set[str] = set()
        self.tests: set[str] = set()

    def visit(self, root: nodes.Node) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            if type(node) is nodes.Block:
                continue
            if isinstance(node, nodes.Filter):
                self.filters.add(node.name)
            elif isinstance(node, nodes.Test):
                self.tests.add(node.name)
            stack += node.children  # type: ignore[attr-defined]


class _NamesOfScope(FrameSymbolVisitor):
    def visit(self, node: nodes.Node, *args: object, **options: object) -> None:
        stack = [node]
        while stack:
            one = stack.pop()
            visitor = _VISITORS.get(type(one))
            if visitor is not None:
                visitor(self, one, **options)
            else:
                stack += one.children[::-1]  # type: ignore[attr-defined]


_VISITORS: dict[type[nodes.Node], _Visit] = {
    kind: getattr(FrameSymbolVisitor, f"visit_{name}")
    for name, kind in vars(nodes).items()
    if hasattr(FrameSymbolVisitor, f"visit_{name}")
}


class _Symbols(Symbols):
    def analyze_node(self, node: nodes.Node, **kwargs: object) -> None:
        visitor = RootVisitor(self)
        visitor.sym_visitor = _NamesOfScope(self)
        visitor.visit(node, **kwargs)


class _Frame(Frame):
    def __init__(self, eval_ctx: EvalContext, parent: Frame | None = None, level: int | None = None) -> None:
        super().__init__(eval_ctx, parent, level)
        self.symbols = _Symbols(parent.symbols if parent is not None else None, level)

    def inner(self, isolated: bool = False) -> Frame:
        if isolated:
            return _Frame(self.eval_ctx, level=self.symbols.level + 1)
        return _Frame(self.eval_ctx, self)


class QuickCodeGenerator(CodeGenerator):
    """Writes what Jinja's generator writes."""

    visit_Template = _with(CodeGenerator.visit_Template, Frame=_Frame, find_undeclared=_find_undeclared)  # noqa: N815
    visit_For = _with(CodeGenerator.visit_For, find_undeclared=_find_undeclared)  # noqa: N815
    macro_body = _with(CodeGenerator.macro_body, find_undeclared=_find_undeclared)
    pull_dependencies = _with(CodeGenerator.pull_dependencies, DependencyFinderVisitor=_Dependencies)

    _visitors: ClassVar[dict[type[nodes.Node], _Visit]] = {}

    def __init_subclass__(cls) -> None:
        cls._visitors = {}

    def visit(self, node: nodes.Node, *args: object, **kwargs: object) -> object:
        kind = type(node)
        visitor = self._visitors.get(kind)
        if visitor is None:
            visitor = getattr(type(self), f"visit_{kind.__name__}", None)
            visitor = self._visitors[kind] = visitor or cast("_Visit", CodeGenerator.generic_visit)
        return visitor(self, node, *args, **kwargs)
