"""The key-value section of a GGUF file, walked without reading what nobody asks for.

Layout (ggml's docs/gguf.md): magic, version, tensor count, pair count, then pairs of key, type and value.
Strings are length-prefixed, so an array of strings can only be walked; the template usually stands behind
150,000 tokens and as many merges. They are stepped over in the read buffer, and only a few arrays are kept,
as bytes.

Nothing in the file is believed: every length is checked against a bound and, where it is known, the file's
size.
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from typing import NoReturn, TypeAlias

from chatlint.errors import TargetError
from chatlint.limits import (
    GGUF_ARRAY_ITEMS,
    GGUF_KEPT_BYTES,
    GGUF_KEY_BYTES,
    GGUF_KEYS,
    GGUF_SECTION_BYTES,
    GGUF_STRING_BYTES,
)
from chatlint.records import dataclass, field
from chatlint.source.folder import ByteStream
from chatlint.source.json_text import refuse_stand_ins

_CHUNK = 1 << 20
_STRING, _ARRAY = 8, 9
# Types by their number: struct's letter; 7 is bool, one byte.
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_KEPT_STRINGS = 65_536
_KEPT_ITEMS = 4_096
_KEPT_ARRAYS = ("tokenizer.ggml.tokens", "tokenizer.ggml.token_type")

Number: TypeAlias = int | float | bool


@dataclass(frozen=True, slots=True)
class Texts:
    """An array of strings, left as bytes: each is decoded when it is asked for."""

    data: bytes
    starts: array[int]
    """Where in `data` each string's length prefix begins."""
    prefix: str
    """How that is written, as `struct` spells it: a value that goes to other processes holds plain ones."""

    def __len__(self) -> int:
        return len(self.starts)

    def text(self, index: int) -> str | None:
        """The string at `index`, or None if there is none. What is not UTF-8 is escaped as surrogates."""
        if not 0 <= index < len(self.starts):
            return None
        start = self.starts[index]
        (length,) = struct.unpack_from(self.prefix, self.data, start)
        return _text(self.data[start + 8 : start + 8 + length])

    def index(self, text: str) -> int | None:
        """The first index of this very string, or None."""
        wanted = text.encode("utf-8", "surrogateescape")
        wanted = struct.pack(self.prefix, len(wanted)) + wanted
        at = self.data.find(wanted)
        while at >= 0:
            index = bisect_left(self.starts, at)
            if index < len(self.starts) and self.starts[index] == at:
                return index
            at = self.data.find(wanted, at + 1)
        return None


Value: TypeAlias = "str | Number | tuple[Number, ...] | array[int] | Texts | None"


@dataclass(frozen=True, slots=True)
class Metadata:
    """The key-value section. A value that was stepped over (a large array, a long string) is None."""

    version: int
    big_endian: bool
    tensors: int
    values: Mapping[str, Value]
    section_bytes: int
    """Where the section ends in the file."""
    damaged_text: tuple[str, ...] = field(default=())
    """Keys whose strings are not UTF-8."""

    def text(self, key: str) -> str | None:
        """The string under `key`, or None."""
        value = self.values.get(key)
        return value if isinstance(value, str) else None

    def number(self, key: str) -> int | None:
        """The integer under `key`, or None."""
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def flag(self, key: str) -> bool | None:
        """The boolean under `key`, or None."""
        value = self.values.get(key)
        return value if isinstance(value, bool) else None

    def texts(self, key: str) -> Texts | None:
        """The array of strings under `key`, or None."""
        value = self.values.get(key)
        return value if isinstance(value, Texts) else None

    def numbers(self, key: str) -> tuple[int, ...] | array[int]:
        """The array of integers under `key`; () if there is none."""
        value = self.values.get(key)
        if isinstance(value, array):
            return value
        if isinstance(value, tuple):
            return tuple(item for item in value if isinstance(item, int))
        return ()


def read_metadata(stream: ByteStream, name: str) -> Metadata:
    """Walk the key-value section of the GGUF in `stream`; no more is read than a chunk beyond its end.

    Raises TargetError for a file that is none, is damaged, or goes beyond a bound.
    """
    walk = _Walk(stream, name)
    version, tensors, pairs = walk.header()
    values: dict[str, Value] = {}
    damaged = []
    for _ in range(pairs):
        key = walk.key()
        if key in values:
            walk.fail(f"the key {key} stands in it twice")
        value = values[key] = walk.value(key)
        if isinstance(value, str) and not _is_clean(value):
            damaged.append(key)
    return Metadata(version, walk.big_endian, tensors, values, walk.position, tuple(damaged))


