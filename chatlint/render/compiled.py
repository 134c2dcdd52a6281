"""A template's code: compiled once, kept in a store, loaded for one host's environment."""

from __future__ import annotations

import marshal
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType, TracebackType
from typing import Protocol, TypeVar

import jinja2
from jinja2.runtime import Context

from chatlint import __version__
from chatlint.records import dataclass, field
from chatlint.render.codegen import ChatCodeGenerator, Written, line_and_column
from chatlint.render.environment import parse_template
from chatlint.render.operators import OPERATORS, concatenated
from chatlint.render.prints import starts_of
from chatlint.render.runs import Source, computed_source, literal_source
from chatlint.render.sandbox import ChatEnvironment
from chatlint.render.trace import Traced, here, traced
from chatlint.render.trace_markup import html_safe, marked_safe, markup_joined

FILE_NAME = "<template>"
ROOM = "compiled"
_PATTERNS_KEPT = 256
_Key = TypeVar("_Key")
_Kept = TypeVar("_Kept")
_MAKERS = (
    *("grammar.py", "lexing.py", "making.py", "parsing.py", "below.py"),
    *("walking.py", "codegen.py", "compiled.py"),
)


class Store(Protocol):
    """Where code is kept (`chatlint.store`)."""

    def read(self, room: str, key: str) -> bytes | None: ...

    def write(self, room: str, key: str, content: bytes) -> None: ...


def code_key(source: str) -> str:
    """What the code of a source is stored under: the source, Jinja, Python and our generator decide."""
    parts = (source, jinja2.__version__, MAGIC_NUMBER.hex(), _generator_version())
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=1)
def _generator_version() -> str:
    """A digest of what makes and loads code, so that no change of it finds the code of before."""
    folder = Path(__file__).parent
    try:
        sources = [folder.joinpath(name).read_bytes() for name in _MAKERS]
    except OSError:  # installed without sources
        return __version__
    return sha256(b"\0".join(sources)).hexdigest()


def compile_template(environment: ChatEnvironment, source: str, store: Store | None = None) -> CodeType:
    """The code of a template, from the store if it is there.

    Raises chatlint.errors.TemplateError for what does not parse, jinja2.TemplateSyntaxError and SyntaxError
    for what does not compile, RecursionError for what is nested too deep.
    """
    code = _recent.get(source)
    if code is None:
        code = _stored_code(environment, source, store)
        _make_room(_recent)
        _recent[source] = code
    return code


_RECENT_MOST = 4
_recent: dict[str, CodeType] = {}
"""The last few: another host of the same template has the same code."""


def _make_room(kept: dict[_Key, _Kept]) -> None:
    """Forget the oldest. Another thread may do so at the same time."""
    while len(kept) >= _RECENT_MOST:
        with suppress(KeyError, RuntimeError, StopIteration):
            kept.pop(next(iter(kept)))


def _stored_code(environment: ChatEnvironment, source: str, store: Store | None) -> CodeType:
    key = code_key(source) if store is not None else ""
    if store is not None:
        known = _loaded(store.read(ROOM, key))
        if known is not None:
            return known
    tree = parse_template(source)
    generator = ChatCodeGenerator(environment, None, None)
    generator.visit(tree)
    code = generator.code(FILE_NAME)
    if store is not None:
        store.write(ROOM, key, marshal.dumps(code))
    return code


def _loaded(kept: bytes | None) -> CodeType | None:
    if kept is None:
        return None
    try:
        code = marshal.loads(kept)
    except (EOFError, ValueError, TypeError):
        return None
    return code if isinstance(code, CodeType) else None


