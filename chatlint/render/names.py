"""Variables a template reads without having set them, and assignments that a loop swallows.

Jinja's own `meta.find_undeclared_variables` runs the code generator, which evaluates constant expressions
(`9**(9**9)` in a dead branch hangs it) and rewrites the tree; this walk only looks.

Scopes follow Jinja: a loop, macro, call or block keeps what it sets to itself, an `if` does not. A binding
made in one branch is not sure after it, unless every branch made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jinja2 import nodes

from chatlint.records import dataclass, field, replace
from chatlint.render.definedness import defined_unless, gives_default, stored_names, tested
from chatlint.render.grammar import children
from chatlint.render.tree import entry

GLOBALS = frozenset(
    {"range", "dict", "lipsum", "cycler", "joiner", "namespace", "raise_exception", "strftime_now"}
)
"""Names that every transformers host defines."""
IMPLICIT = frozenset({"loop", "caller", "varargs", "kwargs", "self", "super"})
"""Names that Jinja itself binds inside loops, macros and blocks."""
_GIVEN = GLOBALS | IMPLICIT


@dataclass(frozen=True, slots=True)
class Variable:
    """A name read before anything in the template surely set it.

    `lines` are all such reads; `bare_lines` those whose value is used where an undefined one would show or
    fail (not tested by `is defined`, `default` or as a truth value, nor inside a branch that tested it).
    `stored`: the template sets it somewhere; `defaulted`: only to give an unset variable a default.
    `called`: it is called like a function.
    """

    name: str
    lines: tuple[int, ...]
    bare_lines: tuple[int, ...] = ()
    stored: bool = False
    defaulted: bool = False
    called: bool = False


@dataclass(frozen=True, slots=True)
class LoopSet:
    """`{% set name %}` inside a loop. `outer_line` is where an outer scope had set the same name, `read_line`
    where it is read after the loop, which sees the outer value (0: nowhere). `used` says that the loop itself
    reads what it has set: then the name may well be meant for inside the loop only."""

    name: str
    line: int
    loop_line: int
    outer_line: int = 0
    read_line: int = 0
    used: bool = False


class _Scope:
    """`bound` names by the line that binds them, `sets` those of a loop's own assignments, `used` those of
    them that it reads, `lost` what a loop in this scope set and nothing has read since, by its place in the
    walk's loop sets."""

    __slots__ = ("bound", "kind", "line", "lost", "parent", "sets", "used")

    def __init__(self, kind: str, line: int, parent: _Scope | None) -> None:
        self.kind, self.line, self.parent = kind, line, parent
        self.bound: dict[str, int] = {}
        self.sets: dict[str, int] = {}
        self.used: set[str] = set()
        self.lost: dict[str, int] = {}


@dataclass(slots=True)
class _Reads:
    lines: dict[int, None] = field(default_factory=dict)
    bare: dict[int, None] = field(default_factory=dict)
    stored: bool = False
    other_store: bool = False
    called: bool = False


