"""Static facts of one template, from one parse: nothing is evaluated, nothing is generated, nothing is run.

They say what a render cannot: branches that no case reaches, variables that nobody passed yet, and why. What
a render can tell, a render decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from chatlint import __version__
from chatlint.errors import TemplateError
from chatlint.records import dataclass
from chatlint.store.digest import directories_digest
from chatlint.store.disk import Store

if TYPE_CHECKING:
    from jinja2 import nodes

    from chatlint.render.constants import ConstantWork, Marker, Refusal, TemplateText
    from chatlint.render.fields import MethodUse, Read
    from chatlint.render.gates import Gate
    from chatlint.render.names import LoopSet, Variable
    from chatlint.render.prints import Print
    from chatlint.render.roles import RoleLiteral
    from chatlint.render.tree import Tree

ROOM = "syntax"
GIVEN = frozenset({"messages", "tools", "documents", "add_generation_prompt"})
"""Variables that every host passes."""


@dataclass(frozen=True, slots=True)
class Use:
    """A filter, test or name used, and the line."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """Why the source cannot be parsed; `line` is one-based, 0 if unknown. `bound` says that it may be a
    template, but one beyond `chatlint.limits`."""

    message: str
    line: int = 0
    bound: bool = False


@dataclass(frozen=True, slots=True)
class Syntax:
    """What the text of a template says about it. With a `fault` everything else is empty.

    `variables` are names read while unset (see `Variable`); `private` attribute names begin with `_`;
    `recursive` are macros that call themselves, `endless` those that do on every path; `escapes` ways out of
    the sandbox (see `escapes`); `constructs` what engines do not agree on (see the module of that name), and
    `dead_constructs` what stands only where nothing is ever reached (see `dead`);
    `growth` lists over which work may grow faster than they do; `loops_over_content` is what vLLM goes by
    (see `manners`).
    """

    fault: SyntaxFault | None = None
    variables: tuple[Variable, ...] = ()
    loop_sets: tuple[LoopSet, ...] = ()
    reads: tuple[Read, ...] = ()
    prints: tuple[Print, ...] = ()
    roles: tuple[RoleLiteral, ...] = ()
    methods: tuple[MethodUse, ...] = ()
    filters: tuple[Use, ...] = ()
    tests: tuple[Use, ...] = ()
    private: tuple[Use, ...] = ()
    macros: tuple[Use, ...] = ()
    recursive: tuple[Use, ...] = ()
    endless: tuple[Use, ...] = ()
    texts: tuple[TemplateText, ...] = ()
    markers: tuple[Marker, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    work: tuple[ConstantWork, ...] = ()
    gates: tuple[Gate, ...] = ()
    escapes: tuple[Use, ...] = ()
    constructs: tuple[Use, ...] = ()
    dead_constructs: tuple[Use, ...] = ()
    growth: tuple[Use, ...] = ()
    generation_blocks: tuple[int, ...] = ()
    loops_over_content: bool = False

    @property
    def switches(self) -> tuple[str, ...]:
        """Names that may be template kwargs: read while unset and never set, or only to give a default.

        Whether they change anything, and their defaults, must be probed.
        """
        return tuple(variable.name for variable in self.variables if _may_be_kwarg(variable))

    def reads_of(self, pattern: str) -> tuple[int, ...]:
        """Lines where the member that `pattern` names is read; `*` stands for any element."""
        return tuple(dict.fromkeys(line for line, _ in self.read_places(pattern)))

    def read_places(self, pattern: str) -> tuple[tuple[int, int], ...]:
        """Lines and columns where the member that `pattern` names is read."""
        return tuple(read.place for read in self.reads if read.pattern == pattern)

    def reads_field(self, owner: str, name: str) -> bool:
        """Whether a member `name` of what `owner` names is read."""
        return bool(self.reads_of(f"{owner}/{name}"))


def syntax_of(source: str) -> Syntax:
    """The static facts of a template source, for the transformers environment. Linear in the source.

    A source that does not parse gives a `fault` instead of an error.
    """
    from chatlint.render.environment import TemplateTooLarge, parse_template

    try:
        return _facts(parse_template(source), source)
    except TemplateError as error:
        return Syntax(SyntaxFault(error.message, error.line, isinstance(error, TemplateTooLarge)))
    except RecursionError:
        return Syntax(SyntaxFault("expressions are nested too deep to be compiled", bound=True))


def syntax_in(store: Store | None, source: str) -> Syntax:
    """`syntax_of` a source, from the store if it is there: to find the facts costs as much as fifty renders.

    They are pickled: the store only believes files that nobody but the user can write (`store/trust.py`).
    """
    if store is None:
        return syntax_of(source)
    key = sha256(f"{_reader()}\0{source}".encode("utf-8", "surrogatepass")).hexdigest()
    known = _unpickled(store.read(ROOM, key))
    if known is None:
        import pickle

        known = syntax_of(source)
        store.write(ROOM, key, pickle.dumps(known))
    return known


@cache
def _reader() -> str:
    """A digest of what reads sources: this room, Jinja and Python, which decides what a letter is."""
    import sys

    import jinja2

    try:
        return f"{directories_digest([Path(__file__).parent])} {jinja2.__version__} {sys.version}"
    except OSError:  # installed without sources
        return f"{__version__} {jinja2.__version__} {sys.version}"


def _unpickled(kept: bytes | None) -> Syntax | None:
    if kept is None:
        return None
    import pickle

    try:
        syntax = pickle.loads(kept)
    except Exception:
        return None  # the code that it names is not there any more
    return syntax if isinstance(syntax, Syntax) else None


def _facts(root: nodes.Template, source: str) -> Syntax:
    from jinja2 import nodes

    from chatlint.render.constants import endless_of, markers_in, refusals_of, texts_of, work_of
    from chatlint.render.constructs import constructs_of
    from chatlint.render.content_loops import loops_over_content
    from chatlint.render.dead import dead_nodes
    from chatlint.render.escapes import escapes_of
    from chatlint.render.fields import FieldWalk
    from chatlint.render.gates import GateWalk
    from chatlint.render.growth import growth_of
    from chatlint.render.names import NameWalk
    from chatlint.render.prints import placer, prints_of
    from chatlint.render.roles import roles_of
    from chatlint.render.tree import tree_of

    tree = tree_of(root)
    names, members = NameWalk(), FieldWalk()
    names.visit(root)
    members.settle(tree)
    texts, place_of = texts_of(tree), placer(source)
    constructs, dead = constructs_of(tree, source, dead_nodes(tree))
    return Syntax(
        variables=names.variables(),
        loop_sets=names.loop_sets(),
        reads=members.reads(tree, place_of),
        prints=prints_of(tree.of(nodes.Output), members.places, place_of),
        roles=roles_of(tree, members.places, place_of),
        methods=tuple(use for call in tree.of(nodes.Call) if (use := members.method_use(call))),
        filters=_uses(tree.of(nodes.Filter)),
        tests=_uses(tree.of(nodes.Test)),
        private=_private(tree),
        macros=_uses(tree.of(nodes.Macro)),
        recursive=_recursive(tree),
        endless=tuple(Use(name, line) for name, line in endless_of(tree)),
        texts=texts,
        markers=markers_in(texts),
        refusals=refusals_of(tree),
        work=work_of(tree),
        gates=GateWalk(members.places).gates(tree),
        escapes=escapes_of(tree),
        constructs=constructs,
        dead_constructs=dead,
        growth=growth_of(tree, members.places),
        generation_blocks=_generation_blocks(tree),
        loops_over_content=loops_over_content(tree),
    )


def _uses(named: Sequence[nodes.Filter] | Sequence[nodes.Test] | Sequence[nodes.Macro]) -> tuple[Use, ...]:
    return tuple(Use(node.name, node.lineno) for node in named)


def _private(tree: Tree) -> tuple[Use, ...]:
    from jinja2 import nodes

    names: list[tuple[nodes.Node, str]] = [(node, node.attr) for node in tree.of(nodes.Getattr)]
    names += [(node, node.value) for node in tree.of(nodes.Const) if isinstance(node.value, str)]
    found = {id(node): Use(name, node.lineno) for node, name in names if _is_private(name)}
    return tuple(found[id(node)] for node in tree.every if id(node) in found) if found else ()


def _is_private(name: str) -> bool:
    return name.startswith("_") and name.isidentifier() and name.strip("_") != ""


def _recursive(tree: Tree) -> tuple[Use, ...]:
    from jinja2 import nodes

    return _uses([macro for macro in tree.of(nodes.Macro) if macro.name in _called_in(macro)])


def _called_in(macro: nodes.Macro) -> set[str]:
    from jinja2 import nodes

    from chatlint.render.tree import nodes_below

    callees = [node.node for node in nodes_below(macro) if type(node) is nodes.Call]
    return {callee.name for callee in callees if type(callee) is nodes.Name}


def _generation_blocks(tree: Tree) -> tuple[int, ...]:
    from jinja2 import nodes

    blocks = tree.of(nodes.CallBlock)
    return tuple(node.lineno for node in blocks if isinstance(node.call.node, nodes.ExtensionAttribute))


def _may_be_kwarg(variable: Variable) -> bool:
    if variable.called or (variable.stored and not variable.defaulted):
        return False
    return variable.name not in GIVEN and not variable.name.endswith("_token")
