"""What a survey is about: targets as the command line names them, from lists too."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from chatlint.errors import UsageError
from chatlint.records import dataclass


@dataclass(frozen=True, slots=True)
class Named:
    """A target, and the name it has in the results."""

    target: str
    name: str


def named_targets(arguments: Sequence[str], *, corpus: bool = False) -> tuple[Named, ...]:
    """The targets of `TARGET… | @FILE | --corpus`, each name once.

    A list has one target on each line, maybe with a tab and another name for it; empty lines and those that
    begin with # are passed over. `@-` is standard input. Raises UsageError for a list that cannot be read,
    for a name of two targets, or if there are none.
    """
    found: dict[str, Named] = {}
    for one in _named(arguments, corpus=corpus):
        if found.setdefault(one.name, one) != one:
            raise UsageError(
                f"{found[one.name].target} and {one.target} are both named {one.name}",
                hint="names tell results apart",
            )
    if not found:
        raise UsageError("there is nothing to survey", hint="name targets, @FILE with a list, or --corpus")
    return tuple(found.values())


def _named(arguments: Sequence[str], *, corpus: bool) -> Iterator[Named]:
    if corpus:
        from chatlint.source.bundled import corpus_names

        yield from (Named(f"corpus:{name}", f"corpus:{name}") for name in corpus_names())
    for argument in arguments:
        if argument == "-":
            raise UsageError("a survey reads no template from standard input", hint="@- is a list of targets")
        yield from _listed(argument[1:]) if argument.startswith("@") else (Named(argument, argument),)


def _listed(path: str) -> Iterator[Named]:
    for line in _text(path).splitlines():
        target, _, name = (part.strip() for part in line.partition("\t"))
        if target and not target.startswith("#"):
            yield Named(target, name or target)


def _text(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"the list {path} cannot be read: {reason}") from error
