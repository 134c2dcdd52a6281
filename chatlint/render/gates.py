"""Text that a template writes only where somebody's message holds certain words.

A condition that compares the text of a message with a constant is a gate; so is one that reads a variable
which such a comparison set. Where what stands behind a gate holds prose, the template answers to words in a
conversation, which is how a backdoor in a template works. Conditions on structure (tags, switches like
`/name`, the kind of a content part, whether there is any text) are no gates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from jinja2 import nodes

from chatlint.lazy import regex
from chatlint.records import dataclass, field
from chatlint.render.grammar import children
from chatlint.render.tree import Tree, nodes_below

_TEXT = regex(r"/messages/\*/(?:content|reasoning_content|reasoning|thinking)(?:/\*(?:/text|/content)?)?")
"""Where a message's words are."""
_STRUCTURE = regex(
    r"\W*"  # punctuation alone
    r"|\s*[<\[({].{0,80}[>\])}]\s*"  # a tag
    r"|\s*</?[\w|:.-]{0,40}|[\w|:.-]{0,40}/?>\s*"  # half a tag
    r"|\s*/[\w-]{1,24}\s*"  # a switch
    r"|\W*(?:text|\w*(?:image|video|audio|file|media)\w*|data:\w*|https?:?//)\W*",  # media
    re.S,
)
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function", "model"})
_LEAST_LENGTH = 20
"""Comparing a length with less asks whether there is text at all, or how many parts."""
_PROSE = regex(r"(?<![^\W\d_])(?:[^\W\d_]{2,30}[,;:.!?]?[ \n]{1,4}){3}[^\W\d_]{2,}")
_LINK = regex(r"\bhttps?://[\w-]+\.|\bwww\.[\w-]+\.|\bdata:[\w/]+;base64,")
_ENCODED = regex(
    r"(?<![\w+/])(?=[A-Za-z0-9+/]*\d)(?=[A-Za-z0-9+/]*[a-z])(?=[A-Za-z0-9+/]*[A-Z])[A-Za-z0-9+/]{24,}={0,2}"
)
_INVISIBLE = regex("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_SEARCHES = frozenset(
    {"startswith", "endswith", "find", "rfind", "index", "rindex", "count", "split", "rsplit", "partition"}
    | {"rpartition", "removeprefix", "removesuffix", "strip", "lstrip", "rstrip"}
)
_TESTS = frozenset({"eq", "equalto", "==", "ne", "!=", "in", "sameas"})
_RESULT_ROLES = frozenset({"tool", "function", "observation", "ipython", "tool_response"})
_SETTING = frozenset((nodes.Assign, nodes.If, nodes.For, nodes.CondExpr))
_CHOOSING = frozenset((nodes.If, nodes.For, nodes.CondExpr, nodes.And, nodes.Or, nodes.Getitem, nodes.Mul))
_WORDLESS = frozenset((nodes.Compare, nodes.Test, nodes.Not))
_ABSENT = frozenset({"notin", "ne"})
LENGTH = "a length of "
"""What a trigger begins with that is no words."""
_ROUNDS = 4
_Node = TypeVar("_Node", bound=nodes.Node)


@dataclass(frozen=True, slots=True)
class Gate:
    """Text behind a condition on a message's words: what is looked for, what is written then, and the line
    of the condition. `kind` is `prose`, `a link`, `encoded text` or `invisible characters`; `in_result` says
    that only results of tools get there."""

    trigger: str
    text: str
    kind: str
    line: int
    in_result: bool = False


