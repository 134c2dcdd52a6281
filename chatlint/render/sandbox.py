"""The environment that templates run in: Jinja's immutable sandbox, set as transformers sets it, traced and
bounded.

Attribute access and calls take shortcuts for what templates do most (members of objects, methods of
strings); the shortcuts give what Jinja's own lookups give.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from types import BuiltinMethodType, FunctionType, MethodType
from typing import NoReturn, TypeVar

from jinja2.exceptions import SecurityError, TemplateError
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import SandboxedEscapeFormatter, SandboxedFormatter
from jinja2.utils import Namespace, generate_lorem_ipsum
from markupsafe import Markup

from chatlint.render import guard
from chatlint.render.absent import Absent
from chatlint.render.codegen import ChatCodeGenerator
from chatlint.render.grammar import ChatGrammar
from chatlint.render.hosts import Host
from chatlint.render.operators import concat
from chatlint.render.trace import Traced, computed, plain
from chatlint.render.trace_containers import built_in
from chatlint.render.trace_filters import FILTERS
from chatlint.render.trace_format import Format, bound_format
from chatlint.render.trace_json import tojson as written
from chatlint.render.trace_markup import safe

Function = TypeVar("Function")

_OBJECT_NAMES = frozenset(dir(dict))
_OBJECT_METHODS = frozenset(("items", "keys", "values", "get", "copy"))
_STRING_METHODS = frozenset(name for name in dir(str) if name[0] != "_") - {"format", "format_map"}
_LOOP_NAMES = frozenset(name for name in dir(LoopContext) if name[0] != "_")
_STRINGS = frozenset((str, Traced))
_NOTHING = object()
_ATTRIBUTES = "_Namespace__attrs"
"""Where a namespace has them. Its own way there goes through Python twice."""
_held = object.__getattribute__
_HIDDEN = frozenset(("_runs", "_source"))
_INT_METHODS_THAT_GROW = frozenset(("to_bytes", "center", "ljust", "rjust", "zfill", "expandtabs"))
_COMPARING_TESTS = (
    "eq",
    "equalto",
    "==",
    "ne",
    "!=",
    "lt",
    "<",
    "lessthan",
    "le",
    "<=",
    "gt",
    ">",
    "ge",
    ">=",
    "in",
)
_BYTES_METHODS_THAT_GROW = frozenset(("join", "replace", "translate"))


class Declined(TemplateError):
    """The template's own `raise_exception`."""


class ChatEnvironment(ChatGrammar):
    """One host's environment. `now` is what `strftime_now` reads."""

    code_generator_class = ChatCodeGenerator
    concat = staticmethod(concat)

    def __init__(self, host: Host, trims: bool = True) -> None:
        super().__init__()
        self.trims = trims
        self.undefined = Absent
        self.now: datetime | None = None
        self.filters.update(FILTERS)
        for name in _COMPARING_TESTS:
            self.tests[name] = _weighed(self.tests[name])  # type: ignore[assignment]
        self.filters["tojson"] = _json_filter(host)
        self.globals["raise_exception"] = _raising(host)
        self.globals["strftime_now"] = self._clock(host)
        self.globals["lipsum"] = lipsum
        self.globals["namespace"] = RestrictedNamespace if host.restricts_globals else ChatNamespace
        if host.restricts_globals:
            self.globals["dict"] = TemplateDict()

    def _clock(self, host: Host) -> Callable[[str], str]:
        def strftime_now(format: str) -> str:  # noqa: A002
            assert self.now is not None  # else there is no such function
            return computed(self.now.strftime(str.__str__(format) if type(format) is Traced else format))

        return _named(strftime_now, host)

    # -- lookups

    def getattr(self, obj: object, attribute: str) -> object:
        """`obj.attribute`."""
        kind = type(obj)
        if kind is dict:
            if attribute not in _OBJECT_NAMES:
                found: object = obj.get(attribute, _NOTHING)  # type: ignore[attr-defined]
                return found if found is not _NOTHING else Absent(None, obj, attribute)
            if attribute in _OBJECT_METHODS:
                return getattr(obj, attribute)
        elif attribute in _STRING_METHODS:
            if kind is Traced:
                return getattr(obj, attribute)
            if kind is str:
                return getattr(computed(obj), attribute)  # type: ignore[arg-type]
        elif kind is LoopContext:
            if attribute in _LOOP_NAMES:
                return getattr(obj, attribute)
        elif kind in _NAMESPACES and attribute[:1] != "_":
            found = _held(obj, _ATTRIBUTES).get(attribute, _NOTHING)
            return found if found is not _NOTHING else Absent(None, obj, attribute)
        if attribute in _HIDDEN and hasattr(obj, attribute):
            return Absent(None, obj, attribute)
        return super().getattr(built_in(obj), attribute)

    def getitem(self, obj: object, argument: object) -> object:
        """`obj[argument]`."""
        if type(argument) is tuple:
            guard.weigh(argument)  # it is hashed
        if type(obj) is dict or type(obj) is list:
            try:
                return obj[argument]  # type: ignore[call-overload]
            except (TypeError, LookupError):
                if type(obj) is dict and type(argument) in _STRINGS and argument not in _OBJECT_NAMES:
                    return Absent(None, obj, argument)  # type: ignore[arg-type]
        elif isinstance(argument, str) and argument in _HIDDEN and hasattr(obj, argument):
            return Absent(None, obj, argument)
        return super().getitem(obj, argument)

    def wrap_str_format(self, value: object) -> Format | None:
        """Jinja's hook for `format` and `format_map` of strings."""
        if type(value) is not BuiltinMethodType and type(value) is not MethodType:
            return None
        return bound_format(value, self._formatter)

    def _formatter(self, text: Markup | str) -> SandboxedFormatter:
        if isinstance(text, Markup):
            return SandboxedEscapeFormatter(self, escape=Markup.escape)
        return SandboxedFormatter(self)

    # -- calls

    def call(__self, __context: Context, __obj: object, *args: object, **kwargs: object) -> object:  # noqa: N805
        """`obj(*args, **kwargs)`."""
        kind = type(__obj)
        if kind is Macro:
            kwargs.pop("_loop_vars", None)
            kwargs.pop("_block_vars", None)
            return __obj(__context.eval_ctx, *args, **kwargs)  # type: ignore[operator]
        if kind is BuiltinMethodType:
            _may_grow(__obj, args)  # type: ignore[arg-type]
        elif kind is MethodType and type(__obj.__self__) is LoopContext:  # type: ignore[attr-defined]
            guard.light(args)  # `loop.changed` compares
            return super().call(__context, __obj, *args, **kwargs)
        elif kind is type and (__obj is RestrictedNamespace or __obj is ChatNamespace):
            pass
        elif kind is not MethodType or type(__obj.__self__) is not Traced:  # type: ignore[attr-defined]
            return super().call(__context, __obj, *args, **kwargs)
        kwargs.pop("_loop_vars", None)
        kwargs.pop("_block_vars", None)
        return __obj(*args, **kwargs)  # type: ignore[operator]