class NameWalk:
    """One pass over a tree in document order; `variables()` and `loop_sets()` give what it saw."""

    def __init__(self) -> None:
        self._scope = _Scope("root", 0, None)
        self._reads: dict[str, _Reads] = {}
        self._loop_sets: list[LoopSet] = []
        self._tested: list[frozenset[str]] = []
        self._setting: list[str] = []

    def visit(self, node: nodes.Node) -> None:
        """Walk `node` and everything below it."""
        visitor = _VISITORS.get(type(node))
        if visitor:
            visitor(self, node)
        else:
            self.visit_all(children(node))

    def visit_all(self, several: Iterable[nodes.Node]) -> None:
        """Walk several nodes in order."""
        for child in several:
            visitor = _VISITORS.get(type(child))
            if visitor:
                visitor(self, child)
            elif below := children(child):
                self.visit_all(below)

    def variables(self) -> tuple[Variable, ...]:
        """Names read while unset, in the order of first reads."""
        return tuple(
            Variable(
                name,
                tuple(reads.lines),
                tuple(reads.bare),
                reads.stored,
                reads.stored and not reads.other_store,
                reads.called,
            )
            for name, reads in self._reads.items()
            if reads.lines
        )

    def loop_sets(self) -> tuple[LoopSet, ...]:
        """Assignments inside loops, in document order of the loops' ends."""
        return tuple(self._loop_sets)

    # -- reading ---------------------------------------------------------------------------------------------

    def _name(self, node: nodes.Name) -> None:
        if node.ctx == "load":
            self._read(node, safe=False)
        else:
            self._bind(node.name, node.lineno)

    def _read(self, node: nodes.Name, *, safe: bool) -> None:
        if self._loop_sets:
            self._note_read_after_loop(node)
        if self._is_bound(node.name):
            return
        reads = self._reads.setdefault(node.name, _Reads())
        reads.lines[node.lineno] = None
        if not safe and not any(node.name in names for names in self._tested):
            reads.bare[node.lineno] = None

    def _is_bound(self, name: str) -> bool:
        if name in _GIVEN:
            return True
        scope: _Scope | None = self._scope
        while scope:
            if name in scope.sets and name not in self._setting:
                scope.used.add(name)
            if name in scope.bound:
                home = _home_of(scope)
                if name not in self._setting:
                    home.used.add(name)
                return True
            scope = scope.parent
        return False

    def _note_read_after_loop(self, node: nodes.Name) -> None:
        scope: _Scope | None = self._scope
        bound = False
        while scope:
            place = scope.lost.pop(node.name, None)
            if place is not None:
                self._loop_sets[place] = replace(self._loop_sets[place], read_line=node.lineno)
            bound = bound or node.name in scope.bound
            if bound and scope.kind != "branch":
                return
            scope = scope.parent

    def _truth(self, node: nodes.Node) -> None:
        """A value that is only asked whether it is true: an undefined one is simply false."""
        if type(node) is nodes.Name:
            self._read(node, safe=True)
        else:
            self.visit(node)

    # -- expressions -----------------------------------------------------------------------------------------

    def _test(self, node: nodes.Test) -> None:
        if node.name in ("defined", "undefined", "none") and type(node.node) is nodes.Name:
            self._read(node.node, safe=True)
        else:
            self.visit_all(children(node))

    def _filter(self, node: nodes.Filter) -> None:
        if node.name in ("default", "d") and type(node.node) is nodes.Name:
            self._read(node.node, safe=True)
            self.visit_all(node.args)
        else:
            self.visit_all(children(node))

    def _call(self, node: nodes.Call) -> None:
        if type(node.node) is nodes.Name and not self._is_bound(node.node.name):
            self._reads.setdefault(node.node.name, _Reads()).called = True
        self.visit_all(children(node))

    def _cond_expr(self, node: nodes.CondExpr) -> None:
        self._truth(node.test)
        with_true, with_false = tested(node.test)
        self._under(with_true, [node.expr1])
        self._under(with_false, [node.expr2] if node.expr2 else [])

    def _and(self, node: nodes.And) -> None:
        self._truth(node.left)
        self._under(tested(node.left)[0], [node.right], truth=True)

    def _or(self, node: nodes.Or) -> None:
        self._truth(node.left)
        self._under(tested(node.left)[1], [node.right], truth=True)

    def _not(self, node: nodes.Not) -> None:
        self._truth(node.node)

    def _under(self, names: frozenset[str], below: Iterable[nodes.Node], *, truth: bool = False) -> None:
        if names:
            self._tested.append(names)
        for child in below:
            if truth:
                self._truth(child)
            else:
                self.visit(child)
        if names:
            self._tested.pop()

    # -- binding ---------------------------------------------------------------------------------------------

    def _bind(self, name: str, line: int) -> None:
        home = self._home()
        if not any(name in scope.bound for scope in _chain(self._scope, home)):
            self._scope.bound[name] = line
        home.lost.pop(name, None)

    def _assign(self, node: nodes.Assign) -> None:
        self._setting = stored_names(node.target)  # `x = x + …` does not use what the loop has set
        self.visit(node.node)
        self._setting = []
        self._store(node.target, defaulting=gives_default(node, self._tested))

    def _assign_block(self, node: nodes.AssignBlock) -> None:
        self._enter("block", node.lineno)
        if node.filter:
            self.visit(node.filter)
        self.visit_all(node.body)
        self._leave()
        self._store(node.target, defaulting=False)

    def _store(self, target: nodes.Node, *, defaulting: bool) -> None:
        for name in stored_names(target):
            reads = self._reads.setdefault(name, _Reads())
            reads.stored = True
            reads.other_store = reads.other_store or not defaulting
            home = self._home()
            if home.kind == "for":
                home.sets.setdefault(name, target.lineno)
            self._bind(name, target.lineno)
        if type(target) is nodes.NSRef:
            self._read(nodes.Name(target.name, "load", lineno=target.lineno), safe=False)

    def _if(self, node: nodes.If) -> None:
        """Branches bind in turn; what all of them bind is sure afterwards, and so is a default."""
        after: list[dict[str, int]] = []
        failed: frozenset[str] = frozenset()
        defined: frozenset[str] = frozenset()
        for branch in (node, *node.elif_):
            self._enter("branch", node.lineno)
            self._truth(branch.test)
            with_true, with_false = tested(branch.test)
            self._under(with_true | failed, branch.body)
            after.append(self._leave().bound)
            failed |= with_false
            defined |= defined_unless(branch.test)
        self._enter("branch", node.lineno)
        self._under(failed, node.else_)
        after.append({**self._leave().bound, **dict.fromkeys(defined, node.lineno)})
        if all(after):
            sure = set(after[0]).intersection(*after[1:])
            for bound in after:
                self._scope.bound |= {name: line for name, line in bound.items() if name in sure}

    def _for(self, node: nodes.For) -> None:
        self.visit(node.iter)
        self._enter("for", node.lineno)
        self.visit(node.target)
        if node.test:
            self._truth(node.test)
        self.visit_all(node.body)
        loop = self._leave()
        self._enter("else", node.lineno)
        self.visit_all(node.else_)
        self._leave()
        self._lose(loop)

    def _lose(self, loop: _Scope) -> None:
        for name, line in loop.sets.items():
            self._home().lost[name] = len(self._loop_sets)
            lost = LoopSet(name, line, loop.line, self._outer_line(name), used=name in loop.used)
            self._loop_sets.append(lost)

    def _outer_line(self, name: str) -> int:
        scope: _Scope | None = self._scope
        while scope:
            if name in scope.bound:
                return scope.bound[name]
            scope = scope.parent
        return 0

    def _macro(self, node: nodes.Macro) -> None:
        self.visit_all(node.defaults)
        self._bind(node.name, node.lineno)
        self._body(node)

    def _call_block(self, node: nodes.CallBlock) -> None:
        self.visit(node.call)
        self.visit_all(node.defaults)
        self._body(node)

    def _body(self, node: nodes.Macro | nodes.CallBlock) -> None:
        self._enter("macro", node.lineno)
        self.visit_all(node.args)
        self.visit_all(node.body)
        self._leave()

    def _with(self, node: nodes.With) -> None:
        self.visit_all(node.values)
        self._enter("with", node.lineno)
        self.visit_all(node.targets)
        self.visit_all(node.body)
        self._leave()

    def _inner(self, node: nodes.Node) -> None:
        self._enter("block", node.lineno)
        self.visit_all(children(node))
        self._leave()

    def _home(self) -> _Scope:
        """The scope that branches belong to: what one of them sets stays set behind it."""
        return _home_of(self._scope)

    def _enter(self, kind: str, line: int) -> None:
        self._scope = _Scope(kind, line, self._scope)

    def _leave(self) -> _Scope:
        left = self._scope
        self._scope = left.parent or left
        return left


