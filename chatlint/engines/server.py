"""A server on the user's own machine or network, asked over HTTP: JSON in, JSON out, all of it bounded.

Only the address that the user gave is asked. No proxy is used and no redirection followed: what is asked here
is not meant for anybody else.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from http.client import HTTPException, HTTPResponse
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from chatlint.conversation import JSON
from chatlint.errors import UsageError
from chatlint.limits import SERVER_ANSWER_BYTES, SERVER_SECONDS
from chatlint.records import dataclass

_PART = 64 * 1024


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


class _NoRedirection(HTTPRedirectHandler):
    def redirect_request(self, *given: object, **more: object) -> None:
        return None


class Server:
    """One server. `url` is its base, with or without `/v1`. Raises UsageError for what is no such address."""

    def __init__(self, url: str, key: str = "") -> None:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        try:
            known = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            known = False
        if not known or parts.query or parts.fragment or parts.username is not None:
            raise UsageError(
                f"{url!r} is no address of a server", hint="like http://127.0.0.1:8080, without a query"
            )
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/').removesuffix('/v1')}"
        self._key = key
        self._opener: OpenerDirector = build_opener(ProxyHandler({}), _NoRedirection())

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
        request = Request(self.url + path, body, headers)
        try:
            with self._opener.open(request, timeout=SERVER_SECONDS) as response:
                return _read(response, response.status)
        except HTTPError as error:
            with error:
                return _read(error, error.code)
        except URLError as error:
            raise ServerSilent(f"{self.url} does not answer: {error.reason}") from error
        except (OSError, HTTPException, ValueError) as error:
            raise ServerSilent(
                f"{self.url} does not answer: {type(error).__name__} {error}".rstrip()
            ) from error


def _read(response: HTTPResponse | HTTPError | IO[bytes], status: int) -> Answer:
    content, deadline = b"", time.monotonic() + SERVER_SECONDS
    while part := response.read(_PART):
        content += part
        if len(content) > SERVER_ANSWER_BYTES:
            raise ServerSilent(f"an answer of more than {SERVER_ANSWER_BYTES:,} bytes")
        if time.monotonic() > deadline:
            raise ServerSilent(f"an answer that was not there after {SERVER_SECONDS:g} seconds")
    text = content.decode("utf-8", "replace")
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return Answer(status, value, text[:2000])
