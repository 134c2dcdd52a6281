"""The Hub itself, through the client library that everybody has.

`huggingface_hub` retries for minutes where a server stalls, and sleeps as long as a rate limit says. So its
requests are watched while they are ours: one that fails is repeated once, one that is told to wait is not,
and whatever happens, a target takes no longer than `HUB_SECONDS`.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Never, Protocol, TypeAlias, TypeVar

from chatlint.errors import TargetError
from chatlint.limits import HUB_SECONDS, HUB_WAIT_SECONDS
from chatlint.source.hub_errors import GaveUpError, RateLimitedError, hub_error, seconds_to_wait
from chatlint.source.hub_listing import Address, HubFile, Listing, relevant

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo
    from huggingface_hub.hf_api import RepoSibling

    from chatlint.source.hub_stream import RemoteStream

_THREADS = 8
_TRIES = 2
_RATE_LIMITED = 429
Result = TypeVar("Result")
Session = TypeVar("Session", bound="_Session")
_Hook: TypeAlias = Callable[[Never], object]


class _Request(Protocol):
    @property
    def method(self) -> str: ...
    @property
    def url(self) -> object: ...


class _Response(Protocol):
    @property
    def status_code(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...


class _Session(Protocol):
    @property
    def event_hooks(self) -> dict[str, list[_Hook]]: ...
    @event_hooks.setter
    def event_hooks(self, hooks: dict[str, list[_Hook]], /) -> None: ...


class _Watch:
    """The requests of one download: how often each was made, and what came back last."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._tries: dict[tuple[str, str], tuple[int, float]] = {}
        self._status = 0

    def asks(self, method: str, url: str) -> None:
        """Raises GaveUpError for a request that was made too often, or has taken too long already."""
        now = time.monotonic()
        tries, first = self._tries.get((method, url), (0, now))
        slow = now - first > HUB_WAIT_SECONDS / 2 or now > self._deadline
        if tries >= _TRIES or slow:
            raise GaveUpError(self._status, broken=not slow)
        self._tries[method, url] = (tries + 1, first)

    def answered(self, status: int, headers: Mapping[str, str]) -> None:
        """Raises RateLimitedError, where the client would sleep."""
        self._status = status if status >= 400 else 0
        if status == _RATE_LIMITED:
            raise RateLimitedError(seconds_to_wait(headers))


_WATCH: ContextVar[_Watch | None] = ContextVar("_WATCH", default=None)


def _before(request: _Request) -> None:
    watch = _WATCH.get()
    if watch:
        watch.asks(request.method, str(request.url))


def _after(response: _Response) -> None:
    watch = _WATCH.get()
    if watch:
        watch.answered(response.status_code, response.headers)


