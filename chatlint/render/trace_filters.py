"""Jinja's filters that make text, with runs, and those that go through whole lists, counted.

Each calls Jinja's own filter, or the same operation of `Traced`, so that results and exceptions are Jinja's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import FunctionType
from typing import TYPE_CHECKING

from jinja2 import filters as stock
from jinja2 import pass_context, pass_environment, pass_eval_context
from jinja2.exceptions import FilterArgumentError
from markupsafe import Markup

from chatlint.render import guard
from chatlint.render.operators import added
from chatlint.render.trace import Traced, computed, joined, plain, recased, repeated, smeared, together
from chatlint.render.trace_containers import represented, shown
from chatlint.render.trace_json import tojson
from chatlint.render.trace_markup import TracedMarkup, html_safe, marked_safe, safe
from chatlint.render.trace_numbers import TracedFloat, TracedInt

if TYPE_CHECKING:
    from jinja2 import Environment
    from jinja2.nodes import EvalContext
    from jinja2.runtime import Context


def soft(value: object) -> str:
    """`soft_str(value)`: a string that operations on it keep the runs of."""
    if type(value) is Traced or type(value) is TracedMarkup:
        return value
    if isinstance(value, Markup):
        return marked_safe(value)
    return computed(value) if isinstance(value, str) else shown(value)


def bounded(value: object) -> object:
    """`value`, to be gone through once: counted now if its size is known, else while it is gone through."""
    if isinstance(value, (str, list, tuple, dict, range)):
        guard.items(len(value))
        return guard.light(value)
    return guard.counted(value) if isinstance(value, Iterator) else value


_SQUARE = 10
"""How much more an operation counts that may take quadratic time."""

# -- text


@pass_eval_context
def join(
    eval_ctx: EvalContext, value: Iterable[object], d: str = "", attribute: str | int | None = None
) -> str:
    """As Jinja's."""
    if attribute is not None:
        value = map(stock.make_attrgetter(eval_ctx.environment, attribute), value)
    if not eval_ctx.autoescape:
        return joined(shown(d), [shown(item) for item in value])
    parts = list(value)
    if hasattr(d, "__html__") or not any(hasattr(item, "__html__") for item in parts):
        return soft(d).join(map(soft, parts))
    return html_safe(d).join(part if hasattr(part, "__html__") else shown(part) for part in parts)  # type: ignore[misc]


@pass_eval_context
def replace(eval_ctx: EvalContext, s: object, old: object, new: object, count: int | None = None) -> str:
    """As Jinja's."""
    times = -1 if count is None else count
    if not eval_ctx.autoescape:
        return shown(s).replace(shown(old), shown(new), times)
    if hasattr(old, "__html__") or (hasattr(new, "__html__") and not hasattr(s, "__html__")):
        s = html_safe(s)
    return soft(s).replace(soft(old), soft(new), times)


def string(value: object) -> str:
    """As Jinja's."""
    return value if isinstance(value, str) else shown(value)


def upper(s: object) -> str:
    """As Jinja's."""
    return soft(s).upper()


def lower(s: object) -> str:
    """As Jinja's."""
    return soft(s).lower()


def capitalize(s: object) -> str:
    """As Jinja's."""
    return soft(s).capitalize()


def trim(value: object, chars: str | None = None) -> str:
    """As Jinja's."""
    return soft(value).strip(chars)


def center(value: object, width: int = 80) -> str:
    """As Jinja's."""
    return soft(value).center(width)


def title(s: object) -> str:
    """As Jinja's, which is not Python's: words begin after white space and opening brackets only."""
    text = soft(s)
    guard.items(len(text))
    return recased(_traced(text), stock.do_title(plain(text)))


def format_(value: object, *args: object, **kwargs: object) -> str:
    """As Jinja's."""
    if args and kwargs:
        raise FilterArgumentError("can't handle positional and keyword arguments at the same time")
    return soft(value) % (kwargs or args)


