"""What every test may lean on: the shared real-world data, and a guard that keeps tests off the network."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

# On CI a run says the same twice; new examples are looked for everywhere else. Deadlines would measure how busy
# the machine is.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("elsewhere", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "elsewhere")

SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real templates and packages beside the checkout; it is read in place, never copied."""
    if not (SHARED / "templates").is_dir():
        pytest.skip("needs the real templates in ../shared, which are not part of the project")
    return SHARED


class NetworkForbidden(AssertionError):
    """A test tried to leave this machine."""


@pytest.fixture(autouse=True)
def no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only loopback may be reached, except by tests marked `live`."""
    if request.node.get_closest_marker("live"):
        return
    connect, connect_ex, lookup = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded(real):
        def to(self, address):
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _loopback(address[0]):
                raise NetworkForbidden(f"a test tried to connect to {address[0]}")
            return real(self, address)

        return to

    def guarded_lookup(host, *rest, **options):
        if host is not None and not _loopback(host):
            raise NetworkForbidden(f"a test tried to look up {host}")
        return lookup(host, *rest, **options)

    monkeypatch.setattr(socket.socket, "connect", guarded(connect))
    monkeypatch.setattr(socket.socket, "connect_ex", guarded(connect_ex))
    monkeypatch.setattr(socket, "getaddrinfo", guarded_lookup)


def _loopback(host: str | bytes) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in ("localhost", ""):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


@pytest.fixture
def chatlint(capsys, monkeypatch, tmp_path):
    """`chatlint("check", "corpus:chatml")` gives exit status, standard output and standard error. It runs in an
    empty directory: no configuration is found by accident."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("CHATLINT_CACHE_DIR", str(tmp_path / "store"))
    for name in ("NO_COLOR", "FORCE_COLOR", "CHATLINT_DEBUG"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments):
        from chatlint.cli import main

        monkeypatch.setattr(sys, "argv", ["chatlint", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as leaving:
            main()
        captured = capsys.readouterr()
        return Done(leaving.value.code or 0, captured.out, captured.err)

    return run
