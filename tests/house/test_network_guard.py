"""The guard in conftest.py holds."""

from __future__ import annotations

import socket

import pytest

from tests.conftest import NetworkForbidden


def test_a_test_cannot_leave_the_machine():
    with socket.socket() as outside, pytest.raises(NetworkForbidden):
        outside.connect(("192.0.2.1", 80))
    with pytest.raises(NetworkForbidden):
        socket.getaddrinfo("example.invalid", 80)


def test_loopback_is_allowed():
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.create_connection(server.getsockname()) as client,
    ):
        assert client.getpeername() == server.getsockname()