@dataclass(slots=True)
class Compiled:
    """A template's code, ready to run in its environment.

    `lines` are the sources of what each place computes, `places` the template lines of each statement,
    `seen` which statements ran (not 0).
    """

    environment: ChatEnvironment
    root: Callable[[Context], Iterator[str]]
    blocks: Mapping[str, Callable[[Context], Iterator[str]]]
    lines: list[Source]
    places: tuple[tuple[int, ...], ...]
    seen: list[int]
    unseen: tuple[int, ...]
    debug: list[tuple[int, int]]
    _patterns: dict[tuple[int, ...], frozenset[int]] = field(default_factory=dict)

    def __del__(self) -> None:
        # Functions hold the module that holds them, until garbage is collected.
        self.root.__globals__.clear()

    def context(self, variables: Mapping[str, object], missing: tuple[str, ...] = ()) -> Context:
        """A context with these variables and the environment's globals, but for those that are missing."""
        parent = {**self.environment.globals, **variables}
        for name in missing:
            if name not in variables:
                del parent[name]
        return Context(self.environment, parent, None, dict(self.blocks))

    def lines_seen(self) -> frozenset[int]:
        """The template lines of the statements that ran."""
        pattern = tuple(self.seen)
        known = self._patterns.get(pattern)
        if known is None:
            known = frozenset(line for index in pattern if index for line in self.places[index])
            if len(self._patterns) < _PATTERNS_KEPT:
                self._patterns[pattern] = known
        return known

    def line(self, traceback: TracebackType | None) -> int:
        """The template line that an exception comes from, 0 if none."""
        found = 0
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == FILE_NAME:
                found = template_line(self.debug, traceback.tb_lineno)
            traceback = traceback.tb_next
        return found


def template_line(debug: list[tuple[int, int]], code_line: int) -> int:
    """The template line of a line of its code; `debug` are pairs of both, in the code's order."""
    index = bisect_right(debug, (code_line, 1 << 60)) - 1
    return debug[index][1] if index >= 0 else 1


def loaded(environment: ChatEnvironment, source: str, store: Store | None = None) -> Compiled:
    """A template compiled and ready to run. Renderers that share an environment share what runs in it: one
    runs at a time. Raises as `compile_template`."""
    key = id(environment), source
    known = _ready.get(key)
    if known is None:
        _make_room(_ready)
        known = _ready[key] = load(environment, compile_template(environment, source, store), source)
    return known


_ready: dict[tuple[int, str], Compiled] = {}
"""The last few, by the environment, of which there are few and which stay."""


def load(environment: ChatEnvironment, code: CodeType, source: str) -> Compiled:
    """Run the module that `code` is, and bind its literals."""
    namespace: dict[str, object] = {
        "environment": environment,
        "__file__": FILE_NAME,
        "here": here,
        **OPERATORS,
    }
    exec(code, namespace)
    places: tuple[tuple[int, ...], ...] = namespace["places"]  # type: ignore[assignment]
    seen = [0] * len(places)
    namespace.update(
        seen=seen,
        member=environment.getattr,
        element=environment.getitem,
        # In place of Jinja's own, which the module imports for where autoescape is on.
        escape=html_safe,
        Markup=marked_safe,
        markup_join=markup_joined,
        str_join=concatenated,
    )
    namespace.update(_literals(namespace["literals"], source, environment.trims))
    return Compiled(
        environment,
        namespace["root"],  # type: ignore[arg-type]
        namespace["blocks"],  # type: ignore[arg-type]
        _lines(places),
        places,
        seen,
        tuple(seen),
        _debug(namespace["debug_info"]),
    )


@lru_cache(maxsize=_RECENT_MOST)
def _literals(literals: tuple[Written, ...], source: str, trims: bool) -> Mapping[str, Traced]:
    """The template's texts by their names. Like `_lines` and `_debug` the same for another host: they are not
    changed."""
    starts = starts_of(source)
    found: dict[str, Traced] = {}
    for index, (text, offset, line, other) in enumerate(literals):
        if other and not trims:
            text, offset = other
        place = (line, 1) if offset is None else line_and_column(starts, offset)
        found[f"c{index}"] = traced(text, ((len(text), literal_source(*place), 0),) if text else ())
    return found


@lru_cache(maxsize=_RECENT_MOST)
def _lines(places: tuple[tuple[int, ...], ...]) -> list[Source]:
    """The source of what each place computes, one for each line."""
    by_line = {number: computed_source(number) for number in {place[0] for place in places}}
    return [by_line[place[0]] for place in places]


@lru_cache(maxsize=_RECENT_MOST)
def _debug(info: str) -> list[tuple[int, int]]:
    pairs = (pair.split("=") for pair in info.split("&") if pair)
    return [(int(code_line), int(template_line)) for template_line, code_line in pairs]
