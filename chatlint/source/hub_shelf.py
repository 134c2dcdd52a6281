"""What chatlint itself remembers of the Hub, in its store: which commit a revision was, and the beginnings of
large files.

The client's cache cannot hold either: it notes no commit that was asked for by its hash, and no part of a
file. Beginnings are kept by the file's ETag, which names its content, so one serves every repository that
has the file.
"""

from __future__ import annotations

import zlib

from chatlint.errors import TargetError
from chatlint.source.folder import ByteStream
from chatlint.source.hub_listing import Address, Listing, dump_listing, load_listing
from chatlint.store.disk import ENTRY_BYTES, Store

_LISTINGS, _BEGINNINGS = "hub-listings", "hub-beginnings"
_FORMAT = "1"
"""Part of a beginning's key: a reader that needs more of a file must not be given too little."""


class HubShelf:
    """`store` None remembers nothing. `endpoint` is part of what is remembered: a mirror is another Hub."""

    def __init__(self, store: Store | None, endpoint: str) -> None:
        self._store = store
        self._endpoint = endpoint

    def listing(self, address: Address) -> Listing | None:
        """What a revision was when it was last asked for."""
        content = self._store.read(_LISTINGS, self._key(address)) if self._store else None
        try:
            return load_listing(content) if content else None
        except ValueError:
            return None

    def keep_listing(self, address: Address, listing: Listing) -> None:
        """Remember what a revision is."""
        if self._store:
            self._store.write(_LISTINGS, self._key(address), dump_listing(listing))

    def beginning(self, etag: str, size: int | None) -> Beginning | None:
        """The kept beginning of a file of `size` bytes."""
        content = self._store.read(_BEGINNINGS, f"{_FORMAT}:{etag}") if self._store and etag else None
        if not content:
            return None
        unpack = zlib.decompressobj()
        try:
            return Beginning(unpack.decompress(content, ENTRY_BYTES), size)
        except zlib.error:
            return None

    def keep_beginning(self, etag: str, content: bytes) -> None:
        """Remember how a file begins."""
        if self._store and etag and len(content) <= ENTRY_BYTES:
            self._store.write(_BEGINNINGS, f"{_FORMAT}:{etag}", zlib.compress(content, 1))

    def _key(self, address: Address) -> str:
        return f"{self._endpoint} {address.repo}@{address.revision}"


class Beginning:
    """The beginning of a file as a ByteStream. Reading beyond it is an error, not the file's end."""

    def __init__(self, content: bytes, size: int | None) -> None:
        self.size = size
        self._content = content
        self._at = 0

    def read(self, count: int, /) -> bytes:
        piece = self._content[self._at : self._at + count]
        self._at += len(piece)
        if not piece and self._at < (self.size or 0):
            raise TargetError("more of the file is needed than was kept", hint="run with --no-cache")
        return piece

    def close(self) -> None:
        pass


class Kept:
    """A stream whose bytes are kept on the shelf once it was read as far as anybody wanted."""

    def __init__(self, stream: ByteStream, shelf: HubShelf, etag: str) -> None:
        self.size = stream.size
        self._stream = stream
        self._shelf = shelf
        self._etag = etag
        self._pieces: list[bytes] = []
        self._broken = False

    def read(self, count: int, /) -> bytes:
        try:
            piece = self._stream.read(count)
        except TargetError:
            self._broken = True
            raise
        self._pieces.append(piece)
        return piece

    def close(self) -> None:
        self._stream.close()
        if not self._broken and self._pieces:
            self._shelf.keep_beginning(self._etag, b"".join(self._pieces))
            self._pieces.clear()
