"""JSON from files nobody vouches for: bounded, with the place of every top-level value.

One pass gives both the values (as Python's `json` reads them, which is what transformers uses: the last of
duplicate names wins, NaN and Infinity are numbers) and where each stands, so that a template inside a JSON
string can be pointed at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from json.decoder import JSONDecodeError

from chatlint.conversation import JSON
from chatlint.errors import TargetError
from chatlint.lazy import regex
from chatlint.records import dataclass

_SPACE = regex(r"[ \t\n\r]*")
_CHECK = "check that it is the right file"
_DECODE = json.JSONDecoder().raw_decode


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a JSON object: `text[start:end]` is its value as written."""

    name: str
    value: JSON
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class JsonText:
    """A JSON file that holds an object: its text and its members in order, duplicates included."""

    file: str
    text: str
    members: tuple[Member, ...]

    def values(self) -> dict[str, JSON]:
        """The object. Of duplicate names the last wins."""
        return {member.name: member.value for member in self.members}


def read_json(file: str, content: bytes) -> JsonText:
    """Read a JSON object. Raises TargetError for anything else."""
    text = decode_json_bytes(file, content)
    try:
        return JsonText(file, text, tuple(object_members(text)))
    except JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise TargetError(
            f"{file} is not JSON: {error.msg} at {place}", hint="correct the file there"
        ) from error
    except RecursionError as error:
        raise TargetError(f"{file} is nested too deeply to be what its name says", hint=_CHECK) from error
    except ValueError as error:  # a number of thousands of digits
        raise TargetError(f"{file} is not usable JSON: {error}", hint=_CHECK) from error


def decode_json_bytes(file: str, content: bytes) -> str:
    """The text of a JSON file: UTF-8, with or without a byte order mark. Raises TargetError."""
    refuse_stand_ins(file, content)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_utf8(file, error) from error


def not_utf8(file: str, error: UnicodeDecodeError) -> TargetError:
    """Bytes that are no text."""
    line = error.object.count(b"\n", 0, error.start) + 1
    hint = "save it as UTF-8"
    if b"\0" in error.object[:4096]:
        hint = "it looks like a binary file" if error.object[:2] not in (b"\xff\xfe", b"\xfe\xff") else hint
    return TargetError(f"{file} is not UTF-8 text (byte {error.start}, line {line})", hint=hint)


def refuse_stand_ins(file: str, content: bytes) -> None:
    """Raise TargetError for what is found where a file was meant: nothing, a Git LFS pointer, a web page."""
    if not content.strip():
        raise TargetError(f"{file} is empty", hint="fetch or write the file again")
    if content.startswith(b"version https://git-lfs.github.com/spec/"):
        raise TargetError(f"{file} is a Git LFS pointer, not the file itself", hint="run `git lfs pull`")
    if content.startswith(b"GGUF"):
        raise TargetError(f"{file} is a GGUF, not text", hint="name the file by its path")
    if re.match(rb"\s*<(?:!doctype html|html[\s>])", content[:256], re.IGNORECASE):
        raise TargetError(f"{file} is a web page, not the file itself", hint="download the raw file")


def object_members(text: str, start: int = 0) -> list[Member]:
    """The members of the JSON object that begins at `start` (nothing but space may follow the outermost one).

    Raises json.JSONDecodeError, RecursionError, ValueError.
    """
    position = skip_space(text, start)
    if text[position : position + 1] != "{":
        raise JSONDecodeError("Expecting a JSON object", text, position)
    members: list[Member] = []
    position = skip_space(text, position + 1)
    while text[position : position + 1] != "}":
        if members:
            position = skip_space(text, _expect(text, position, ","))
        member, position = object_member(text, position)
        members.append(member)
    if start == 0 and skip_space(text, position + 1) != len(text):
        raise JSONDecodeError("Extra data", text, skip_space(text, position + 1))
    return members


def object_member(text: str, position: int) -> tuple[Member, int]:
    """The member that begins at `position`, and where the next sign after it stands."""
    if text[position : position + 1] != '"':
        raise JSONDecodeError("Expecting property name enclosed in double quotes", text, position)
    name, position = _DECODE(text, position)
    start = skip_space(text, _expect(text, skip_space(text, position), ":"))
    value, end = _DECODE(text, start)
    return Member(name, value, start, end), skip_space(text, end)


def array_starts(text: str, start: int) -> list[int]:
    """Where each item of the array that begins at `start` begins. The text must have been read before."""
    starts: list[int] = []
    position = skip_space(text, start + 1)
    while text[position : position + 1] not in ("]", ""):
        starts.append(position)
        _, end = _DECODE(text, position)
        position = skip_space(text, end)
        if text[position : position + 1] == ",":
            position = skip_space(text, position + 1)
    return starts


def skip_space(text: str, position: int) -> int:
    """The first position from here on that is no JSON space."""
    match = _SPACE.match(text, position)
    return match.end() if match else position


def objects(value: JSON) -> list[Mapping[str, JSON]]:
    """The objects in a JSON array; none for anything else."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [item for item in value if isinstance(item, Mapping)]
    return []


def _expect(text: str, position: int, sign: str) -> int:
    if text[position : position + 1] != sign:
        raise JSONDecodeError(f"Expecting '{sign}' delimiter", text, position)
    return position + 1