class _Walk:
    """A buffer over the stream and a position in it."""

    def __init__(self, stream: ByteStream, name: str) -> None:
        self.name = name
        self.big_endian = False
        self._stream = stream
        self._size = stream.size
        self._buffer = b""
        self._at = 0
        self._base = 0
        self._layouts: dict[str, struct.Struct] = {}

    @property
    def position(self) -> int:
        """Bytes of the file before the next one."""
        return self._base + self._at

    def fail(self, what: str) -> NoReturn:
        raise TargetError(f"{self.name} is damaged: {what}", hint="download or convert the file again")

    def header(self) -> tuple[int, int, int]:
        """Version, number of tensors, number of pairs."""
        self._known_size_is_sane()
        version = self.number("I")
        if version & 0xFFFF == 0:  # a small number read from the wrong end
            self.big_endian = True
            self._layouts.clear()
            version = int.from_bytes(version.to_bytes(4, "little"), "big")
        if version not in (2, 3):
            old = "llama.cpp does not read it any more" if version == 1 else "versions 2 and 3 are known"
            raise TargetError(f"{self.name} is GGUF version {version}: {old}", hint="convert the model again")
        tensors, pairs = self.number("Q"), self.number("Q")
        if pairs > GGUF_KEYS:
            self.fail(f"it claims {pairs} metadata keys, the limit is {GGUF_KEYS}")
        return version, tensors, pairs

    def _known_size_is_sane(self) -> None:
        magic = self._peek(256)
        if magic[:4] == b"GGUF":
            self._at = 4
            return
        refuse_stand_ins(self.name, magic)
        if magic.lstrip()[:1] in (b"{", b"["):
            raise TargetError(
                f"{self.name} is JSON, not GGUF", hint="download the file itself, not a page about it"
            )
        if b"GGUF".startswith(magic[:4]):
            self._truncated(4)
        raise TargetError(
            f"{self.name} is not GGUF: it begins with {magic[:4]!r}", hint="a .gguf file was expected"
        )

    def key(self) -> str:
        length = self.number("Q")
        if not 0 < length <= GGUF_KEY_BYTES:
            self.fail(f"a key of {length} bytes at byte {self.position - 8}")
        return _text(self._take(length))

    def value(self, key: str) -> Value:
        kind = self.number("I")
        if kind == _STRING:
            return self._string(key)
        if kind == _ARRAY:
            return self._array(key)
        layout = _SCALARS.get(kind)
        if layout is None:
            self.fail(f"{key} has the unknown type {kind}")
        return self._scalar(layout)

    def number(self, letter: str) -> int:
        value = self._scalar(letter)
        return int(value)

    def _scalar(self, letter: str) -> Number:
        layout = self._layout(letter)
        value: Number = layout.unpack(self._take(layout.size))[0]
        return value

    def _string(self, key: str) -> str | None:
        length = self.number("Q")
        if length > GGUF_STRING_BYTES:
            self.fail(f"{key} claims {length} bytes of text, the limit is {GGUF_STRING_BYTES}")
        if length > _KEPT_STRINGS and not key.startswith("tokenizer.chat_template"):
            self._skip(length)
            return None
        return _text(self._take(length))

    def _array(self, key: str) -> Value:
        kind, count = self.number("I"), self.number("Q")
        if count > GGUF_ARRAY_ITEMS:
            self.fail(f"{key} claims {count} items, the limit is {GGUF_ARRAY_ITEMS}")
        keep = count <= _KEPT_ITEMS or key in _KEPT_ARRAYS
        if kind == _STRING:
            if keep:
                return self._kept_strings(key, count)
            self._skip_strings(key, count)
            return None
        layout = _SCALARS.get(kind)
        if layout is None:
            self.fail(f"{key} is an array of the unknown type {kind}")
        return self._numbers(layout, count, keep)

    def _numbers(self, letter: str, count: int, keep: bool) -> tuple[Number, ...] | array[int] | None:
        width = self._layout(letter).size
        if not keep:
            self._skip(width * count)
            return None
        data = self._take(width * count)
        if letter == "i" and array("i").itemsize == width:
            items = array("i", data)
            if self.big_endian != (sys.byteorder == "big"):
                items.byteswap()
            return items
        return struct.unpack(f"{self._order}{count}{letter}", data)

    def _skip_strings(self, key: str, count: int) -> None:
        """Step over `count` strings: the hot loop, some 50 ns a string."""
        unpack, left = self._layout("Q").unpack_from, count
        while left:
            buffer, at, before = self._buffer, self._at, left
            try:
                while left:
                    at += 8 + unpack(buffer, at)[0]
                    left -= 1
            except (struct.error, IndexError, OverflowError):
                pass  # the next length is not in the buffer
            self._step(key, at, progress=left < before)

    def _kept_strings(self, key: str, count: int) -> Texts:
        """The same, and the bytes and where each string begins are kept."""
        unpack, left = self._layout("Q").unpack_from, count
        starts: array[int] = array("Q")
        pieces, total = [], 0
        while left:
            buffer, at, shift, before = self._buffer, self._at, total - self._at, left
            try:
                while left:
                    length = unpack(buffer, at)[0]
                    starts.append(at + shift)
                    at += 8 + length
                    left -= 1
            except (struct.error, IndexError, OverflowError):
                pass
            pieces.append(buffer[self._at : at])
            total += len(pieces[-1])
            rest = self._step(key, at, progress=left < before, keep=True)
            pieces.append(rest)
            total += len(rest)
            if total > GGUF_KEPT_BYTES:
                self.fail(f"{key} is longer than {GGUF_KEPT_BYTES} bytes")
        return Texts(b"".join(pieces), starts, self._order + "Q")

    def _step(self, key: str, at: int, *, progress: bool, keep: bool = False) -> bytes:
        """Go on to buffer position `at`, which may lie beyond the buffer; the bytes beyond it, if kept."""
        beyond = at - len(self._buffer)
        if beyond > GGUF_STRING_BYTES:
            self.fail(f"{key} has a string beyond the limit of {GGUF_STRING_BYTES} bytes")
        self._at = min(at, len(self._buffer))
        rest = b""
        if beyond > 0 and keep:
            rest = self._take(beyond)
        elif beyond > 0:
            self._skip(beyond)
        if not progress:
            self._need(8)
        return rest

    def _take(self, count: int) -> bytes:
        self._need(count)
        start, self._at = self._at, self._at + count
        return self._buffer[start : self._at]

    def _skip(self, count: int) -> None:
        self._reachable(count)
        while count > (here := len(self._buffer) - self._at):
            count -= here
            self._at = len(self._buffer)
            self._fill(1)
        self._at += count

    def _need(self, count: int) -> None:
        if len(self._buffer) - self._at < count:
            self._reachable(count)
            self._fill(count)

    def _peek(self, count: int) -> bytes:
        while len(self._buffer) < count and (piece := self._stream.read(_CHUNK)):
            self._buffer += piece
        return self._buffer[:count]

    def _fill(self, count: int) -> None:
        """Drop what was read, and read until `count` bytes are there."""
        pieces, have = [self._buffer[self._at :]], len(self._buffer) - self._at
        self._base, self._at = self._base + self._at, 0
        while have < count:
            piece = self._stream.read(max(_CHUNK, count - have))
            if not piece:
                self._buffer = b"".join(pieces)
                self._truncated(self._base + count)
            pieces.append(piece)
            have += len(piece)
        self._buffer = b"".join(pieces)

    def _reachable(self, count: int) -> None:
        end = self.position + count
        if self._size is not None and end > self._size:
            self._truncated(end)
        if end > GGUF_SECTION_BYTES:
            self.fail(f"its metadata is longer than {GGUF_SECTION_BYTES} bytes")

    def _truncated(self, end: int) -> NoReturn:
        size = self._size if self._size is not None else self._base + len(self._buffer)
        raise TargetError(
            f"{self.name} is truncated or damaged: its metadata needs byte {end}, the file has {size}",
            hint="download the file again",
        )

    @property
    def _order(self) -> str:
        return ">" if self.big_endian else "<"

    def _layout(self, letter: str) -> struct.Struct:
        layout = self._layouts.get(letter)
        if layout is None:
            layout = self._layouts[letter] = struct.Struct(self._order + letter)
        return layout


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _is_clean(text: str) -> bool:
    return text.isascii() or not any("\udc80" <= character <= "\udcff" for character in text)
