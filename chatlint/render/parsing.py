"""The parser of chat templates: Jinja's, with its ten methods for the precedence of operators in one.

Jinja goes through all ten for every operand. The trees are the same, to the lines of their nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from jinja2 import nodes
from jinja2.lexer import Token, describe_token

from chatlint.render.making import MakingParser

_CallArguments: TypeAlias = tuple[list[nodes.Expr], list[nodes.Keyword], nodes.Expr | None, nodes.Expr | None]

_DEEPEST = 70
"""So deep may brackets be nested. With Jinja's parser Python's stack ends there."""
_CONSTANTS = {"true": True, "True": True, "false": False, "False": False, "none": None, "None": None}
_OR, _AND, _NOT, _COMPARE, _SUM, _CONCAT, _PRODUCT, _POWER = range(1, 9)
_OPERATORS: dict[str, tuple[int, type[nodes.BinExpr]]] = {
    "or": (_OR, nodes.Or),
    "and": (_AND, nodes.And),
    "add": (_SUM, nodes.Add),
    "sub": (_SUM, nodes.Sub),
    "mul": (_PRODUCT, nodes.Mul),
    "div": (_PRODUCT, nodes.Div),
    "floordiv": (_PRODUCT, nodes.FloorDiv),
    "mod": (_PRODUCT, nodes.Mod),
    "pow": (_POWER, nodes.Pow),
}
_COMPARISONS = frozenset(("eq", "ne", "lt", "lteq", "gt", "gteq"))
_LEVELS = {sign: level for sign, (level, _) in _OPERATORS.items()}
_LEVELS |= dict.fromkeys(_COMPARISONS, _COMPARE) | {"tilde": _CONCAT}
_WORDS = {"or": _OR, "and": _AND, "in": _COMPARE, "not": _COMPARE}
_POSTFIXES = frozenset(("dot", "lbracket", "lparen"))
_FILTERING = frozenset(("pipe", "lparen"))
_SUBSCRIPT_ENDS = frozenset(("rbracket", "comma"))


def _is_word(token: Token, word: str) -> bool:
    return token.type == "name" and token.value == word


class PlacingParser(MakingParser):
    """Jinja's parser; a string, and a name that is read, get their offset."""

    _depth = 0

    # -- operators

    def parse_condexpr(self) -> nodes.Expr:
        stream = self.stream
        line = stream.current.lineno
        node = self.parse_or()
        while _is_word(stream.current, "if"):
            next(stream)
            test, other = self.parse_or(), None
            if _is_word(stream.current, "else"):
                next(stream)
                other = self.parse_condexpr()
            found = self.made(nodes.CondExpr, line, test, node, *((other,) if other is not None else ()))
            found.test, found.expr1, found.expr2 = test, node, other
            node, line = found, stream.current.lineno
        return node

    def parse_or(self) -> nodes.Expr:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise RecursionError("brackets are nested too deep")
        node = self._operation(_OR)
        self._depth -= 1
        return node

    def _operation(self, least: int) -> nodes.Expr:
        """An operand, with all operators behind it that bind at least so tight. Of the first operator of a
        level Jinja keeps the line where the left side begins, of the others their own."""
        stream = self.stream
        begin = stream.current.lineno
        left = self._negation() if least <= _NOT else self.parse_unary()
        last = 0
        while True:
            token = stream.current
            level = self._level(token) if token.type == "name" else _LEVELS.get(token.type, 0)
            if level < least or not level:
                return left
            if level == _COMPARE:
                left = self._comparison(left)
            elif level == _CONCAT:
                left = self._concatenation(left, begin)
            else:
                left = self._binary(left, token.lineno if level == last else begin, level)
            last = level

    def _level(self, word: Token) -> int:
        level = _WORDS.get(word.value, 0)
        return 0 if word.value == "not" and not _is_word(self.stream.look(), "in") else level

    def _negation(self) -> nodes.Expr:
        token = self.stream.current
        if not _is_word(token, "not"):
            return self.parse_unary()
        next(self.stream)
        again = _is_word(self.stream.current, "not")
        negated = self._negation() if again else self._operation(_COMPARE)
        node = self.made(nodes.Not, token.lineno, negated)
        node.node = negated
        return node

    def _binary(self, left: nodes.Expr, line: int, level: int) -> nodes.Expr:
        token = next(self.stream)
        kind = _OPERATORS[token.value if token.type == "name" else token.type][1]
        right = self._operation(level + 1)
        node = self.made(kind, line, left, right)
        node.left, node.right = left, right
        return node

    def _comparison(self, left: nodes.Expr) -> nodes.Expr:
        operands: list[nodes.Operand] = []
        while operator := self._comparing():
            right = self._operation(_SUM)
            operand = self.made(nodes.Operand, None, right)
            operand.op, operand.expr = operator, right
            operands.append(operand)
        node = self.made(nodes.Compare, self.stream.current.lineno, left, *operands)
        node.expr, node.ops = left, operands
        return node

    def _comparing(self) -> str:
        """Read an operator that compares; "" if there is none."""
        token = self.stream.current
        if token.type in _COMPARISONS:
            return next(self.stream).type
        if token.type != "name" or self._level(token) != _COMPARE:
            return ""
        next(self.stream)
        if token.value == "in":
            return "in"
        next(self.stream)
        return "notin"

    def _concatenation(self, left: nodes.Expr, line: int) -> nodes.Expr:
        parts = [left]
        while self.stream.current.type == "tilde":
            next(self.stream)
            parts.append(self._operation(_PRODUCT))
        node = self.made(nodes.Concat, line, *parts)
        node.nodes = parts
        return node

    # -- operands

    def parse_unary(self, with_filter: bool = True) -> nodes.Expr:
        stream = self.stream
        token = stream.current
        if token.type == "sub" or token.type == "add":
            next(stream)
            operand = self.parse_unary(False)
            signed = self.made(nodes.Neg if token.type == "sub" else nodes.Pos, token.lineno, operand)
            signed.node = operand
            node: nodes.Expr = signed
        else:
            node = self.parse_primary()
        if stream.current.type in _POSTFIXES:
            node = self.parse_postfix(node)
        if with_filter and (stream.current.type in _FILTERING or _is_word(stream.current, "is")):
            node = self.settled(self.parse_filter_expr(node))
        return node

    def parse_primary(self, with_namespace: bool = False) -> nodes.Expr:
        token = self.stream.current
        kind = token.type
        if kind == "name":
            return self._word(with_namespace)
        if kind == "string":
            return self._string()
        if kind == "integer" or kind == "float":
            next(self.stream)
            return self._constant(token.value, token.lineno)
        return self.settled(super().parse_primary(with_namespace))

    def _word(self, with_namespace: bool) -> nodes.Expr:
        token = next(self.stream)
        if token.value in _CONSTANTS:
            return self._constant(_CONSTANTS[token.value], token.lineno)
        if with_namespace and self.stream.current.type == "dot":
            next(self.stream)
            attribute = self.stream.expect("name").value
            return self.settled(nodes.NSRef(token.value, attribute, lineno=token.lineno))
        node = self.made(nodes.Name, token.lineno)
        node.name, node.ctx = token.value, "load"
        node.offset = token.offset  # type: ignore[attr-defined]
        return node

    def _constant(self, value: object, line: int) -> nodes.Const:
        node = self.made(nodes.Const, line)
        node.value = value
        return node

    def _string(self) -> nodes.Const:
        token = next(self.stream)
        value = token.value
        while self.stream.current.type == "string":
            value += next(self.stream).value
        node = self._constant(value, token.lineno)
        node.offset = token.offset  # type: ignore[attr-defined]
        return node

    def parse_subscript(self, node: nodes.Expr) -> nodes.Getattr | nodes.Getitem:
        token = next(self.stream)
        if token.type != "dot":
            return self._item(node, self._subscripts(token.lineno), token.lineno)
        attribute = next(self.stream)
        if attribute.type == "name":
            found = self.made(nodes.Getattr, token.lineno, node)
            found.node, found.attr, found.ctx = node, attribute.value, "load"
            return found
        if attribute.type != "integer":
            self.fail("expected name or number", attribute.lineno)
        return self._item(node, self._constant(attribute.value, attribute.lineno), token.lineno)

    def _item(self, node: nodes.Expr, argument: nodes.Expr, line: int) -> nodes.Getitem:
        found = self.made(nodes.Getitem, line, node, argument)
        found.node, found.arg, found.ctx = node, argument, "load"
        return found

    def _subscripts(self, line: int) -> nodes.Expr:
        found: list[nodes.Expr] = []
        while self.stream.current.type != "rbracket":
            if found:
                self.stream.expect("comma")
            found.append(self.parse_subscribed())
        next(self.stream)
        return found[0] if len(found) == 1 else self.settled(nodes.Tuple(found, "load", lineno=line))

    def parse_subscribed(self) -> nodes.Expr:
        stream = self.stream
        line = stream.current.lineno
        start = None if stream.current.type == "colon" else self.parse_expression()
        if stream.current.type != "colon":
            assert start is not None
            return start
        next(stream)
        stop = None if stream.current.type == "colon" else self._bound()
        step = None
        if stream.current.type == "colon":
            next(stream)
            step = self._bound()
        return self.settled(nodes.Slice(start, stop, step, lineno=line))

    def _bound(self) -> nodes.Expr | None:
        """A bound of a slice, if it is there."""
        return None if self.stream.current.type in _SUBSCRIPT_ENDS else self.parse_expression()

    def parse_call(self, node: nodes.Expr) -> nodes.Call:
        line = self.stream.current.lineno
        node = self.settled(node)  # what is called may be a filter or a test, which Jinja's own methods make
        plain, named, rest, keywords = self.parse_call_args()
        starred = [one for one in (rest, keywords) if one is not None]
        call = self.made(nodes.Call, line, node, *plain, *named, *starred)
        call.node, call.args, call.kwargs = node, plain, named
        call.dyn_args, call.dyn_kwargs = rest, keywords
        return call

    def parse_call_args(self) -> _CallArguments:
        stream = self.stream
        opening = stream.expect("lparen")
        plain: list[nodes.Expr] = []
        named: list[nodes.Keyword] = []
        rest: nodes.Expr | None = None
        keywords: nodes.Expr | None = None
        while stream.current.type != "rparen":
            if plain or named or rest is not None or keywords is not None:
                stream.expect("comma")
                if stream.current.type == "rparen":
                    break
            kind = stream.current.type
            is_named = kind == "pow" or (kind == "name" and stream.look().type == "assign")
            if keywords is not None or not (is_named or (rest is None and (kind == "mul" or not named))):
                self.fail("invalid syntax for function call expression", opening.lineno)
            if kind == "mul":
                next(stream)
                rest = self.parse_expression()
            elif kind == "pow":
                next(stream)
                keywords = self.parse_expression()
            elif is_named:
                named.append(self._keyword())
            else:
                plain.append(self.parse_expression())
        next(stream)
        return plain, named, rest, keywords

    def _keyword(self) -> nodes.Keyword:
        key = next(self.stream).value
        next(self.stream)
        value = self.parse_expression()
        node = self.made(nodes.Keyword, value.lineno, value)
        node.key, node.value = key, value
        return node

    def parse_tuple(
        self,
        simplified: bool = False,
        with_condexpr: bool = True,
        extra_end_rules: tuple[str, ...] | None = None,
        explicit_parentheses: bool = False,
        with_namespace: bool = False,
    ) -> nodes.Tuple | nodes.Expr:
        if simplified:
            parse: Callable[[], nodes.Expr] = partial(self.parse_primary, with_namespace)
        else:
            parse = self.parse_condexpr if with_condexpr else self.parse_or
        items, line, is_tuple = self._items(parse, extra_end_rules)
        if items and not is_tuple:
            return items[0]
        if not is_tuple and not explicit_parentheses:
            self.fail(f"Expected an expression, got {describe_token(self.stream.current)!r}")
        return self.settled(nodes.Tuple(items, "load", lineno=line))

    def _items(
        self, parse: Callable[[], nodes.Expr], ends: tuple[str, ...] | None
    ) -> tuple[list[nodes.Expr], int, bool]:
        """What stands between commas, with the line of the last comma, else of the begin; and whether there
        is a comma."""
        stream = self.stream
        items: list[nodes.Expr] = []
        line = stream.current.lineno
        while not self.is_tuple_end(ends):
            items.append(parse())
            if stream.current.type != "comma":
                return items, line, len(items) > 1
            line = next(stream).lineno
        return items, line, bool(items)