@dataclass(slots=True)
class GateWalk:
    """`places` gives the parts of a conversation that an expression may be."""

    places: Callable[[nodes.Node], frozenset[str]]
    _said: set[str] = field(default_factory=set)
    _triggers: dict[str, str] = field(default_factory=dict)
    _words: dict[int, bool] = field(default_factory=dict)
    _sought: dict[int, str] = field(default_factory=dict)
    _looking: dict[int, str] = field(default_factory=dict)
    _unwanted: set[str] = field(default_factory=set)
    """Words that are only to be absent."""
    _results: set[int] = field(default_factory=set)
    _texts: dict[frozenset[str], bool] = field(default_factory=dict)
    _kind_of: dict[str, str] = field(default_factory=dict)

    def gates(self, tree: Tree) -> tuple[Gate, ...]:
        """The gates of a tree with text behind them, in document order."""
        searches = [search for search in _searches(tree) if search[-1]]
        if not searches:
            return ()
        self._settle(tree.of(nodes.Assign), self._say)
        for node, searched, words in searches:
            if any(map(self._holds_words, searched)):
                self._sought[id(node)] = words
                if type(node) is nodes.Compare and node.ops[0].op in _ABSENT:
                    self._unwanted.add(words)
        if not self._sought:
            return ()
        self._kind_of = _telling(tree)
        if not self._kind_of:
            return ()
        self._settle([node for node in tree.every if type(node) in _SETTING], self._flow)
        self._find_results(tree.of(nodes.If))
        self._looking.clear()
        choosing = [node for node in tree.every if type(node) in _CHOOSING or id(node) in self._sought]
        return tuple(gate for node in choosing for gate in self._gates_at(node))

    def _settle(self, tree: Sequence[_Node], follow: Callable[[_Node], None]) -> None:
        """Follow assignments until nothing changes."""
        for _ in range(_ROUNDS):
            known = len(self._said) + len(self._triggers)
            self._words.clear()
            self._looking.clear()
            for node in tree:
                follow(node)
            if len(self._said) + len(self._triggers) == known:
                break

    # -- flows -----------------------------------------------------------------------------------------------

    def _say(self, node: nodes.Assign) -> None:
        if self._holds_words(node.node):
            self._said.update(_targets(node.target))

    def _flow(self, node: nodes.Node) -> None:
        """What is set by a comparison, or behind a gate, is known by it."""
        if type(node) is nodes.Assign:
            self._set([node], self._trigger(node.node))
        for trigger, body in self._branches(node):
            for inner in body:
                self._set([inner, *inner.find_all(nodes.Assign)], trigger)

    def _set(self, found: Iterable[nodes.Node], trigger: str) -> None:
        for node in found:
            if trigger and type(node) is nodes.Assign:
                for name in _targets(node.target):
                    self._triggers.setdefault(name, trigger)

    def _find_results(self, choices: Sequence[nodes.If]) -> None:
        """What stands in a branch for tool results."""
        for node in choices:
            for branch in (node, *node.elif_):
                if _asks_for_result(branch.test):
                    self._results.update(id(inner) for body in branch.body for inner in nodes_below(body))

    def _holds_words(self, node: nodes.Node) -> bool:
        """Whether an expression is made of a message's words."""
        known = self._words.get(id(node))
        if known is None:
            known = _name(node) in self._said or self._is_text(self.places(node))
            known = known or any(map(self._holds_words, _operands(node)))
            self._words[id(node)] = bool(known)
        return bool(known)

    def _is_text(self, places: frozenset[str]) -> bool:
        known = self._texts.get(places)
        if known is None:
            known = self._texts[places] = any(map(_TEXT.fullmatch, places))
        return known

    # -- triggers --------------------------------------------------------------------------------------------

    def _trigger(self, node: nodes.Node) -> str:
        """The words that an expression looks for in a message, "" if it looks for none. Of several those that
        have to be there, then those that must not, then a length."""
        known = self._looking.get(id(node))
        if known is None:
            known = self._sought.get(id(node)) or self._triggers.get(_name(node), "")
            known = known or min(filter(None, map(self._trigger, children(node))), key=self._rank, default="")
            self._looking[id(node)] = known
        return known

    def _rank(self, trigger: str) -> int:
        return 2 if trigger.startswith(LENGTH) else int(trigger in self._unwanted)

    # -- what stands behind ----------------------------------------------------------------------------------

    def _branches(self, node: nodes.Node) -> Iterator[tuple[str, list[nodes.Node]]]:
        """Pairs of a trigger and what depends on it."""
        if type(node) is nodes.If:
            triggers = []
            for branch in (node, *node.elif_):
                trigger = self._trigger(branch.test)
                triggers.append(trigger)
                if trigger:
                    yield trigger, branch.body
            other = next(filter(None, triggers), "")
            if other and node.else_:
                yield other, node.else_
        elif type(node) is nodes.For and node.test:
            trigger = self._trigger(node.test)
            if trigger:
                yield trigger, node.body
        elif type(node) is nodes.CondExpr:
            trigger = self._trigger(node.test)
            if trigger:
                yield trigger, [node.expr1, *([node.expr2] if node.expr2 else [])]

    def _chosen(self, node: nodes.Node) -> Iterator[tuple[str, list[nodes.Node]]]:
        """Expressions that choose by words: `and`, a table, a product, `replace`."""
        if type(node) is nodes.And or type(node) is nodes.Or:
            trigger = self._trigger(node.left)
            if trigger:
                yield trigger, [node.right]
        elif type(node) is nodes.Getitem:
            trigger = self._trigger(node.arg) or self._sought.get(id(node), "")
            if trigger:
                yield trigger, [node.node]
        elif type(node) is nodes.Mul:
            for chosen, by in ((node.left, node.right), (node.right, node.left)):
                trigger = self._trigger(by)
                if trigger:
                    yield trigger, [chosen]
        elif id(node) in self._sought:
            yield self._sought[id(node)], _replacements(node)

    def _gates_at(self, node: nodes.Node) -> Iterator[Gate]:
        for trigger, body in (*self._branches(node), *self._chosen(node)):
            for text in _texts(body):
                kind = self._kind_of.get(text)
                if trigger and kind:
                    yield Gate(trigger, text, kind, node.lineno, id(node) in self._results)
                    break


