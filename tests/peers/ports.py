"""Ports for programs that cannot be handed a socket, and have to be told a number."""

import contextlib
import secrets
import socket


def free_port() -> int:
    """A port below those that the system gives away until the program listens on it."""
    while True:
        port = 10_000 + secrets.randbelow(20_000)  # tests beside this one have the same `random`
        with socket.socket() as listening, contextlib.suppress(OSError):
            listening.bind(("127.0.0.1", port))
            return port