class HubClient:
    """One target's requests. `say` is told how far they are, in a few words."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._deadline = time.monotonic() + HUB_SECONDS

    def listing(self, address: Address) -> Listing:
        """The commit that the revision is now, and its files: one request. Raises TargetError."""
        self._say(f"{address}: asking the Hub")
        info = self._bounded(lambda: self._info(address), address)
        if not info.sha:
            raise TargetError(f"{address} has no commit yet", hint="upload the model's files first")
        files = [HubFile(file.rfilename, file.size, _etag(file)) for file in info.siblings or ()]
        shown = {**(info.config or {}), "gguf": info.gguf}
        return Listing(info.id, info.sha, relevant(files), time.time(), shown=shown)

    def fetch(self, address: Address, listing: Listing, paths: Sequence[str]) -> dict[str, TargetError]:
        """Download small files into the client's cache, side by side; the errors by path.

        What the user must settle before anything can be read (a token, a rate limit) is raised.
        """
        waiting: SimpleQueue[str] = SimpleQueue()
        for path in paths:
            waiting.put(path)
        done: SimpleQueue[tuple[str, TargetError | None]] = SimpleQueue()
        for _ in range(min(_THREADS, len(paths))):
            # Not a pool: its threads would be waited for at exit, however long a server stalls.
            threading.Thread(target=self._work, args=(address, listing, waiting, done), daemon=True).start()
        failed: dict[str, TargetError] = {}
        for number in range(len(paths)):
            self._say(f"{address}: {number} of {len(paths)} files")
            path, error = self._next(done, address)
            if error:
                failed[path] = error
        return failed

    def open(self, address: Address, listing: Listing, path: str, *, range_bytes: int) -> RemoteStream:
        """A file from its first byte on, by ranges of so many bytes. Raises TargetError."""
        from chatlint.source.hub_stream import RemoteStream

        return RemoteStream(address, listing, path, self._deadline, range_bytes=range_bytes, say=self._say)

    def _info(self, address: Address) -> ModelInfo:
        from huggingface_hub import HfApi

        with watched(self._deadline):
            return HfApi(library_name="chatlint").model_info(
                address.repo, revision=address.asked, files_metadata=True, timeout=HUB_WAIT_SECONDS
            )

    def _work(
        self,
        address: Address,
        listing: Listing,
        waiting: SimpleQueue[str],
        done: SimpleQueue[tuple[str, TargetError | None]],
    ) -> None:
        while True:
            try:
                path = waiting.get_nowait()
            except Empty:
                return
            try:
                self._download(listing, path)
            except BaseException as error:
                done.put((path, hub_error(error, address, path)))
            else:
                done.put((path, None))

    def _download(self, listing: Listing, path: str) -> None:
        from huggingface_hub import hf_hub_download

        with watched(self._deadline):
            hf_hub_download(
                listing.repo,
                path,
                revision=listing.commit,
                etag_timeout=HUB_WAIT_SECONDS,
                library_name="chatlint",
            )

    def _bounded(self, call: Callable[[], Result], address: Address) -> Result:
        """The result of a call that may never end."""
        done: SimpleQueue[Result | TargetError] = SimpleQueue()

        def run() -> None:
            try:
                done.put(call())
            except BaseException as error:
                done.put(hub_error(error, address))

        threading.Thread(target=run, daemon=True).start()
        result = self._next(done, address)
        if isinstance(result, TargetError):
            raise result
        return result

    def _next(self, done: SimpleQueue[Result], address: Address) -> Result:
        try:
            return done.get(timeout=max(self._deadline - time.monotonic(), 0.1))
        except Empty:
            raise hub_error(GaveUpError(), address) from None


@contextmanager
def watched(deadline: float) -> Iterator[None]:
    """Watch the requests that this thread makes."""
    from huggingface_hub.utils import get_session

    _listen(get_session())
    token = _WATCH.set(_Watch(deadline))
    try:
        yield
    finally:
        _WATCH.reset(token)


def _listen(session: _Session) -> None:
    """Have a session of the client tell of its requests, if it does not yet."""
    hooks = session.event_hooks
    if _after not in hooks["response"]:
        session.event_hooks = {
            "request": [*hooks["request"], _before],
            "response": [*hooks["response"], _after],
        }


@contextmanager
def _listening_to_new_sessions() -> Iterator[None]:
    """Where a connection is refused the client closes its session and tries again with another, which must
    tell of its requests, too. (Its own `set_client_factory` would close the session that others may use.)"""
    from huggingface_hub.utils import _http

    make = _http._GLOBAL_CLIENT_FACTORY
    listening = _http._GLOBAL_CLIENT_FACTORY = _listening(make)
    try:
        yield
    finally:
        if _http._GLOBAL_CLIENT_FACTORY is listening:
            _http._GLOBAL_CLIENT_FACTORY = make


def _listening(make: Callable[[], Session]) -> Callable[[], Session]:
    def made() -> Session:
        session = make()
        _listen(session)
        return session

    return made


@contextmanager
def quiet() -> Iterator[None]:
    """While this holds the client draws no bars, says nothing and reports nothing about its use."""
    if "huggingface_hub.constants" not in sys.modules:
        os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"  # read when the client is imported
    # In this order: the import of what makes sessions sets how much is logged.
    with _listening_to_new_sessions(), _silenced():
        yield


@contextmanager
def _silenced() -> Iterator[None]:
    from huggingface_hub import constants
    from huggingface_hub.utils import (
        are_progress_bars_disabled,
        disable_progress_bars,
        enable_progress_bars,
    )

    logger = logging.getLogger("huggingface_hub")
    level, telemetry = logger.level, constants.HF_HUB_DISABLE_TELEMETRY
    drawn = constants.HF_HUB_DISABLE_PROGRESS_BARS is None and not are_progress_bars_disabled()
    logger.setLevel(logging.CRITICAL)
    constants.HF_HUB_DISABLE_TELEMETRY = True
    if drawn:
        disable_progress_bars()
    try:
        yield
    finally:
        logger.setLevel(level)
        constants.HF_HUB_DISABLE_TELEMETRY = telemetry
        if drawn:
            enable_progress_bars()


def _etag(file: RepoSibling) -> str:
    """What the Hub gives as the file's ETag: the content's sha256 in large storage, else git's blob id."""
    return str((file.lfs.sha256 if file.lfs else file.blob_id) or "")
