"""The Jinja environment as transformers sets it, and templates parsed in it.

Source: `transformers.utils.chat_template_utils` of 5.24.0 (`_cached_compile_jinja_template`) and 4.57.1: an
immutable sandbox with `trim_blocks`, `lstrip_blocks`, the loop controls and `{% generation %}`; all else is
Jinja's default. `jinja2` is imported inside the functions: this module is cheap to import.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from chatlint.errors import TemplateError
from chatlint.limits import TEMPLATE_SOURCE_CHARACTERS

if TYPE_CHECKING:
    from jinja2 import nodes

    from chatlint.render.hosts import Host
    from chatlint.render.sandbox import ChatEnvironment


class TemplateTooLarge(TemplateError):
    """The template is longer than `chatlint.limits` allows, or nested too deep."""


def parse_template(source: str) -> nodes.Template:
    """The tree of a template, with newlines as Jinja normalises them (`\\r\\n` and `\\r` become `\\n`, one
    trailing newline is dropped). The tree is shared: it must not be changed. It is that of hosts that trim,
    with what others have (`grammar.untrimmed`).

    Raises TemplateError with the line for a syntax error, and TemplateTooLarge where the source is longer
    than `limits.TEMPLATE_SOURCE_CHARACTERS` or `COMPILE_TOKENS`, or nested too deep to be parsed.
    """
    return _parsed(source)


@lru_cache(maxsize=8)
def _parsed(source: str) -> nodes.Template:
    from jinja2 import TemplateSyntaxError

    from chatlint.render.grammar import parsing_environment
    from chatlint.render.guard import BoundError

    if len(source) > TEMPLATE_SOURCE_CHARACTERS:
        raise TemplateTooLarge(
            f"a template of more than {TEMPLATE_SOURCE_CHARACTERS:,} characters", hint="shorten the template"
        )
    try:
        return parsing_environment().parse(source)
    except TemplateSyntaxError as error:
        raise TemplateError(error.message or "syntax error", line=error.lineno) from error
    except SyntaxError as error:  # of a number in other digits
        raise TemplateError(str(error)) from error
    except ValueError as error:  # of `int`, which reads no more than 4,300 digits
        raise TemplateError("a number with more digits than Python reads") from error
    except BoundError as error:
        raise TemplateTooLarge(str(error), hint="shorten the template") from error
    except RecursionError as error:
        raise TemplateTooLarge("a template that is nested too deep to be parsed") from error


_environments: dict[tuple[bool, str, bool], ChatEnvironment] = {}


def chat_environment(host: Host, trims: bool = True) -> ChatEnvironment:
    """The environment that a host runs templates in; one for all templates, and for all hosts that do not
    differ in it."""
    from chatlint.render.sandbox import ChatEnvironment

    key = host.restricts_globals, host.compiling_function, trims
    if key not in _environments:
        _environments[key] = ChatEnvironment(host, trims)
    return _environments[key]
