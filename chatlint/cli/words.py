"""A command line that is in order is read here; any other one is typer's.

Typer writes help pages, says what is wrong with a command line, and tells shells how to complete one. To
import it and have it look at a command takes longer than many a command itself. A line that is spelled out
needs none of this: options by a whole name, each value in a word of its own or after `=`, and arguments.
What is in doubt here is left to typer, which reads the same declarations; tests hold the two together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from chatlint.cli.declared import Argument, Command, Group, Option, Parameter, Value, defaults, parameters


def call_of(found: Command | Group, words: Sequence[str]) -> Callable[[], None] | None:
    """The call that words mean after the name of a command or group; None where typer is to read them."""
    if any(name.startswith("_") and name.endswith("_COMPLETE") for name in os.environ):
        return None
    if isinstance(found, Group):
        below = found.commands.get(words[0]) if words else None
        return call_of(below, words[1:]) if below else None
    values = read_words(found, words)
    return None if values is None else partial(found, **values)


def read_words(command: Command, words: Sequence[str]) -> dict[str, Value] | None:
    """What words give the parameters of a command; None where typer is to read them."""
    if os.name == "nt" or "" in words:
        return None  # typer expands wildcards there, and says of what may not be empty that it is missing
    taken, values = parameters(command), defaults(command)
    places = _without_options(taken, iter(words), values)
    arguments = [parameter for parameter in taken if isinstance(parameter.told, Argument)]
    if places is None or not _have_places(arguments, places, values):
        return None
    return values if len(values) == len(taken) else None


def _without_options(
    taken: Sequence[Parameter], words: Iterator[str], values: dict[str, Value]
) -> list[str] | None:
    """The words that stand for themselves; what options say is put into `values`."""
    options = {name: one for one in taken if isinstance(one.told, Option) for name in one.told.names}
    places: list[str] = []
    lists: dict[str, list[str]] = {}
    for word in words:
        if not _is_option(word):
            places.append(word)
            continue
        name, equals, value = word.partition("=")
        option = options.get(name)
        if option is None or "/" in name:  # --yes/--no declares two names of a flag
            return None
        if equals and (option.is_flag or not value or not name.startswith("--")):
            return None
        if option.is_flag:
            values[option.name] = True
            continue
        value = value if equals else next(words, "--")
        if not equals and _is_option(value):
            return None
        if option.is_list:
            lists.setdefault(option.name, []).append(value)
        else:
            values[option.name] = value
    values.update(lists)
    return places


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"


def _have_places(arguments: Sequence[Parameter], words: Sequence[str], values: dict[str, Value]) -> bool:
    """Puts the arguments into `values`, as long as there are words; whether every word has its place."""
    if arguments and arguments[-1].is_list:
        first, last = arguments[:-1], arguments[-1]
        if words[len(first) :]:
            values[last.name] = list(words[len(first) :])
        arguments, words = first, words[: len(first)]
    values.update(zip((argument.name for argument in arguments), words, strict=False))
    return len(words) <= len(arguments) and not any(argument.is_list for argument in arguments)
