"""A server on the user's own machine or network, asked over HTTP: JSON in, JSON out, all of it bounded.

Only the address that the user gave is asked. No proxy is used and no redirection followed: what is asked here
is not meant for anybody else.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import Timer
from urllib.parse import urlsplit

from chatlint.conversation import JSON
from chatlint.errors import UsageError
from chatlint.limits import SERVER_ANSWER_BYTES, SERVER_SECONDS
from chatlint.records import dataclass


class ServerSilent(Exception):
    """Nobody answers at the address, or nobody who speaks HTTP and JSON."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server says: the status, and the JSON value, None where it is none; `text` is its beginning."""

    status: int
    value: JSON
    text: str

    @property
    def fine(self) -> bool:
        """Whether it did what it was asked."""
        return 200 <= self.status < 300

    @property
    def fields(self) -> Mapping[str, JSON]:
        """The members of the JSON object, none where it is no object."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def said(self) -> str:
        """Why it refused, in its own words."""
        error = self.fields.get("error", self.fields.get("detail", self.fields.get("message")))
        if isinstance(error, dict):
            error = error.get("message")
        return error if isinstance(error, str) else self.text[:200]


class Server:
    """One server. `url` is its base, with or without `/v1`. Raises UsageError for what is no such address."""

    def __init__(self, url: str, key: str = "") -> None:
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            known = False
        if not known or parts.query or parts.fragment or parts.username is not None:
            raise UsageError(
                f"{url!r} is no address of a server", hint="like http://127.0.0.1:8080, without a query"
            )
        self._key = key.strip()
        if not (self._key.isascii() and self._key.isprintable()):  # the words of http.client would show it
            raise UsageError("the server's key is none: it holds more than printable ASCII")
        self._base = parts.path.rstrip("/").removesuffix("/v1")
        self.url = f"{parts.scheme}://{parts.netloc}{self._base}"
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname or "", parts.port

    def get(self, path: str) -> Answer:
        """Raises ServerSilent."""
        return self._ask(path, None)

    def post(self, path: str, body: Mapping[str, JSON]) -> Answer:
        """Raises ServerSilent."""
        return self._ask(path, json.dumps(body).encode("ascii"))

    def _ask(self, path: str, body: bytes | None) -> Answer:
        headers = {"Accept": "application/json", "User-Agent": "chatlint"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            with closing(self._connection()) as connection, _within(SERVER_SECONDS, connection):
                connection.request("GET" if body is None else "POST", self._base + path, body, headers)
                with connection.getresponse() as response:
                    return _read(response)
        except (OSError, HTTPException, ValueError) as error:
            words = str(error) if isinstance(error, OSError) else f"{type(error).__name__} {error}"
            raise ServerSilent(f"{self.url} does not answer: {words}".rstrip()) from error

    def _connection(self) -> HTTPConnection:
        kind = HTTPSConnection if self._secure else HTTPConnection
        return kind(self._host, self._port, timeout=SERVER_SECONDS)


@contextmanager
def _within(seconds: float, connection: HTTPConnection) -> Iterator[None]:
    """Connect, and end the connection after this time: one that says a byte now and then is never silent."""
    deadline = time.monotonic() + seconds
    connection.connect()
    timer = Timer(seconds, _end, [connection.sock])
    timer.daemon = True
    timer.start()
    late = f"an answer that was not there after {seconds:g} seconds"
    try:
        yield
    except (OSError, HTTPException, ValueError) as error:
        if time.monotonic() > deadline:
            raise ServerSilent(late) from error
        raise
    finally:
        timer.cancel()
    if time.monotonic() > deadline:  # what ends with the connection looks whole
        raise ServerSilent(late)


def _end(connected: socket.socket) -> None:
    with suppress(OSError):  # it has ended
        connected.shutdown(socket.SHUT_RDWR)


def _read(response: HTTPResponse) -> Answer:
    content = response.read(SERVER_ANSWER_BYTES + 1)
    if len(content) > SERVER_ANSWER_BYTES:
        raise ServerSilent(f"an answer of more than {SERVER_ANSWER_BYTES:,} bytes")
    text = content.decode("utf-8", "replace")
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return Answer(response.status, value, text[:2000])
