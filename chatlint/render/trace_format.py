"""`'%s' % value` and `'{}'.format(value)`, with runs.

The text is Python's own. The parts are found by formatting each conversion by itself; where they do not
add up to the text it is attributed as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from string import Formatter
from typing import TYPE_CHECKING, Protocol

from markupsafe import Markup

from chatlint.lazy import regex
from chatlint.render import guard
from chatlint.render.trace import Traced, computed, plain, smeared, together
from chatlint.render.trace_containers import represented, shown

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedFormatter

_CONVERSION = regex(r"%(?:\(([^()]*)\))?([#0\- +]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]?([diouxXeEfFgGcrsa%])")


def printed(form: Traced, values: object) -> str:
    """`form % values`."""
    bound_printf(form, values)
    text = str.__mod__(form, values)
    guard.sized(len(text))
    if text == form:
        return form
    try:
        parts = list(_printed(form, values))
    except (TypeError, ValueError, KeyError, IndexError, OverflowError):
        parts = []
    if "".join(parts) == text:
        return together(text, parts)
    return smeared(text, form, *_texts(values))


def bound_printf(form: str, values: object) -> None:
    """Refuse `form % values` where it makes a string too long."""
    guard.widths(form)
    for value in values if isinstance(values, tuple) else (values,):
        guard.light(value)
        if "*" in form:
            guard.width(value)
    room = sum(len(value) for value in _texts(values))
    guard.sized(len(form) + room * (1 if isinstance(values, tuple) else str.count(form, "%")))
    guard.parts(str.count(form, "%"))


def _texts(values: object) -> list[str]:
    found = (
        values if isinstance(values, tuple) else values.values() if isinstance(values, dict) else (values,)
    )
    return [value for value in found if isinstance(value, str)]


def _printed(form: Traced, values: object) -> Iterator[str]:
    following = iter(values if isinstance(values, tuple) else (values,))
    at = 0
    for match in _CONVERSION.finditer(plain(form)):
        yield form[at : match.start()]
        at = match.end()
        name, _flags, width, precision, letter = match.groups()
        if letter == "%":
            yield form[match.start() : match.start() + 1]
            continue
        stars = tuple(next(following) for part in (width, precision) if part == "*")
        value = values[name] if name is not None else next(following)  # type: ignore[index]
        conversion = "%" + match[0][match[0].index(")") + 1 :] if name is not None else match[0]
        yield fitted(plain(conversion % (*stars, value)), _inner(value, letter))
    yield form[at:]


def _inner(value: object, letter: str) -> str:
    if letter == "r":
        return represented(value)
    return shown(value)


def fitted(text: str, inner: str) -> str:
    """`text`, which holds the whole of `inner` with padding around it, or the beginning of it."""
    if text == inner:
        return inner
    at = text.find(inner) if inner else -1
    if at >= 0:
        return together(text, [computed(text[:at]), inner, computed(text[at + len(inner) :])])
    if inner.startswith(text):
        return inner[: len(text)]
    return smeared(text, inner)


def formatted(
    form: str, formatter: SandboxedFormatter, arguments: Sequence[object], names: Mapping[str, object]
) -> str:
    """`form.format(*arguments, **names)` as the sandbox does it."""
    guard.widths(form)
    guard.parts(str.count(form, "{"))
    bounded = _bounded(formatter)
    text = bounded.vformat(plain(form), arguments, names)
    guard.sized(len(text))
    try:
        parts = list(_fields(form, bounded, arguments, names))
    except (TypeError, ValueError, LookupError, AttributeError):
        parts = []
    if "".join(parts) == text:
        return together(text, parts)
    values = [value for value in (*arguments, *names.values()) if isinstance(value, str)]
    return smeared(text, form, *values)


def _bounded(formatter: SandboxedFormatter) -> SandboxedFormatter:
    original = formatter.format_field
    total = 0

    def format_field(value: object, specification: str) -> str:
        nonlocal total
        guard.widths(specification)
        guard.light(value)
        field: str = original(value, specification)
        total += len(field)
        guard.sized(total)
        return field

    formatter.format_field = format_field  # type: ignore[method-assign, assignment]
    return formatter


def _fields(
    form: str, formatter: SandboxedFormatter, arguments: Sequence[object], names: Mapping[str, object]
) -> Iterator[str]:
    at = number = 0
    for literal, name, specification, conversion in Formatter().parse(plain(form)):
        at = plain(form).index(literal, at)
        yield form[at : at + len(literal)]
        at += len(literal)
        if name is None:
            continue
        if name == "" or name[:1] in ".[":
            name, number = f"{number}{name}", number + 1
        value, _ = formatter.get_field(name, arguments, names)
        specification = formatter.vformat(specification or "", arguments, names)
        yield _field(value, specification, conversion, formatter)


def _field(value: object, specification: str, conversion: str | None, formatter: SandboxedFormatter) -> str:
    inner = represented(value) if conversion == "r" else shown(value)
    given = value if conversion is None else formatter.convert_field(value, conversion)
    return fitted(plain(formatter.format_field(given, specification)), inner)


class Format(Protocol):
    """A string's `format` or `format_map`."""

    def __call__(self, *arguments: object, **names: object) -> str: ...


def bound_format(value: object, wrap: Callable[[Markup | str], SandboxedFormatter]) -> Format | None:
    """For a string's `format` or `format_map`, the function that does it in the sandbox; None for all
    else."""
    name = getattr(value, "__name__", "")
    text = getattr(value, "__self__", None)
    if name not in ("format", "format_map") or not isinstance(text, str):
        return None

    def wrapper(*arguments: object, **names: object) -> str:
        if name == "format_map":
            if names:
                raise TypeError("format_map() takes no keyword arguments")
            if len(arguments) != 1:
                raise TypeError(f"format_map() takes exactly one argument ({len(arguments)} given)")
            return _formatted(text, wrap(text), (), arguments[0])
        return _formatted(text, wrap(text), arguments, names)

    return wrapper


def _formatted(text: str, formatter: SandboxedFormatter, arguments: Sequence[object], names: object) -> str:
    if isinstance(text, Markup):
        guard.widths(text)
        from chatlint.render.trace_markup import safe

        whole = _bounded(formatter).vformat(plain(text), arguments, names)  # type: ignore[call-overload]
        guard.sized(len(whole))
        given = [value for value in arguments if isinstance(value, str)]
        return safe(smeared(plain(whole), text, *given))
    return formatted(text, formatter, arguments, names)  # type: ignore[arg-type]