def _searches(tree: Tree) -> Iterator[tuple[nodes.Node, list[nodes.Expr], str]]:
    """Expressions that look for words: what each looks into, and the words, "" for none."""
    for comparison in tree.of(nodes.Compare):
        operands = [comparison.expr, *(operand.expr for operand in comparison.ops)]
        yield comparison, operands, _words_in(operands) or _length_in(operands)
    for call in tree.of(nodes.Call):
        if type(call.node) is nodes.Getattr:
            yield call, *_called(call, call.node)
    for test in tree.of(nodes.Test):
        if test.name in _TESTS:
            yield test, [test.node], _words_in(test.args)
    for replaced in tree.of(nodes.Filter):
        if replaced.name == "replace" and replaced.node is not None:
            yield replaced, [replaced.node], _words_in(replaced.args[:1])
    for item in tree.of(nodes.Getitem):
        if type(item.node) is nodes.Dict:
            yield item, [item.arg], _words_in([pair.key for pair in item.node.items])


def _called(node: nodes.Call, method: nodes.Getattr) -> tuple[list[nodes.Expr], str]:
    if method.attr in _SEARCHES:
        return [method.node], _words_in(node.args)
    if method.attr == "replace":
        return [method.node], _words_in(node.args[:1])
    if method.attr == "get" and type(method.node) is nodes.Dict:
        return list(node.args), _words_in([pair.key for pair in method.node.items])
    return [], ""


def _replacements(node: nodes.Node) -> list[nodes.Node]:
    """What `replace` writes instead of words, and what a table has for them."""
    if type(node) is nodes.Filter and node.name == "replace":
        return list(node.args[1:])
    if type(node) is nodes.Call and type(node.node) is nodes.Getattr:
        if node.node.attr == "replace":
            return list(node.args[1:])
        if node.node.attr == "get":
            return [node.node.node]
    return []


def _asks_for_result(test: nodes.Node) -> bool:
    return any(
        type(node) is nodes.Const and isinstance(node.value, str) and node.value in _RESULT_ROLES
        for node in nodes_below(test)
    )


def _telling(tree: Tree) -> dict[str, str]:
    """The constants that are more than structure, and what makes them that."""
    texts = {str(node.data) for node in tree.of(nodes.TemplateData)}
    texts.update(node.value for node in tree.of(nodes.Const) if isinstance(node.value, str))
    return {text: kind for text in texts if (kind := kind_of(text))}


def kind_of(text: str) -> str:
    """What makes a constant more than structure, "" if nothing does."""
    if _INVISIBLE.search(text):
        return "invisible characters"
    if _LINK.search(text):
        return "a link"
    if _ENCODED.search(text):
        return "encoded text"
    return "prose" if _PROSE.search(text) else ""


def _texts(body: Iterable[nodes.Node]) -> Iterator[str]:
    """Constants at and below nodes, but for those that only refusals say, or that are only looked for."""
    stack = list(body)
    while stack:
        node = stack.pop()
        if type(node) is nodes.TemplateData:
            yield str(node.data)
        elif type(node) is nodes.Const:
            if isinstance(node.value, str):
                yield node.value
        elif type(node) is nodes.Compare or type(node) is nodes.Test:
            continue
        elif not (type(node) is nodes.Call and _name(node.node) == "raise_exception"):
            stack.extend(children(node))


def _words_in(operands: Iterable[nodes.Node]) -> str:
    """The first constant that is no structure."""
    for node in operands:
        items = node.items if type(node) is nodes.List or type(node) is nodes.Tuple else [node]
        for item in items:
            text = item.value if type(item) is nodes.Const else ""
            if isinstance(text, str) and text not in _ROLES and not _STRUCTURE.fullmatch(text):
                return text
    return ""


def _length_in(operands: Iterable[nodes.Node]) -> str:
    for node in operands:
        if type(node) is nodes.Const and type(node.value) is int and node.value >= _LEAST_LENGTH:
            return f"{LENGTH}{node.value}"
    return ""


def _operands(node: nodes.Node) -> Iterable[nodes.Node]:
    """What an expression's value is made of; a comparison or a test has no words."""
    if type(node) in _WORDLESS:
        return ()
    if type(node) is nodes.CondExpr:
        return [node.expr1, *([node.expr2] if node.expr2 else [])]
    if type(node) is nodes.Getattr or type(node) is nodes.Getitem:
        return (node.node,)
    if type(node) is nodes.Call:
        return (node.node, *node.args)
    return children(node)


def _name(node: nodes.Node) -> str:
    """A variable's name, or `namespace.attribute`."""
    if type(node) is nodes.Name:
        return node.name
    if type(node) is nodes.NSRef:
        return f"{node.name}.{node.attr}"
    if type(node) is nodes.Getattr and type(node.node) is nodes.Name:
        return f"{node.node.name}.{node.attr}"
    return ""


def _targets(target: nodes.Node) -> list[str]:
    items = target.items if type(target) is nodes.Tuple else [target]
    return [name for name in map(_name, items) if name]