def _may_grow(method: BuiltinMethodType, arguments: tuple[object, ...]) -> None:
    name, owner = method.__name__, method.__self__
    if name in _INT_METHODS_THAT_GROW:
        for argument in arguments:
            guard.width(argument)
    elif name in _BYTES_METHODS_THAT_GROW and isinstance(owner, bytes):
        guard.sized((len(owner) + 1) * sum(map(_bytes_in, arguments)))
    elif isinstance(owner, (list, tuple)):
        guard.light(owner)
    elif name in ("rfind", "rindex") and isinstance(owner, str) and arguments:
        guard.search(owner, arguments[0])
    for argument in arguments:
        guard.light(argument)


def _weighed(test: object) -> object:
    """A test that compares: the values are weighed first."""

    def weighed(*args: object) -> object:
        guard.light(args)
        return test(*args)  # type: ignore[operator]

    return weighed


def _bytes_in(argument: object) -> int:
    if isinstance(argument, (list, tuple)):
        return sum(map(_bytes_in, argument)) + len(argument)
    return len(argument) if isinstance(argument, bytes) else 0


def _named(function: Function, host: Host) -> Function:
    """The function, under the name that exceptions about its arguments have in the host."""
    if isinstance(function, FunctionType):
        function.__qualname__ = f"{host.compiling_function}.<locals>.{function.__name__}"
    return function


def _raising(host: Host) -> Callable[[str], NoReturn]:
    def raise_exception(message: str) -> NoReturn:
        raise Declined(message)

    return _named(raise_exception, host)


def _json_filter(host: Host) -> object:
    def tojson(
        x: object,
        ensure_ascii: bool = False,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        return written(x, ensure_ascii, indent, separators, sort_keys)

    return _named(tojson, host)


def lipsum(n: int = 5, html: bool = True, min: int = 20, max: int = 100) -> str:  # noqa: A002
    """Jinja's filler text, of a bounded length."""
    guard.charge(n * max)
    text = generate_lorem_ipsum(n, html, min, max)
    return safe(computed(plain(text))) if isinstance(text, Markup) else computed(text)


class ChatNamespace(Namespace):
    """Jinja's namespace. Printing one is a step, as it may hold itself many times over."""

    def __setitem__(self, name: str, value: object) -> None:
        _held(self, _ATTRIBUTES)[name] = value

    def __repr__(self) -> str:
        guard.tick()
        return super().__repr__()


class RestrictedNamespace(ChatNamespace):
    """The same, refusing names that begin with an underscore (transformers since 5.23)."""

    def __init__(*args: object, **kwargs: object) -> None:
        # As Jinja's own: `namespace(self=…)` must work.
        self, values = args[0], dict(*args[1:], **kwargs)
        for name in values:
            _check_name(name)
        Namespace.__init__(self, values)

    def __setitem__(self, name: str, value: object) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(
            f"Chat templates cannot store underscore-prefixed attributes on a namespace, but got {name!r}. "
            "Please rename the attribute."
        )


class TemplateDict:
    """All that templates see of `dict` (transformers since 5.23)."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: object, **kwargs: object) -> dict[object, object]:
        """`dict.fromkeys`."""
        guard.light(args)
        return dict.fromkeys(*args, **kwargs)  # type: ignore[call-overload, no-any-return]


ChatNamespace.__name__ = ChatNamespace.__qualname__ = "Namespace"
ChatNamespace.__module__ = "jinja2.utils"
RestrictedNamespace.__name__ = RestrictedNamespace.__qualname__ = "TemplateNamespace"
for _class in (RestrictedNamespace, TemplateDict):
    _class.__module__ = "transformers.utils.chat_template_utils"
_NAMESPACES = frozenset((ChatNamespace, RestrictedNamespace))
