"""The head of a `tokenizer.json`: everything but the model, which is most of the file.

`tokenizers` writes the members in a fixed order and the model last, so reading can stop there: 2 MB of 33.
Files that were re-sorted have members behind the model; it is then stepped over without being built.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from json.decoder import JSONDecodeError

from chatlint.conversation import JSON
from chatlint.errors import TargetError
from chatlint.lazy import regex
from chatlint.limits import TOKENIZER_HEAD_BYTES, TOKENIZER_MEMBER_CHARACTERS
from chatlint.source.folder import ByteStream
from chatlint.source.json_text import not_utf8, object_member, refuse_stand_ins, skip_space

WANTED = frozenset({"added_tokens", "pre_tokenizer", "post_processor", "decoder"})
_FIRST_CHUNK = 128 * 1024
_AGAIN = "download or save the file again"
_LARGEST_CHUNK = 4 * 1024 * 1024
_MODEL = regex(r'"model"[ \t\n\r]*:[ \t\n\r]*(?=[{\[])')
_TOKEN = regex(r'[{}\[\]]|"[^"\\]*(?:\\.[^"\\]*)*("?)', re.DOTALL)
_STRING_REST = regex(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


def read_head(stream: ByteStream, name: str) -> Mapping[str, JSON]:
    """The members of a `tokenizer.json` except `model`. Raises TargetError if it is no such file."""
    try:
        return _Head(stream, name).members()
    except RecursionError as error:
        raise TargetError(f"{name} is nested too deeply to be what its name says", hint=_AGAIN) from error
    except JSONDecodeError as error:
        raise TargetError(
            f"{name} is not JSON: {error.msg} near character {error.pos}", hint=_AGAIN
        ) from error
    except ValueError as error:
        raise TargetError(f"{name} is not usable JSON: {error}", hint=_AGAIN) from error


class _Head:
    """Text read so far, and how far it is understood."""

    def __init__(self, stream: ByteStream, name: str) -> None:
        self._stream = stream
        self._name = name
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._ended = False
        self._read = 0
        self._chunk = _FIRST_CHUNK

    def members(self) -> dict[str, JSON]:
        found: dict[str, JSON] = {}
        at = self._open()
        while self._text[at : at + 1] != "}":
            at = self._member(at, found)
            if found.keys() >= WANTED:
                break
        return found

    def _open(self) -> int:
        self._more()
        refuse_stand_ins(self._name, self._text[:256].encode())
        at = skip_space(self._text, 0)
        if self._text[at : at + 1] != "{":
            raise JSONDecodeError("Expecting a JSON object", self._text, at)
        return self._next(at + 1)

    def _member(self, at: int, found: dict[str, JSON]) -> int:
        """Read one member; where the next begins, or the object ends."""
        self._text, at = self._text[at:], 0
        while True:
            model = _MODEL.match(self._text)
            if model:
                return self._after(self._step_over(model.end()))
            try:
                member, end = object_member(self._text, at)
            except JSONDecodeError:
                self._more_or_raise()
                continue
            if self._text[end : end + 1] in (",", "}"):  # else a number may go on
                if member.name != "model":
                    found[member.name] = member.value
                return self._after(end)
            self._more_or_raise()

    def _after(self, at: int) -> int:
        at = self._next(at)
        if self._text[at] == "}":
            return at
        if self._text[at] != ",":
            raise JSONDecodeError("Expecting ',' delimiter", self._text, at)
        return self._next(at + 1)

    def _next(self, at: int) -> int:
        """The next position that is no space, reading on where it is not there yet."""
        while (at := skip_space(self._text, at)) >= len(self._text):
            self._more_or_raise()
        return at

    def _step_over(self, at: int) -> int:
        """Where the value that begins at `at` ends. It is forgotten piece by piece."""
        depth = 0
        while True:
            for token in _TOKEN.finditer(self._text, at):
                sign, at = token[0][0], token.end()
                if sign == '"' and not token[1]:
                    at = self._string_end(at)
                    break
                depth += (sign in "{[") - (sign in "}]")
                if depth <= 0:
                    return at
            else:
                self._text, at = "", 0
                self._more_or_raise()

    def _string_end(self, at: int) -> int:
        """Where the string ends that goes on at `at`, beyond what is read."""
        while True:
            rest = _STRING_REST.match(self._text, at)
            at = rest.end() if rest else at
            if self._text[at : at + 1] == '"':
                return at + 1
            self._text, at = self._text[at:], 0  # nothing, or a backslash whose other half is not read yet
            self._more_or_raise()

    def _more_or_raise(self) -> None:
        if self._ended:
            raise JSONDecodeError("The file ends too early, or is damaged", self._text, len(self._text))
        self._more()

    def _more(self) -> None:
        content = self._stream.read(self._chunk)
        self._chunk = min(self._chunk * 2, _LARGEST_CHUNK)
        self._read += len(content)
        self._ended = not content
        if self._read > TOKENIZER_HEAD_BYTES or len(self._text) > TOKENIZER_MEMBER_CHARACTERS:
            raise TargetError(
                f"{self._name} is too large to be what its name says, at byte {self._read}", hint=_AGAIN
            )
        try:
            self._text += self._decoder.decode(content, self._ended)
        except UnicodeDecodeError as error:
            raise not_utf8(self._name, error) from error
