"""Where a package's files are. A directory here; the Hub's listing has the same shape."""

from __future__ import annotations

import os
import select
import stat
import sys
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Protocol

from chatlint.errors import TargetError
from chatlint.limits import FOLDER_FILES, PIPE_SECONDS
from chatlint.source.package import PackageFile

SUBFOLDERS = ("additional_chat_templates", "encoding")


class OutOfReachError(TargetError):
    """Where the files are cannot be reached, or wants something first: there is nothing to say about any of
    them."""


class ByteStream(Protocol):
    """Bytes read once, from the first on: a file, or the body of a ranged request that is closed early.

    `read(n)` gives up to n bytes, b"" only at the end; `size` is the length of the whole file, None if
    unknown.
    """

    @property
    def size(self) -> int | None: ...

    def read(self, count: int, /) -> bytes: ...

    def close(self) -> None: ...


class Folder(Protocol):
    """The files of one package by their paths inside it (`/` between names)."""

    def paths(self) -> tuple[str, ...]:
        """Every path there is, sorted."""
        ...

    def read(self, path: str, limit: int) -> bytes:
        """The whole file. Raises TargetError if it cannot be read or is longer than `limit` bytes."""
        ...

    def stream(self, path: str) -> ByteStream:
        """The file from its first byte on. Raises TargetError if it cannot be opened."""
        ...


class FileStream:
    """A local file as a ByteStream. Raises TargetError if it cannot be opened or read."""

    def __init__(self, path: Path, *, name: str = "", regular: bool = True) -> None:
        self.name = name or str(path)
        self._file = _open(path, self.name, regular)
        status = os.fstat(self._file.fileno())
        self.size: int | None = status.st_size if stat.S_ISREG(status.st_mode) else None

    def read(self, count: int, /) -> bytes:
        try:
            return self._file.read(count)
        except OSError as error:
            raise unreadable(self.name, error) from error

    def close(self) -> None:
        self._file.close()


class StandardInput:
    """What is piped into this process, as a ByteStream. Raises TargetError if it cannot be read."""

    size = None

    def read(self, count: int, /) -> bytes:
        if sys.stdin is None:
            raise TargetError("standard input is closed", hint="pipe into it what is to be read")
        try:
            return sys.stdin.buffer.read(count)
        except OSError as error:
            raise unreadable("standard input", error) from error

    def close(self) -> None:
        pass


class LocalFolder:
    """A directory on this machine, with the few subdirectories that matter to chat templates."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._paths = tuple(sorted(_listing(root)))

    def paths(self) -> tuple[str, ...]:
        return self._paths

    def read(self, path: str, limit: int) -> bytes:
        return read_file(self.root / path, limit, name=path)

    def stream(self, path: str) -> ByteStream:
        return FileStream(self.root / path, name=path)


def read_file(path: Path, limit: int, *, name: str = "", regular: bool = True) -> bytes:
    """The bytes of a local file. With `regular`, pipes and devices are refused.

    Raises TargetError if it is missing, unreadable, or longer than `limit` bytes.
    """
    stream = FileStream(path, name=name, regular=regular)
    try:
        return read_whole(stream, stream.name, limit)
    finally:
        stream.close()


def read_whole(stream: ByteStream, name: str, limit: int) -> bytes:
    """All bytes of a stream. Raises TargetError if there are more than `limit`."""
    if stream.size is not None and stream.size > limit:
        raise too_large(name, stream.size, limit)
    pieces, total = [], 0
    while piece := stream.read(min(1 << 20, limit + 1 - total)):
        pieces.append(piece)
        total += len(piece)
        if total > limit:
            raise too_large(name, total, limit)
    return b"".join(pieces)


def read_record(path: str, content: bytes) -> PackageFile:
    """A file that was read whole, as the report lists it."""
    return PackageFile(path, sha256(content).hexdigest(), len(content))


def too_large(name: str, size: int, limit: int) -> TargetError:
    """A file beyond its bound."""
    return TargetError(
        f"{name} is too large to be what its name says: {size} bytes or more, the limit is {limit}",
        hint="check that it is the right file",
    )


def unreadable(name: str, error: OSError) -> TargetError:
    """What the system said about a file, with what to do about it."""
    if isinstance(error, FileNotFoundError):
        return TargetError(f"there is no file {name}", hint="check the path")
    if isinstance(error, PermissionError):
        return TargetError(f"{name} may not be read by this user", hint="check the file's permissions")
    return TargetError(
        f"{name} cannot be read: {error.strerror or error}", hint="check the path and the disk"
    )


def _open(path: Path, name: str, regular: bool) -> BinaryIO:
    # Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NONBLOCK", 0)
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError) as error:
        raise unreadable(name, error if isinstance(error, OSError) else OSError(str(error))) from error
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode) or (regular and not stat.S_ISREG(mode)):
        os.close(descriptor)
        raise TargetError(
            f"{name} is not a regular file", hint="a file with a chat template was expected there"
        )
    if not stat.S_ISREG(mode):
        _wait_to_read(descriptor, mode, path, name)
    return open(descriptor, "rb", buffering=0)


def _wait_to_read(descriptor: int, mode: int, path: Path, name: str) -> None:
    """Have reads wait for what comes, but for the first byte of a named pipe only so long. Pipes of a shell
    (`<(…)`) have somebody who writes."""
    inherited = str(path).startswith(("/dev/", "/proc/"))
    if stat.S_ISFIFO(mode) and not inherited and not select.select([descriptor], [], [], PIPE_SECONDS)[0]:
        os.close(descriptor)
        raise TargetError(f"nobody writes to the pipe {name}", hint="start what writes to it first")
    os.set_blocking(descriptor, True)


def _listing(root: Path) -> list[str]:
    try:
        names = _names(root)
    except OSError as error:
        raise unreadable(str(root), error) from error
    for subfolder in SUBFOLDERS:
        try:
            names += [f"{subfolder}/{name}" for name in _names(root / subfolder)]
        except OSError:
            continue  # absent, a file, or closed to us: then there is nothing in it for us
    return names


def _names(directory: Path) -> list[str]:
    names = []
    with os.scandir(directory) as entries:
        for entry in entries:
            if not _is_directory(entry):
                names.append(entry.name)
            if len(names) > FOLDER_FILES:
                raise TargetError(
                    f"{directory} holds more than {FOLDER_FILES} files", hint="name a model's directory"
                )
    return names


def _is_directory(entry: os.DirEntry[str]) -> bool:
    """A link that leads nowhere, or round in a circle, is a file: who reads it says what is wrong with it."""
    try:
        return entry.is_dir()
    except OSError:
        return False
