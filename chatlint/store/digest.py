"""Digests of what results depend on: values, and the code and data that judge them.

The files of a directory are read and hashed once; the digest is then remembered in the store under what the
file system says of each file (size, time of the last change of content and of status, inode), which costs a
hundredth of reading them. The time of the last change of status cannot be set by a user, so a file that was
written anew is never taken for the old one.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from chatlint.records import is_record, names_of
from chatlint.store.disk import Store

ROOM = "digests"
_SUFFIXES = (".py", ".json")


def value_digest(value: object) -> str:
    """sha256 (hex) of plain values: JSON's own, tuples, mappings, bytes, and dataclasses of these.

    Equal values of equal types give equal digests; a mapping's order counts. Raises TypeError for anything
    else: what cannot be told apart must not be taken for the same.
    """
    text = json.dumps(value, default=_spelled, separators=(",", ":"))
    return sha256(text.encode("ascii")).hexdigest()


def _spelled(value: object) -> object:
    if isinstance(value, bytes | array):
        return ["bytes", sha256(value).hexdigest()]
    if is_record(value) and not isinstance(value, type):
        return [type(value).__name__, *(getattr(value, name) for name in names_of(value))]
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, frozenset):
        return ["set", *sorted(value)]
    raise TypeError(f"no digest of {type(value).__name__}")


def directories_digest(directories: Sequence[Path], store: Store | None = None) -> str:
    """sha256 (hex) of the Python and JSON files in some directories: their paths below these, and contents.

    `store` remembers it. Raises OSError for a file that cannot be read.
    """
    files = [file for directory in directories for file in sorted(_files(directory, ""))]
    key = value_digest([(path, *signs) for path, _, *signs in files])
    known = store.read(ROOM, key) if store else None
    if known is not None and len(known) == 64:
        return known.decode("ascii", "replace")
    digest = _contents_digest((path, place) for path, place, *_ in files)
    if store:
        store.write(ROOM, key, digest.encode("ascii"))
    return digest


def _files(directory: Path | str, below: str) -> Iterator[tuple[str, str, int, int, int, int]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(_SUFFIXES):
                status = entry.stat()
                signs = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
                yield below + entry.name, entry.path, *signs
            elif entry.is_dir() and entry.name != "__pycache__":
                yield from _files(entry.path, f"{below}{entry.name}/")


def _contents_digest(files: Iterable[tuple[str, str]]) -> str:
    digest = sha256()
    for path, place in files:
        with open(place, "rb", buffering=0) as file:
            content = file.read()
        digest.update(f"{path}\0{len(content)}\0".encode("utf-8", "surrogateescape"))
        digest.update(content)
    return digest.hexdigest()
