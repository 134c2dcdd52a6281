"""What a survey is about: targets as the command line names them, from lists too."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from pathlib import Path

from chatlint.errors import TargetError, UsageError
from chatlint.limits import LIST_BYTES, LIST_LINES
from chatlint.records import dataclass
from chatlint.source.folder import StandardInput, read_file, read_whole


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
    content = _content(path)
    if max(content.count(b"\n"), content.count(b"\r")) > LIST_LINES:
        raise UsageError(f"the list {path} has more than {LIST_LINES:,} lines", hint="survey it in parts")
    for number, line in enumerate(content.splitlines(), start=1):
        target, _, name = (part.strip() for part in _text(line, path, number).partition("\t"))
        if target and not target.startswith("#"):
            yield Named(target, name or target)


def _content(path: str) -> bytes:
    """The bytes of a list without a byte order mark; lists that never end are refused."""
    try:
        if path == "-":
            content = read_whole(StandardInput(), "standard input", LIST_BYTES)
        else:
            content = read_file(Path(path), LIST_BYTES, regular=False)
    except TargetError as error:
        raise UsageError(f"the list {path} cannot be read: {error.message}", hint=error.hint) from error
    return content.removeprefix(BOM_UTF8)


def _text(line: bytes, path: str, number: int) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"line {number} of the list {path} is not UTF-8, at byte {error.start + 1}",
            hint="save the list as UTF-8",
        ) from error
