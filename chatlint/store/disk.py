"""One file per entry, written whole or not at all.

An entry `rooms/<room>/<sha256 of room and key>.entry` is a header, the sha256 of room, key and content,
and the content. It is written to a temporary name and renamed, so that concurrent runs see an old entry, a
new one, or none; what a killed run or a full disk left half-written fails its checksum and reads as
absent.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from chatlint.lazy import regex
from chatlint.store.trust import foreign

_HEADER = b"chatlint.store/1\n"
_DIGEST_BYTES = 32
_ROOM = regex(r"[a-z0-9][a-z0-9._-]{0,63}")
_OURS = regex(r"[0-9a-f]{64}\.(?:entry|[0-9a-f]{16}\.tmp)")
_READ_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
_WRITE_FLAGS = _READ_FLAGS | os.O_WRONLY | os.O_CREAT | os.O_EXCL
ENTRY_BYTES = 64 * 1024 * 1024
"""Largest entry that is written or read."""


class Store:
    """Files by room and key, under `root`: by default `CHATLINT_CACHE_DIR`, else the user's cache directory.

    Nothing here raises for the disk's sake: an entry that cannot be read is absent, one that cannot be
    written is not written, and `problem` says why, in one line ("" while there is none). Entries are only
    read from files and directories that belong to the user and that nobody else can write.
    """

    def __init__(self, root: Path | None = None) -> None:
        self.root = root if root is not None else _default_root()
        self.problem = ""
        self._trusted: set[Path] = set()

    def read(self, room: str, key: str) -> bytes | None:
        """The content written last under `key`, or None. Raises ValueError for a room's name that is not
        one."""
        path = self._path(room, key)
        try:
            if not self._trust(path.parent):
                return None
            return _content(self._bytes(path), room, key)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._complain(path, error.strerror or str(error))
            return None

    def write(self, room: str, key: str, content: bytes) -> None:
        """Keep `content` under `key`. Raises ValueError for a room's name that is not one."""
        path = self._path(room, key)
        if len(content) > ENTRY_BYTES:
            self._complain(path, f"an entry of {len(content)} bytes is too large to keep")
            return
        try:
            if self._make(path.parent):
                _replace(path, _HEADER + _digest(room, key, content) + content)
        except OSError as error:
            self._complain(path, error.strerror or str(error))

    def clear(self) -> tuple[int, int]:
        """Remove every entry, and whatever a killed run left; other files are not touched. Gives the bytes
        that were removed, and those that could not be: what another run writes meanwhile is neither."""
        removed = left = 0
        for path in self._files():
            size = 0
            try:
                size = path.lstat().st_size
                path.unlink()
                removed += size
            except FileNotFoundError:  # another run removed it
                continue
            except OSError:
                left += size
        return removed, left

    def size(self) -> int:
        """Bytes of all entries."""
        return sum(size for _, size in self.rooms().values())

    def rooms(self) -> dict[str, tuple[int, int]]:
        """How many entries each room has, and how many bytes they take, by name."""
        found: dict[str, tuple[int, int]] = {}
        for path in self._files():
            with suppress(OSError):
                size = path.lstat().st_size
                count, total = found.get(path.parent.name, (0, 0))
                found[path.parent.name] = (count + 1, total + size)
        return dict(sorted(found.items()))

    def _path(self, room: str, key: str) -> Path:
        if not _ROOM.fullmatch(room):
            raise ValueError(f"not a room's name: {room!r}")
        name = sha256(f"{room}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()
        return self.root / "rooms" / room / f"{name}.entry"

    def _files(self) -> Iterator[Path]:
        try:
            rooms = [
                entry.path for entry in os.scandir(self.root / "rooms") if entry.is_dir(follow_symlinks=False)
            ]
        except OSError:
            return
        for room in rooms:
            with suppress(OSError):
                yield from (Path(entry.path) for entry in os.scandir(room) if _OURS.fullmatch(entry.name))

    def _make(self, room: Path) -> bool:
        if room not in self._trusted:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            room.parent.mkdir(mode=0o700, exist_ok=True)
            room.mkdir(mode=0o700, exist_ok=True)
        return self._trust(room)

    def _trust(self, room: Path) -> bool:
        """Whether the room and what is above it, up to the root, are only ours. Raises FileNotFoundError."""
        if room in self._trusted:
            return True
        for directory in (self.root, room.parent, room):
            reason = foreign(directory.stat() if directory is self.root else directory.lstat())
            if reason:
                self._complain(directory, reason)
                return False
        self._trusted.add(room)
        return True

    def _bytes(self, path: Path) -> bytes:
        descriptor = os.open(path, _READ_FLAGS)
        with open(descriptor, "rb", buffering=0) as file:
            status = os.fstat(descriptor)
            reason = foreign(status) if stat.S_ISREG(status.st_mode) else "it is not a file"
            if reason or status.st_size > ENTRY_BYTES + len(_HEADER) + _DIGEST_BYTES:
                self._complain(path, reason or "it is too large")
                return b""
            return file.read()

    def _complain(self, path: Path, reason: str) -> None:
        self.problem = (
            f"the cache at {self.root} is not used for {path.parent.name}/{path.name[:12]}: {reason}"
        )


def _default_root() -> Path:
    named = os.environ.get("CHATLINT_CACHE_DIR")
    if named:
        return Path(named)
    from platformdirs import user_cache_path  # only where the default is needed: 3 ms

    return user_cache_path("chatlint", appauthor=False)


def _digest(room: str, key: str, content: bytes) -> bytes:
    # Room and key are part of it: an entry that was moved to another name must not be taken for that one.
    digest = sha256(f"{room}\0{key}\0".encode("utf-8", "surrogatepass"))
    digest.update(content)
    return digest.digest()


def _content(stored: bytes, room: str, key: str) -> bytes | None:
    start = len(_HEADER) + _DIGEST_BYTES
    content = stored[start:]
    if stored[:start] != _HEADER + _digest(room, key, content):
        return None
    return content


def _replace(path: Path, stored: bytes) -> None:
    temporary = path.with_suffix(f".{os.urandom(8).hex()}.tmp")
    descriptor = os.open(temporary, _WRITE_FLAGS, 0o600)
    try:
        with open(descriptor, "wb", buffering=0) as file:
            view = memoryview(stored)
            while view:
                view = view[file.write(view) :]
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
