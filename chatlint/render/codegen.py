"""Python code of a template, as Jinja generates it, with hooks.

What differs from Jinja's own code:

- Template text and string constants are global names `c0`, `c1` …, bound to traced strings when the code is
  loaded (`literals`), trimmed or as they stand; but where a string is only compared, looked up or searched
  for it stays a plain constant.
- `str()` around what is printed, `~`, `+`, `*`, `**` and `%` are the functions of `operators`.
- `here[0] = seen[n] = n` at every statement: what is computed is known to be on that line, and which
  statements ran is known. `places[n]` are the template lines of statement `n`, the line it is on first.
- `tick()` at the start of every loop and macro body.
- Constants are not evaluated while compiling: `{% if false %}{{ 9**(9**9) }}{% endif %}` would hang there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType
from typing import TextIO, TypeAlias

from jinja2 import Environment, nodes
from jinja2.compiler import CompilerExit, Frame, MacroRef
from jinja2.compiler import operators as _OPERATORS  # noqa: N812

from chatlint.render.grammar import offset_of, untrimmed
from chatlint.render.walking import QuickCodeGenerator

Written: TypeAlias = tuple[str, int | None, int, tuple[str, int] | None]
"""A string of the template, its offset if that is known, its line; what it is untrimmed, and its offset then,
where that is something else."""

_LITERALS, _PLACES = "\0literals", "\0places"
"""What stands for the two tables: no name, and nothing that Jinja writes."""

_SEARCHING_METHODS = frozenset(
    (
        "startswith",
        "endswith",
        "split",
        "rsplit",
        "strip",
        "lstrip",
        "rstrip",
        "find",
        "rfind",
        "index",
        "count",
    )
)
_SEARCHING_FILTERS = frozenset(
    ("selectattr", "rejectattr", "select", "reject", "map", "attr", "sort", "trim")
)
_SEARCHING_CALLS = frozenset(("raise_exception", "strftime_now"))


class ChatCodeGenerator(QuickCodeGenerator):
    """Jinja's code generator with the hooks above."""

    def __init__(
        self,
        environment: Environment,
        name: str | None,
        filename: str | None,
        stream: TextIO | None = None,
        defer_init: bool = False,
        optimized: bool = True,
    ) -> None:
        super().__init__(environment, name, filename, stream, defer_init, optimized=False)
        self.literals: list[Written] = []
        self.places: list[tuple[int, ...]] = [(0,)]
        self._known_literals: dict[tuple[str, int | None], int] = {}
        self._stepping: set[int] = set()
        self._returning: set[int] = set()
        self._searching = False

    # -- what is written after the code itself

    def visit_Template(self, node: nodes.Template, frame: Frame | None = None) -> None:  # noqa: N802
        super().visit_Template(node, frame)
        self.writeline(f"literals = {_LITERALS!r}")
        self.writeline(f"places = {_PLACES!r}")

    def code(self, file_name: str) -> CodeType:
        """What was generated, compiled. The tables come into the code as they are: to read them as text takes
        Python a fifth of the time."""
        code = compile(self.stream.getvalue(), file_name, "exec", dont_inherit=True)  # type: ignore[attr-defined]
        tables = {_LITERALS: tuple(self.literals), _PLACES: tuple(self.places)}
        constants = (tables.get(one, one) if isinstance(one, str) else one for one in code.co_consts)
        return code.replace(co_consts=tuple(constants))

    def literal(self, text: str, node: nodes.Node, other: tuple[str, int] | None = None) -> str:
        """The global name of a string that stands in the template."""
        key = (text, offset_of(node))
        index = self._known_literals.setdefault(key, len(self.literals))
        if index == len(self.literals):
            self.literals.append((str(text), offset_of(node), node.lineno, other))
        return f"c{index}"

    def stand(self, lines: Iterable[int]) -> None:
        """Write that a statement on these lines begins to run."""
        self.places.append(tuple(lines))
        index = len(self.places) - 1
        self.writeline(f"here[0] = seen[{index}] = {index}")

    # -- statements

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        body = list(nodes)
        before = None
        try:
            self.writeline("pass")
            if id(nodes) in self._stepping:
                self.writeline("tick()")
            if id(nodes) in self._returning:
                before = self.temporary_identifier()
                self.writeline(f"{before} = here[0]")
            for node in body:
                self._stand_at(node)
                self.visit(node, frame)
        except CompilerExit:
            pass
        if before is not None:
            # A macro's caller goes on where it was.
            self.writeline(f"here[0] = {before}")

    def _stand_at(self, node: nodes.Node) -> None:
        if isinstance(node, nodes.Output | nodes.Scope):  # a scope is `{% autoescape %}`'s, and has no line
            return
        lines = [node.lineno]
        if isinstance(node, nodes.If):
            lines += [branch.lineno for branch in node.elif_]
        self.stand(lines)

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802
        self._stepping.add(id(node.body))
        super().visit_For(node, frame)

    def macro_body(self, node: nodes.Macro | nodes.CallBlock, frame: Frame) -> tuple[Frame, MacroRef]:
        self._stepping.add(id(node.body))
        self._returning.add(id(node.body))
        return super().macro_body(node, frame)

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:  # noqa: N802
        if frame.require_output_check:
            if self.has_known_extends:
                return
            self.writeline("if parent_template is None:")
            self.indent()
        for lines, children in _by_line(node.nodes):
            if lines:
                self.stand(lines)
            if frame.buffer is None:
                for child in children:
                    self.writeline("yield ", child)
                    self._print(child, frame)
            else:
                self._fill(children, frame)
        if frame.require_output_check:
            self.outdent()

    def _fill(self, children: list[nodes.Expr], frame: Frame) -> None:
        self.writeline(f"{frame.buffer}.extend((", children[0])
        self.indent()
        for child in children:
            self.newline(child)
            self._print(child, frame)
            self.write(",")
        self.outdent()
        self.writeline("))")

    def _print(self, child: nodes.Expr, frame: Frame) -> None:
        escapes = frame.eval_ctx.volatile or frame.eval_ctx.autoescape
        if isinstance(child, nodes.TemplateData) or (_is_text(child) and not escapes):
            self.visit(child, frame)
            return
        if frame.eval_ctx.volatile:
            self.write("shown((escape if context.eval_ctx.autoescape else shown)(")
        elif frame.eval_ctx.autoescape:
            self.write("shown(escape(")
        else:
            self.write("shown((")
        self.visit(child, frame)
        self.write("))")

    # -- expressions

    def visit_TemplateData(self, node: nodes.TemplateData, frame: Frame) -> None:  # noqa: N802
        self.write(self.literal(node.data, node, untrimmed(node)))

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802
        if _is_text(node) and not self._searching:
            self.write(self.literal(node.value, node))
        else:
            super().visit_Const(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        if frame.eval_ctx.volatile or frame.eval_ctx.autoescape:
            super().visit_Concat(node, frame)
            return
        self._call("concatenated", "((", node.nodes, frame)
        self.write(")")

    def visit_Add(self, node: nodes.BinExpr, frame: Frame) -> None:  # noqa: N802
        self._call("added", "(", (node.left, node.right), frame)

    def visit_Mul(self, node: nodes.BinExpr, frame: Frame) -> None:  # noqa: N802
        self._call("multiplied", "(", (node.left, node.right), frame)

    def visit_Pow(self, node: nodes.BinExpr, frame: Frame) -> None:  # noqa: N802
        self._call("powered", "(", (node.left, node.right), frame)

    def visit_Mod(self, node: nodes.BinExpr, frame: Frame) -> None:  # noqa: N802
        self._call("remainder", "(", (node.left, node.right), frame)

    def _call(self, function: str, opening: str, arguments: Iterable[nodes.Expr], frame: Frame) -> None:
        self.write(function + opening)
        for argument in arguments:
            self.visit(argument, frame)
            self.write(", ")
        self.write(")")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:  # noqa: N802
        operands = [node.expr, *(operand.expr for operand in node.ops)]
        if all(map(_is_open, operands)):
            # Comparing two values of unknown size: a container is weighed first.
            self.write("(")
            self._weighed(node.expr, frame)
            for operand in node.ops:
                self.write(f" {_OPERATORS[operand.op]} ")
                self._weighed(operand.expr, frame)
            self.write(")")
            return
        with_constants = self._searching
        self._searching = True
        super().visit_Compare(node, frame)
        self._searching = with_constants

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802
        self.write("{")
        for pair in node.items:
            if isinstance(pair.key, nodes.Const):
                self.visit(pair.key, frame)
            else:
                self._weighed(pair.key, frame)  # it is hashed
            self.write(": ")
            self.visit(pair.value, frame)
            self.write(", ")
        self.write("}")

    def _weighed(self, node: nodes.Expr, frame: Frame) -> None:
        self.write("light(")
        self.visit(node, frame)
        self.write(")")

    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:  # noqa: N802
        self.write("member(")
        self.visit(node.node, frame)
        self.write(f", {node.attr!r})")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802
        if isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("element(")
        self.visit(node.node, frame)
        self.write(", ")
        before, self._searching = self._searching, True
        self.visit(node.arg, frame)
        self._searching = before
        self.write(")")

    def signature(
        self,
        node: nodes.Call | nodes.Filter | nodes.Test,
        frame: Frame,
        extra_kwargs: Mapping[str, object] | None = None,
    ) -> None:
        before = self._searching
        self._searching = before or _only_searches(node)
        super().signature(node, frame, extra_kwargs)
        self._searching = before


def _is_text(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Const) and isinstance(node.value, str)


def _is_open(node: nodes.Expr) -> bool:
    if isinstance(node, (nodes.List, nodes.Tuple)):
        return any(map(_is_open, node.items))
    return not isinstance(node, (nodes.Const, nodes.Compare, nodes.Not, nodes.Test))


def _only_searches(node: nodes.Call | nodes.Filter | nodes.Test) -> bool:
    """Whether the arguments are only looked for, so that nothing of them can be printed."""
    if isinstance(node, nodes.Filter):
        return node.name in _SEARCHING_FILTERS
    if isinstance(node, nodes.Call):
        called = node.node
        if isinstance(called, nodes.Getattr):
            return called.attr in _SEARCHING_METHODS
        return isinstance(called, nodes.Name) and called.name in _SEARCHING_CALLS
    return True


def _by_line(children: Iterable[nodes.Expr]) -> Iterator[tuple[list[int], list[nodes.Expr]]]:
    """The children of an output statement, grouped so that all expressions of a group begin on one line;
    with the lines of each group, the expressions' first."""
    lines: list[int] = []
    group: list[nodes.Expr] = []
    at = 0
    for child in children:
        if isinstance(child, nodes.TemplateData):
            lines += _text_lines(child)
        elif at == child.lineno:
            pass
        elif not at:
            at = child.lineno
            lines.insert(0, at)
        else:
            yield lines, group
            lines, group, at = [child.lineno], [], child.lineno
        group.append(child)
    if group:
        yield lines, group


def _text_lines(data: nodes.TemplateData) -> list[int]:
    return [data.lineno + number for number, line in enumerate(data.data.split("\n")) if line.strip()]


def line_and_column(starts: list[int], offset: int) -> tuple[int, int]:
    """The one-based place of an offset, given where each line starts."""
    line = bisect_right(starts, offset)
    return line, offset - starts[line - 1] + 1


def line_starts(source: str) -> list[int]:
    """The offset at which each line of a normalised source starts."""
    starts = [0]
    for line in source.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts[:-1]
