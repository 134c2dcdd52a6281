"""Targets on the Hub: one request for the commit and its files, then only what is small and exists, or is
needed of what is large.

Everything whole lands in, and is taken from, the client's own cache, so models that were fetched before cost
nothing; a second look at the same commit costs the one request, and none with `offline`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from chatlint.errors import TargetError
from chatlint.limits import HUB_WHOLE_BYTES, JSON_FILE_BYTES, TEMPLATE_FILE_BYTES
from chatlint.records import dataclass, replace
from chatlint.source.directory import (
    JSON_FILES,
    TOKENIZER_FILE,
    Reading,
    read_folder,
    read_whole_among,
)
from chatlint.source.found import TEMPLATE_FILE, Reader
from chatlint.source.hub_cache import HubCache, offline_by_environment
from chatlint.source.hub_errors import GatedError, NoSuchFileError, UnreachableError
from chatlint.source.hub_folder import HubFolder, Opener
from chatlint.source.hub_listing import Address, HubFile, Listing, address_of
from chatlint.source.hub_shelf import HubShelf
from chatlint.source.package import Target
from chatlint.source.quantizations import ALL, chosen_models, models_among
from chatlint.store.disk import Store
from chatlint.text import visible

_ENDPOINT = "https://huggingface.co"
_ASKED_FOR = (*JSON_FILES, TEMPLATE_FILE, TOKENIZER_FILE)
"""Files whose absence means something."""


def read_hub(
    target: Target, *, offline: bool, cache: bool = True, say: Callable[[str], None] = lambda _: None
) -> Reading:
    """What a Hub repository's files say; with `offline` (or `HF_HUB_OFFLINE`), from this machine alone.

    Where the Hub cannot be reached, the commit that was read last is read again, and a note says so. With
    `cache` False chatlint remembers nothing of its own. `say` is told how far it is. Raises TargetError.
    """
    address = address_of(target)
    endpoint = os.environ.get("HF_ENDPOINT") or _ENDPOINT
    visit = _Visit(address, HubCache(), HubShelf(Store() if cache else None, endpoint.rstrip("/")), say)
    if offline or offline_by_environment():
        return visit.offline()
    from chatlint.source.hub_client import quiet

    with quiet():
        try:
            return visit.online()
        except UnreachableError as error:
            return visit.unreachable(error)


def fetch_file(target: Target, path: str, *, offline: bool, say: Callable[[str], None]) -> Path:
    """One whole file of a Hub target that was read before (its revision is a commit), on this machine.

    Raises TargetError.
    """
    address = address_of(target)
    cache, listing = HubCache(), Listing(address.repo, address.revision, (HubFile(path),))
    if cache.path(listing.repo, listing.commit, path) is None and not (offline or offline_by_environment()):
        from chatlint.source.hub_client import HubClient, quiet

        with quiet():
            failed = HubClient(say).fetch(address, listing, [path])
        if path in failed:
            raise failed[path]
    found = cache.path(listing.repo, listing.commit, path)
    if found is None:
        raise TargetError(f"{path} of {address} is not on this machine", hint="run once without --offline")
    return found


@dataclass(frozen=True, slots=True)
class _Visit:
    """One target, and where it may be read from."""

    address: Address
    cache: HubCache
    shelf: HubShelf
    say: Callable[[str], None]

    def online(self) -> Reading:
        from chatlint.source.hub_client import HubClient

        client = HubClient(self.say)
        listing = client.listing(self.address)
        wanted = [path for path in self._whole(listing) if not self._has(listing, path)]
        failed = client.fetch(self.address, listing, wanted)
        gated = _first(failed, GatedError)
        if gated is not None:
            return self._shown(listing, failed, gated)
        if failed:
            self._raise_unless_missing(failed)
        reading = self._read(
            listing,
            failed,
            lambda path, step: client.open(self.address, listing, path, range_bytes=step),
        )
        self.shelf.keep_listing(self.address, listing)
        if listing.repo.lower() != self.address.repo.lower():
            reading.notes.append(f"{self.address.repo} is called {visible(listing.repo)} now")
        return reading

    def offline(self) -> Reading:
        listing = self._remembered()
        if listing is None:
            raise TargetError(
                f"{self.address} is not on this machine, and the Hub may not be asked",
                hint="run once without --offline (and without HF_HUB_OFFLINE)",
            )
        return self._from_memory(listing, f"read offline; {_as_of(self.address, listing)}")

    def unreachable(self, error: UnreachableError) -> Reading:
        listing = self._remembered()
        if listing is None:
            raise error
        note = f"{error.message}: {_as_of(self.address, listing)} was read instead"
        return self._from_memory(listing, note)

    def _remembered(self) -> Listing | None:
        """What is known of the revision: by our own memory, or by the client's, whichever is newer."""
        ours = self.shelf.listing(self.address)
        theirs = self.cache.commit(self.address.repo, self.address.revision)
        if theirs is None or (ours is not None and (theirs[0] == ours.commit or theirs[1] <= ours.time)):
            return ours
        return self.cache.listing(self.address.repo, *theirs)

    def _from_memory(self, listing: Listing, note: str) -> Reading:
        reading = self._read(listing, {}, None)
        reading.notes.append(note)
        if not listing.complete:
            reading.notes.append("only those files are known that were fetched before")
            reading.unknown = frozenset(
                path
                for path in _ASKED_FOR
                if path not in reading.paths
                and not self.cache.known_absent(listing.repo, listing.commit, path)
            )
        return reading

    def _whole(self, listing: Listing) -> list[str]:
        """The files that are fetched whole."""
        if self._is_gguf_alone():
            return []
        wanted = read_whole_among(listing.paths)
        tokenizer = listing.file(TOKENIZER_FILE)
        if tokenizer is not None and (tokenizer.size or 0) <= HUB_WHOLE_BYTES:
            wanted.append(TOKENIZER_FILE)
        if self.address.file.endswith(".jinja") and self.address.file not in wanted:
            wanted.append(self.address.file)
        sizes = {file.path: file.size or 0 for file in listing.files}
        return [path for path in wanted if sizes.get(path, 0) <= JSON_FILE_BYTES]

    def _has(self, listing: Listing, path: str) -> bool:
        return self.cache.path(listing.repo, listing.commit, path) is not None

    def _is_gguf_alone(self) -> bool:
        return self.address.file not in ("", ALL) and not self.address.file.endswith(".jinja")

    def _raise_unless_missing(self, failed: Mapping[str, TargetError]) -> None:
        for error in failed.values():
            if not isinstance(error, NoSuchFileError) or self.address.file.endswith(".jinja"):
                raise error

    def _read(self, listing: Listing, failed: Mapping[str, TargetError], remote: Opener | None) -> Reading:
        ggufs = self._ggufs(listing)
        folder = HubFolder(listing, ggufs, self.cache, self.shelf, failed=failed, remote=remote)
        if self._is_gguf_alone():
            reading = Reading()
            with closing(folder.stream(ggufs[0])) as stream:
                reading.add_gguf(ggufs[0], stream)
        else:
            reading = read_folder(folder)
        reading.commit = listing.commit
        if self.address.file.endswith(".jinja"):
            _let_win(reading, folder, self.address.file)
        rest = len(models_among(listing.paths)) - len(ggufs)
        if ggufs and rest and not self.address.file:
            reading.notes.append(
                f"of {rest + 1} GGUFs {visible(ggufs[0])} was read: {self.address.repo}:NAME reads another, "
                f"{self.address.repo}:* every one"
            )
        return reading

    def _ggufs(self, listing: Listing) -> list[str]:
        wanted = "" if self.address.file.endswith(".jinja") else self.address.file
        return chosen_models(listing.paths, wanted)

    def _shown(self, listing: Listing, failed: Mapping[str, TargetError], gated: TargetError) -> Reading:
        """What the Hub shows of a model whose files it does not give. Raises `gated` if it is no template."""
        from chatlint.source.hub_page import page_of

        page = page_of(listing)
        if page is None or self.address.file:
            raise gated
        reading = read_folder(page)
        reading.commit = listing.commit
        reading.paths = frozenset(listing.paths)
        reading.unknown = frozenset(listing.paths)
        for path, error in failed.items():
            reading.fail(path, error)
        reading.notes.append(
            f"{gated.message}: this is the template that its page shows, with the tokens named there "
            f"({gated.hint})"
        )
        return reading


def _let_win(reading: Reading, folder: HubFolder, path: str) -> None:
    """Judge a template of the repository that no host would look for, with its tokens."""
    other = Reading()
    other.add_template("default", path, folder.read(path, TEMPLATE_FILE_BYTES))
    given = [replace(item, reader=Reader.USER) for item in other.found]
    reading.found = given + [item for item in reading.found if item.place.file != path]
    reading.files = [file for file in reading.files if file.path != path] + other.files


def _first(failed: Mapping[str, TargetError], kind: type[TargetError]) -> TargetError | None:
    return next((error for error in failed.values() if isinstance(error, kind)), None)


def _as_of(address: Address, listing: Listing) -> str:
    then = datetime.fromtimestamp(listing.time, UTC)
    when = f" on {then:%Y-%m-%d %H:%M} UTC" if listing.time else ""
    return f"commit {listing.commit[:12]}, which was {address.revision}{when}"
