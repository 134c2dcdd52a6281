"""What went wrong at the Hub, in one line and with what to do about it.

Only kinds of exceptions and statuses are looked at. Their texts hold addresses that are signed, and may hold
headers: they are never printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chatlint.errors import TargetError
from chatlint.lazy import regex
from chatlint.source.folder import OutOfReachError

if TYPE_CHECKING:
    from chatlint.source.hub_listing import Address

_LOGIN = "log in with `hf auth login`, or set HF_TOKEN"
_RESET = regex(r"\bt=(\d{1,9})\b")
_WINDOW = 300
"""The Hub counts requests in windows of five minutes."""


class UnreachableError(OutOfReachError):
    """The Hub does not answer, or answers that it cannot: what is on this machine may do instead."""


class GatedError(TargetError):
    """The repository can be seen, its files cannot be read."""


class NoSuchFileError(TargetError):
    """The file is not there."""


class RateLimitedError(Exception):
    """The Hub wants no more requests for so many seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class GaveUpError(Exception):
    """A request was not repeated once more, or the time for a target is over. `status` is the last answer's,
    0 where there was none; `broken` where connections ended at once."""

    def __init__(self, status: int = 0, *, broken: bool = False) -> None:
        super().__init__(status)
        self.status = status
        self.broken = broken


def seconds_to_wait(headers: Mapping[str, str]) -> int:
    """What a 429 response asks for: `RateLimit: "api";r=0;t=55`, or `Retry-After: 55`."""
    lower = {name.lower(): value for name, value in headers.items()}
    reset = _RESET.search(lower.get("ratelimit", ""))
    after = lower.get("retry-after", "").strip()
    return int(reset[1]) if reset else int(after) if after.isdecimal() else _WINDOW


def hub_error(error: BaseException, address: Address, path: str = "") -> TargetError:
    """`error`, raised while `address` (or a file in it) was asked for, as a TargetError."""
    from huggingface_hub import errors

    if isinstance(error, TargetError):
        return error
    if isinstance(error, errors.LocalEntryNotFoundError) and error.__cause__ is not None:
        return hub_error(error.__cause__, address, path)
    if isinstance(error, RateLimitedError):
        return OutOfReachError(
            f"{address}: the Hub's rate limit is reached; it lifts in {error.seconds} s",
            hint=f"wait, or {_LOGIN}: a token raises the limit",
        )
    if isinstance(error, GaveUpError) and error.status:
        return _by_status(error.status, address)
    if isinstance(error, errors.HfHubHTTPError):
        return _refused(error, address, path)
    if isinstance(error, errors.OfflineModeIsEnabled):
        return OutOfReachError(f"{address}: the client is offline", hint="unset HF_HUB_OFFLINE")
    if isinstance(error, errors.HFValidationError):
        return OutOfReachError(
            f"{address} cannot be the id of a Hub model", hint="an id like org/name was expected"
        )
    return _broken_off(error, address)


def _refused(error: BaseException, address: Address, path: str) -> TargetError:
    """An answer of the Hub that is none. The order matters: some kinds are special cases of later ones."""
    from huggingface_hub import errors

    if isinstance(error, errors.GatedRepoError):
        return _gated(address, _sent_token(error))
    if isinstance(error, errors.RevisionNotFoundError):
        return OutOfReachError(
            f"{address.repo} has no revision {address.revision}", hint="see its branches and tags on the Hub"
        )
    if isinstance(error, errors.EntryNotFoundError):
        return NoSuchFileError(f"{path} is not in {address}", hint="see the repository's files on the Hub")
    if isinstance(error, errors.DisabledRepoError):
        return OutOfReachError(f"{address} is disabled on the Hub", hint="its page says why")
    if isinstance(error, errors.RepositoryNotFoundError):
        return _not_found(address, _sent_token(error))
    status = _status(error)
    if status == 401 and _sent_token(error):
        return OutOfReachError(
            f"{address}: the Hub does not accept the token", hint=f"it is wrong or expired; {_LOGIN}"
        )
    return _by_status(status, address)


def _gated(address: Address, with_token: bool) -> TargetError:
    if with_token:
        return GatedError(
            f"{address} is gated, and the token's account has no access",
            hint="accept the terms on its page, and give the token the right to read gated repositories",
        )
    return GatedError(f"{address} is gated", hint=f"accept the terms on its page, then {_LOGIN}")


def _not_found(address: Address, with_token: bool) -> TargetError:
    if with_token:
        return OutOfReachError(
            f"{address.repo} does not exist on the Hub, or the token's account may not see it",
            hint="check the spelling",
        )
    return OutOfReachError(
        f"{address.repo} does not exist on the Hub, or is private",
        hint=f"check the spelling; for a private one {_LOGIN}",
    )


def _by_status(status: int, address: Address) -> TargetError:
    if status >= 500 or status == 408:
        return UnreachableError(f"{address}: the Hub is in trouble (status {status})", hint="try again later")
    if status in (401, 403):
        return OutOfReachError(f"{address} may not be read (status {status})", hint=_LOGIN)
    return OutOfReachError(f"{address}: the Hub answered with status {status}", hint="check HF_ENDPOINT")


def _broken_off(error: BaseException, address: Address) -> TargetError:
    """No answer at all: the kind of failure is all there is."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if isinstance(error, GaveUpError) and error.broken:
        return _out_of_reach(address, "connections break off")
    if isinstance(error, GaveUpError) or any("Timeout" in kind for kind in kinds):
        return UnreachableError(
            f"{address}: the Hub did not answer in time", hint="check the network, or try again later"
        )
    if "ProxyError" in kinds:
        return UnreachableError(f"{address}: the proxy let nothing through", hint="check HTTPS_PROXY")
    if "CERTIFICATE" in str(error).upper():
        return UnreachableError(
            f"{address}: the Hub's certificate is not trusted", hint="a proxy may need SSL_CERT_FILE"
        )
    if kinds & {"LocalProtocolError", "UnicodeEncodeError"}:
        return OutOfReachError(
            f"{address}: the request cannot be written", hint="HF_TOKEN holds signs that no token has"
        )
    if "RuntimeError" in kinds and "closed" in str(error):
        return _out_of_reach(address, "another request was refused")  # which closes the client's session
    if kinds & {"TransportError", "ConnectError", "OSError"}:
        return _out_of_reach(address, type(error).__name__)
    return OutOfReachError(
        f"{address}: the Hub's answer makes no sense ({type(error).__name__})", hint="check HF_ENDPOINT"
    )


def _out_of_reach(address: Address, why: str) -> TargetError:
    return UnreachableError(
        f"{address}: the Hub cannot be reached ({why})",
        hint="check the network and HF_ENDPOINT; --offline uses what is on this machine",
    )


def _status(error: BaseException) -> int:
    status = getattr(getattr(error, "response", None), "status_code", 0)
    return status if isinstance(status, int) else 0


def _sent_token(error: BaseException) -> bool:
    request = getattr(getattr(error, "response", None), "request", None)
    return "authorization" in (getattr(request, "headers", None) or {})
