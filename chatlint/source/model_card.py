"""What a model's README says of how to serve it: the parsers it names on command lines of engines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from chatlint.errors import TargetError
from chatlint.lazy import regex
from chatlint.limits import JSON_FILE_BYTES
from chatlint.source.folder import Folder
from chatlint.source.package import NamedParser

CARD = "README.md"
_COMMAND = regex(r"(?:[^\n]*\\[ \t]*\n)*[^\n]*\n?")
"""A line, and those that it goes on in behind a backslash."""
_FLAG = regex(r"--(tool|reasoning)[-_](?:call[-_])?parser(?:=|[ \t\\]+\n?[ \t]*)[\"'`]?(\w[\w.-]*)")
_ENGINES = (("vllm", regex(r"\bvllm\b", re.I)), ("sglang", regex(r"\bsglang\b", re.I)))


def named_parsers(folder: Folder) -> tuple[NamedParser, ...]:
    """The parsers that the model card in a folder names. One that cannot be read names none: it is no file
    that an engine reads."""
    if CARD not in folder.paths():
        return ()
    try:
        text = folder.read(CARD, JSON_FILE_BYTES).decode("utf-8", "replace")
    except TargetError:
        return ()
    return tuple(parsers_in(text))


def parsers_in(text: str) -> Iterator[NamedParser]:
    """Every parser that a command in the text names, with the engine where the command names one."""
    for command in _COMMAND.finditer(text):
        engines = [engine for engine, named in _ENGINES if named.search(command[0])]
        for flag in _FLAG.finditer(command[0]):
            line = text.count("\n", 0, command.start() + flag.start()) + 1
            engine = engines[0] if len(engines) == 1 else ""
            yield NamedParser(CARD, line, flag[1], flag[2].rstrip(".-"), engine)
