"""A file on the Hub as a ByteStream: asked for by ranges, closed when nobody wants more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from chatlint.errors import TargetError
from chatlint.lazy import regex
from chatlint.limits import HUB_WAIT_SECONDS
from chatlint.source.hub_client import watched
from chatlint.source.hub_errors import GaveUpError, hub_error
from chatlint.source.hub_listing import Address, Listing

_RANGE = regex(r"bytes (?:\d+-\d+|\*)/(\d+)")
_BEYOND_THE_END = 416
_WHOLE = 200
_TOLD = 1024 * 1024
_FILL = 256 * 1024


class _Body(Protocol):
    @property
    def status_code(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    def iter_bytes(self) -> Iterator[bytes]: ...


class RemoteStream:
    """The file at `path` from its first byte on. Opening and reading raise TargetError."""

    def __init__(
        self,
        address: Address,
        listing: Listing,
        path: str,
        deadline: float,
        *,
        range_bytes: int,
        say: Callable[[str], None],
    ) -> None:
        file = listing.file(path)
        self.size = file.size if file else None
        self._address, self._listing, self._path = address, listing, path
        self._deadline = deadline
        self._range_bytes = range_bytes
        self._say = say
        self._received = 0
        self._told = 0
        self._left = b""
        self._response: AbstractContextManager[_Body] | None = None
        self._body: Iterator[bytes] = iter(())
        self._ask()

    def read(self, count: int, /) -> bytes:
        # Readers parse again what they had when more comes: the network's small pieces would cost them dear.
        wanted = min(count, _FILL)
        pieces = [self._left or self._next()]
        have = len(pieces[0])
        while 0 < have < wanted and (piece := self._received_bytes()):
            pieces.append(piece)
            have += len(piece)
        whole = b"".join(pieces)
        self._left = whole[count:]
        return whole[:count]

    def close(self) -> None:
        response, self._response = self._response, None
        if response is not None:
            response.__exit__(None, None, None)

    def _next(self) -> bytes:
        """The bytes that come next, as many as there are at once."""
        while True:
            piece = self._received_bytes()
            if piece or (self.size is not None and self._received >= self.size) or not self._more():
                return piece

    def _more(self) -> bool:
        """Ask for the next range where the last one was only a part."""
        if self._response is None or self.size is None:
            return False
        before = self._received
        self.close()
        self._ask()
        return self._received == before

    def _received_bytes(self) -> bytes:
        if time.monotonic() > self._deadline:
            raise hub_error(GaveUpError(), self._address)
        try:
            piece = next(self._body, b"")
        except Exception as error:
            raise hub_error(error, self._address, self._path) from None
        self._received += len(piece)
        if self._received - self._told >= _TOLD:
            self._told = self._received
            self._say(f"{self._address}: {self._path}, {self._received >> 20} MB")
        return piece

    def _ask(self) -> None:
        try:
            with watched(self._deadline):
                self._send()
        except Exception as error:
            self.close()
            raise hub_error(error, self._address, self._path) from None

    def _send(self) -> None:
        from huggingface_hub import hf_hub_url
        from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status

        first = self._received
        wanted = {"Range": f"bytes={first}-{first + self._range_bytes - 1}", "Accept-Encoding": "identity"}
        opened = get_session().stream(
            "GET",
            hf_hub_url(self._listing.repo, self._path, revision=self._listing.commit),
            # The client drops the token where a redirect leads to another origin.
            headers={**build_hf_headers(library_name="chatlint"), **wanted},
            timeout=HUB_WAIT_SECONDS,
            follow_redirects=True,
        )
        response = opened.__enter__()
        self._response = opened
        if response.status_code == _BEYOND_THE_END:
            self._body = iter(())
            self.size = self._total(response.headers, self._received)
            return
        hf_raise_for_status(response)
        if response.status_code == _WHOLE and first:
            raise TargetError(
                f"{self._address}: the Hub sent the whole of {self._path} for a part of it",
                hint="download the file and name its path",
            )
        self.size = self._total(response.headers, self.size)
        self._body = response.iter_bytes()

    def _total(self, headers: Mapping[str, str], otherwise: int | None) -> int | None:
        match = _RANGE.match(headers.get("Content-Range", ""))
        return int(match[1]) if match else otherwise
