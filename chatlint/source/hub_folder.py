"""A repository as a Folder: files come from the client's cache, large ones from where they begin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from chatlint.errors import TargetError
from chatlint.limits import GGUF_SECTION_BYTES, HUB_RANGE_BYTES
from chatlint.source.folder import ByteStream, FileStream, read_file, too_large
from chatlint.source.hub_cache import HubCache
from chatlint.source.hub_listing import Listing
from chatlint.source.hub_shelf import HubShelf, Kept

Opener = Callable[[str, int], ByteStream]


class HubFolder:
    """The files of `listing`, of its GGUFs only `ggufs`. `failed` says why a file could not be fetched;
    `remote` opens one at the Hub by path and range in bytes, None where nothing may be asked."""

    def __init__(
        self,
        listing: Listing,
        ggufs: Sequence[str],
        cache: HubCache,
        shelf: HubShelf,
        *,
        failed: Mapping[str, TargetError],
        remote: Opener | None,
    ) -> None:
        self._listing = listing
        self._ggufs = frozenset(ggufs)
        self._cache = cache
        self._shelf = shelf
        self._failed = failed
        self._remote = remote

    def paths(self) -> tuple[str, ...]:
        return tuple(
            path for path in self._listing.paths if path in self._ggufs or not path.lower().endswith(".gguf")
        )

    def read(self, path: str, limit: int) -> bytes:
        file = self._listing.file(path)
        if file is not None and file.size is not None and file.size > limit:
            raise too_large(path, file.size, limit)
        local = self._local(path)
        if local is None:
            raise self._failed.get(path) or self._not_here(path)
        return read_file(local, limit, name=path)

    def stream(self, path: str) -> ByteStream:
        local = self._local(path)
        if local is not None:
            return FileStream(local, name=path)
        file = self._listing.file(path)
        etag, size = (file.etag, file.size) if file else ("", None)
        kept = self._shelf.beginning(etag, size)
        if kept is not None:
            return kept
        if self._remote is None:
            raise self._not_here(path)
        step = GGUF_SECTION_BYTES if path.lower().endswith(".gguf") else HUB_RANGE_BYTES
        return Kept(self._remote(path, step), self._shelf, etag)

    def _local(self, path: str) -> Path | None:
        return self._cache.path(self._listing.repo, self._listing.commit, path)

    def _not_here(self, path: str) -> TargetError:
        return TargetError(f"{path} is not on this machine", hint="run once without --offline")