def indent(s: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    """As Jinja's."""
    guard.width(width)
    if isinstance(s, str):
        unit = len(width) if isinstance(width, str) else max(width, 0)
        guard.sized(len(s) + (str.count(s, "\n") + 1) * unit)
    text = stock.do_indent(Markup(plain(s)) if isinstance(s, Markup) else _stock(s), width, first, blank)
    parts = list(_indented(_traced(s), width, first, blank))
    found = together(plain(text), parts)
    return safe(found) if isinstance(s, Markup) else found


def _indented(s: Traced, width: int | str, first: bool, blank: bool) -> Iterator[str]:
    by: str = width if isinstance(width, str) else computed(" " * width)
    if first:
        yield by
    for number, line in enumerate((s + "\n").splitlines()):
        if number:
            yield "\n"
            if line or blank:
                yield by
        yield line


def _stock(s: object) -> str:
    return plain(s) if isinstance(s, str) else s  # type: ignore[return-value]


def _traced(text: str) -> Traced:
    found = str(text)
    return found if isinstance(found, Traced) else computed(found)


@pass_environment
def wordwrap(
    environment: Environment,
    s: str,
    width: int = 79,
    break_long_words: bool = True,
    wrapstring: str | None = None,
    break_on_hyphens: bool = True,
) -> str:
    """As Jinja's; attributed as a whole."""
    guard.items(len(s) * _SQUARE)
    text = stock.do_wordwrap(environment, plain(s), width, break_long_words, wrapstring, break_on_hyphens)
    return smeared(plain(text), s)


@pass_eval_context
def urlize(eval_ctx: EvalContext, value: str, *args: object, **kwargs: object) -> str:
    """As Jinja's; attributed as a whole."""
    guard.items(len(value) * _SQUARE)
    return smeared(plain(stock.do_urlize(eval_ctx, plain(value), *args, **kwargs)), value)  # type: ignore[arg-type]


def urlencode(value: object) -> str:
    """As Jinja's; attributed as a whole."""
    return smeared(stock.do_urlencode(guard.light(value)), soft(value))  # type: ignore[arg-type]


def striptags(value: str) -> str:
    """As Jinja's; attributed as a whole."""
    text = soft(value)
    guard.items(len(text) // 4)
    return smeared(plain(stock.do_striptags(Markup(plain(text)))), text)


@pass_eval_context
def xmlattr(eval_ctx: EvalContext, d: Mapping[str, object], autospace: bool = True) -> str:
    """As Jinja's; attributed as a whole."""
    text = plain(stock.do_xmlattr(eval_ctx, guard.light(d), autospace))
    return smeared(text, represented(d))


def pprint(value: object) -> str:
    """As Jinja's; attributed as a whole."""
    whole = represented(value)
    guard.charge(len(whole) // 4)
    return smeared(stock.do_pprint(value), whole)


def wordcount(s: object) -> int:
    """As Jinja's."""
    text = soft(s)
    guard.items(len(text) // 4)
    return stock.do_wordcount(text)


def forceescape(value: object) -> str:
    """As Jinja's."""
    return html_safe(str(value) if isinstance(value, Markup) else shown(value))


# -- numbers


def int_(value: object, default: int = 0, base: int = 10) -> object:
    """As Jinja's; a whole number of the conversation stays traced."""
    if type(value) is TracedInt:
        return value
    number: object = stock.do_int(value, default, base)
    if isinstance(number, int):
        guard.bits(number.bit_length())
    return number


def float_(value: object, default: float = 0.0) -> float:
    """As Jinja's; a number of the conversation stays traced."""
    return value if type(value) is TracedFloat else stock.do_float(value, default)


def round_(value: float, precision: int = 0, method: str = "common") -> float:
    """As Jinja's."""
    if isinstance(precision, int):
        guard.bits(4 * abs(precision))
    return stock.do_round(value, precision, method)  # type: ignore[arg-type]


# -- lists


def list_(value: Iterable[object]) -> list[object]:
    """As Jinja's."""
    return list(bounded(value))  # type: ignore[call-overload, no-any-return]


@pass_environment
def sum_(
    environment: Environment,
    iterable: Iterable[object],
    attribute: str | int | None = None,
    start: object = 0,
) -> object:
    """As Jinja's."""
    if not isinstance(start, (list, tuple)):
        return stock.sync_do_sum(environment, bounded(iterable), attribute, start)  # type: ignore[arg-type]
    if attribute is not None:
        iterable = map(stock.make_attrgetter(environment, attribute), iterable)
    total: object = start
    for item in iterable:
        total = added(total, item)
    return total


def batch(value: Iterable[object], linecount: int, fill_with: object = None) -> Iterator[list[object]]:
    """As Jinja's."""
    if fill_with is not None and isinstance(linecount, int):
        guard.items(linecount)
    return guard.counted(stock.do_batch(bounded(value), linecount, fill_with))  # type: ignore[arg-type]


def slice_(value: Iterable[object], slices: int, fill_with: object = None) -> Iterator[list[object]]:
    """As Jinja's."""
    return guard.counted(stock.sync_do_slice(bounded(value), slices, fill_with))  # type: ignore[arg-type]


def _lazy(filter_: object) -> object:
    def counted(context: Context, value: object, *args: object, **kwargs: object) -> Iterator[object]:
        return guard.counted(filter_(context, value, *args, **kwargs))  # type: ignore[operator]

    return pass_context(counted)


def _whole(filter_: object) -> object:
    def counted(environment: Environment, value: object, *args: object, **kwargs: object) -> object:
        return filter_(environment, bounded(value), *args, **kwargs)  # type: ignore[operator]

    return pass_environment(counted)


def unique(environment: Environment, value: object, *args: object, **kwargs: object) -> Iterator[object]:
    """As Jinja's."""
    return guard.counted(stock.sync_do_unique(environment, bounded(value), *args, **kwargs))  # type: ignore[arg-type]


def reverse(value: object) -> object:
    """As Jinja's."""
    return stock.do_reverse(bounded(value))  # type: ignore[call-overload]


def dictsort(value: object, *args: object, **kwargs: object) -> object:
    """As Jinja's."""
    return stock.do_dictsort(bounded(value), *args, **kwargs)  # type: ignore[arg-type]


FILTERS: Mapping[str, object] = {
    "batch": batch,
    "capitalize": capitalize,
    "center": center,
    "dictsort": dictsort,
    "e": html_safe,
    "escape": html_safe,
    "float": float_,
    "forceescape": forceescape,
    "format": format_,
    "groupby": _whole(stock.sync_do_groupby),
    "indent": indent,
    "int": int_,
    "join": join,
    "list": list_,
    "lower": lower,
    "map": _lazy(stock.sync_do_map),
    "max": _whole(stock.do_max),
    "min": _whole(stock.do_min),
    "pprint": pprint,
    "reject": _lazy(stock.sync_do_reject),
    "rejectattr": _lazy(stock.sync_do_rejectattr),
    "replace": replace,
    "reverse": reverse,
    "round": round_,
    "safe": marked_safe,
    "select": _lazy(stock.sync_do_select),
    "selectattr": _lazy(stock.sync_do_selectattr),
    "slice": slice_,
    "sort": _whole(stock.do_sort),
    "string": string,
    "striptags": striptags,
    "sum": sum_,
    "title": title,
    "tojson": tojson,
    "trim": trim,
    "unique": pass_environment(unique),
    "upper": upper,
    "urlencode": urlencode,
    "urlize": urlize,
    "wordcount": wordcount,
    "wordwrap": wordwrap,
    "xmlattr": xmlattr,
}
"""What stands in for Jinja's own filters of these names."""

for _name, _filter in FILTERS.items():
    # Exceptions about a filter's arguments name the function.
    _own = stock.FILTERS[_name]
    if isinstance(_filter, FunctionType) and isinstance(_own, FunctionType):
        _filter.__qualname__ = getattr(_own, "__wrapped__", _own).__qualname__


__all__ = ["FILTERS", "bounded", "repeated", "soft"]