def _home_of(scope: _Scope) -> _Scope:
    while scope.kind == "branch" and scope.parent:
        scope = scope.parent
    return scope


def _chain(inner: _Scope, outer: _Scope) -> Iterator[_Scope]:
    scope: _Scope | None = inner
    while scope and scope is not outer:
        yield scope
        scope = scope.parent
    yield outer


_VISITORS = dict(
    (
        entry(nodes.Name, NameWalk._name),
        entry(nodes.For, NameWalk._for),
        entry(nodes.If, NameWalk._if),
        entry(nodes.CondExpr, NameWalk._cond_expr),
        entry(nodes.And, NameWalk._and),
        entry(nodes.Or, NameWalk._or),
        entry(nodes.Not, NameWalk._not),
        entry(nodes.Test, NameWalk._test),
        entry(nodes.Filter, NameWalk._filter),
        entry(nodes.Call, NameWalk._call),
        entry(nodes.Assign, NameWalk._assign),
        entry(nodes.AssignBlock, NameWalk._assign_block),
        entry(nodes.Macro, NameWalk._macro),
        entry(nodes.CallBlock, NameWalk._call_block),
        entry(nodes.With, NameWalk._with),
        entry(nodes.FilterBlock, NameWalk._inner),
        entry(nodes.Block, NameWalk._inner),
        entry(nodes.Scope, NameWalk._inner),
    )
)
