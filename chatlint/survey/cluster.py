"""A Dask cluster as an executor (the extra `cluster`).

Workers load targets themselves: a path must lie where they see it, Hub models need the network there. What a
lost worker was doing is done by another; work that kills every worker it is given to is given up.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Protocol, cast

from chatlint.errors import UsageError
from chatlint.records import dataclass
from chatlint.results import code_digest

SCHEME = "dask://"
_SECONDS = 10


class _Client(Protocol):
    """What we need of `distributed.Client`."""

    def get_executor(self, pure: bool = ...) -> Executor: ...

    def nthreads(self) -> dict[str, int]: ...

    def run(self, function: object) -> dict[str, object]: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Cluster:
    """A connection. `workers` is the number of worker processes."""

    client: _Client
    workers: int

    def executor(self) -> Executor:
        """Its `concurrent.futures` face."""
        return self.client.get_executor(pure=False)

    def close(self) -> None:
        """End the connection; the cluster stays."""
        self.client.close()


def open_cluster(url: str) -> Cluster:
    """Connect to a scheduler. Raises UsageError where there is none, where it has no workers, or where these
    have another chatlint: results of two versions do not belong in one survey."""
    if not url.startswith(SCHEME) or not url.removeprefix(SCHEME):
        raise UsageError(f"--executor {url} is no cluster", hint="like dask://scheduler.example:8786")
    client = _connected(url)
    workers = client.nthreads()
    if not workers:
        client.close()
        raise UsageError(f"{url} has no workers", hint="start some: dask worker HOST:PORT --nthreads 1")
    own = own_digest()
    others = [place for place, digest in client.run(code_digest).items() if digest != own]
    if others:
        client.close()
        raise UsageError(
            f"{len(others)} of {len(workers)} workers of {url} have another chatlint or Python",
            hint="install the same version everywhere",
        )
    return Cluster(client, len(workers))


def own_digest() -> str:
    """What workers must have, too."""
    return code_digest()


def _connected(url: str) -> _Client:
    try:
        from distributed import Client
    except ImportError:
        raise UsageError(
            "--executor dask://… needs the extra `cluster`",
            hint="pip install 'chatlint-conformance[cluster]'",
        ) from None
    try:
        address = "tcp://" + url.removeprefix(SCHEME)
        client = Client(address, timeout=_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise UsageError(f"{url} does not answer: {error}", hint="is a scheduler running there?") from error
    return cast(_Client, client)
