"""Texts and numbers a template holds: what it writes, how it refuses, and work it asks for by constants.

Nothing is evaluated: sizes of constant expressions are estimated from their operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from jinja2 import nodes

from chatlint.lazy import regex
from chatlint.records import dataclass
from chatlint.render.grammar import children
from chatlint.render.tree import Tree

LARGE_RANGE = 100_000
"""Items a sandboxed `range` may have (jinja2's MAX_RANGE)."""
LARGE_TEXT = 1_000_000
LARGE_DIGITS = 10_000
_UNSURE = frozenset((nodes.If, nodes.For, nodes.CondExpr, nodes.And, nodes.Or, nodes.Macro))
"""What stands in them may not run."""

_OPENED = (
    r"<\|[^\s<>|][^<>|]{0,60}\|>|<｜[^<>｜]{1,60}｜>|<\|?/?[A-Za-z_][\w.:-]{0,60}\|?>"
    r"|\[/?[A-Z][A-Z0-9_]{1,40}\]|<\|[\w./-]{1,40}"
)
_OPENED_MARKER = regex(_OPENED)
_MARKER = regex(_OPENED + r"|[\w./-]{1,40}\|>")
"""Also what is only closed, which is looked for at every letter."""


class TextKind(StrEnum):
    """Where in the template a text stands."""

    DATA = "data"
    """Between the tags: printed as it is."""
    STRING = "string"
    """A string in an expression."""


@dataclass(frozen=True, slots=True)
class TemplateText:
    """A piece of template data or a string constant, at the line where it begins."""

    text: str
    line: int
    kind: TextKind


@dataclass(frozen=True, slots=True)
class Marker:
    """A literal that looks like a special token, at the first line that holds it."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """A `raise_exception` call: its message, with `…` for what is not constant."""

    message: str
    line: int


@dataclass(frozen=True, slots=True)
class ConstantWork:
    """Work that constants alone ask for. `kind` is `range`, `nested ranges`, `repetition` or `power`; `size`
    counts iterations, characters or digits."""

    kind: str
    size: int
    line: int


def texts_of(tree: Tree) -> tuple[TemplateText, ...]:
    """Template data and string constants in document order."""
    found = []
    for node in tree.every:
        if type(node) is nodes.TemplateData:
            if text := str(node.data):  # else all of it is trimmed
                found.append(TemplateText(text, node.lineno, TextKind.DATA))
        elif type(node) is nodes.Const and isinstance(node.value, str):
            found.append(TemplateText(node.value, node.lineno, TextKind.STRING))
    return tuple(found)


def markers_in(texts: tuple[TemplateText, ...]) -> tuple[Marker, ...]:
    """Literals that look like special tokens, each once."""
    found: dict[str, Marker] = {}
    for text in texts:
        line, counted = text.line, 0
        pattern = _MARKER if "|>" in text.text else _OPENED_MARKER
        for match in pattern.finditer(text.text):
            line += text.text.count("\n", counted, match.start())
            counted = match.start()
            found.setdefault(match.group(), Marker(match.group(), line))
    return tuple(found.values())


def refusals_of(tree: Tree) -> tuple[Refusal, ...]:
    """Every `raise_exception(…)`, in document order."""
    return tuple(
        Refusal(_message(node.args[0]) if node.args else "", node.lineno)
        for node in tree.of(nodes.Call)
        if _calls(node, "raise_exception")
    )


def _calls(node: nodes.Call, name: str) -> bool:
    return type(node.node) is nodes.Name and node.node.name == name


def _message(node: nodes.Node) -> str:
    if isinstance(node, nodes.Const):
        return str(node.value) if isinstance(node.value, str) else "…"
    if isinstance(node, nodes.Add):
        return _message(node.left) + _message(node.right)
    if isinstance(node, nodes.Concat):
        return "".join(map(_message, node.nodes))
    return "…"


def work_of(tree: Tree) -> tuple[ConstantWork, ...]:
    """Constant ranges, repetitions and powers that are larger than any prompt needs."""
    ranges = any(_calls(call, "range") for call in tree.of(nodes.Call))
    asked = ranges or nodes.Mul in tree.kinds or nodes.Pow in tree.kinds
    return tuple(_work(tree.root, 1)) if asked else ()


def endless_of(tree: Tree) -> tuple[tuple[str, int], ...]:
    """Macros that call themselves on every path, be it through others, with their lines. What only runs under
    a condition, or in a loop, may end."""
    macros = {node.name: node for node in tree.of(nodes.Macro)}
    calls = {
        name: [one for one in _sure_calls(macro.body) if one in macros] for name, macro in macros.items()
    }
    again = _in_circles(calls)
    return tuple((name, macro.lineno) for name, macro in macros.items() if name in again)


def _in_circles(following: Mapping[str, Sequence[str]]) -> set[str]:
    """The names from which their followers lead back. In two passes over a graph of any size, each name once:
    those that reach each other are found from the last ones back (Kosaraju)."""
    before: dict[str, list[str]] = {name: [] for name in following}
    for name, others in following.items():
        for other in others:
            before[other].append(name)
    found = {name for name, others in following.items() if name in others}
    taken: set[str] = set()
    for name in reversed(_last_first(following)):
        together, stack = [], [name]
        while stack:
            if (one := stack.pop()) not in taken:
                taken.add(one)
                together.append(one)
                stack += before[one]
        if len(together) > 1:
            found.update(together)
    return found


def _last_first(following: Mapping[str, Sequence[str]]) -> list[str]:
    """The names, each behind all that it leads to, as far as those do not lead back."""
    order: list[str] = []
    seen: set[str] = set()
    for name in following:
        stack = [] if name in seen else [(name, iter(following[name]))]
        seen.add(name)
        while stack:
            one, others = stack[-1]
            other = next((each for each in others if each not in seen), None)
            if other is None:
                order.append(one)
                stack.pop()
            else:
                seen.add(other)
                stack.append((other, iter(following[other])))
    return order


def _sure_calls(body: list[nodes.Node]) -> Iterator[str]:
    stack = list(body)
    while stack:
        node = stack.pop()
        if type(node) in _UNSURE:
            continue
        if type(node) is nodes.Call and type(node.node) is nodes.Name:
            yield node.node.name
        stack.extend(children(node))


def _work(node: nodes.Node, outer: int) -> Iterator[ConstantWork]:
    inner = outer
    if type(node) is nodes.For:
        own = _range_size(node.iter)
        inner = outer * max(own, 1)
        if own > 1 and outer > 1 and inner > LARGE_RANGE:
            yield ConstantWork("nested ranges", inner, node.lineno)
    elif type(node) is nodes.Call and _range_size(node) > LARGE_RANGE:
        yield ConstantWork("range", _range_size(node), node.lineno)
    elif type(node) is nodes.Mul and _repetition(node) > LARGE_TEXT:
        yield ConstantWork("repetition", _repetition(node), node.lineno)
    elif type(node) is nodes.Pow and _power_digits(node) > LARGE_DIGITS:
        yield ConstantWork("power", _power_digits(node), node.lineno)
    for child in children(node):
        yield from _work(child, inner)


def _range_size(node: nodes.Node) -> int:
    if not (isinstance(node, nodes.Call) and _calls(node, "range")):
        return 0
    bounds = [_integer(argument) for argument in node.args]
    if not bounds or None in bounds or len(bounds) > 3:
        return 0
    numbers = [bound for bound in bounds if bound is not None]
    return _length(numbers)


def _length(bounds: list[int]) -> int:
    start, stop = (0, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
    step = bounds[2] if len(bounds) == 3 else 1
    if step == 0:
        return 0
    return max(0, -((start - stop) // step) if step > 0 else (start - stop) // -step)


def _repetition(node: nodes.Mul) -> int:
    for text, times in ((node.left, node.right), (node.right, node.left)):
        count = _integer(times)
        if count is not None and isinstance(text, nodes.Const) and isinstance(text.value, str):
            return len(text.value) * count
        if count is not None and isinstance(text, (nodes.List, nodes.Tuple)):
            return len(text.items) * count
    return 0


def _power_digits(node: nodes.Pow) -> int:
    """Digits of a constant power, capped; a power of powers counts as beyond every cap."""
    base, exponent = _integer(node.left), node.right
    if base is None or abs(base) < 2:
        return 0
    if isinstance(exponent, nodes.Pow):
        return LARGE_TEXT if _integer(exponent.left) not in (None, 0, 1) else 0
    times = _integer(exponent)
    return 0 if times is None else min(len(str(abs(base))) * times, 10 * LARGE_TEXT)


def _integer(node: nodes.Node) -> int | None:
    """The value of a whole number written down, or of a small product or power of such."""
    if isinstance(node, nodes.Const) and type(node.value) is int:
        return node.value if node.value.bit_length() <= 64 else None
    if isinstance(node, nodes.Neg):
        value = _integer(node.node)
        return None if value is None else -value
    if isinstance(node, nodes.Mul):
        left, right = _integer(node.left), _integer(node.right)
        return None if left is None or right is None else min(left * right, 2**64)
    if isinstance(node, nodes.Pow):
        base, times = _integer(node.left), _integer(node.right)
        if base is None or times is None or not 0 <= times <= 64 or base.bit_length() > 32:
            return None
        return int(min(base**times, 2**64))
    return None
