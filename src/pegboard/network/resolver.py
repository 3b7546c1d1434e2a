"""Resolves host names to addresses; injected, so that a test can decide the answer."""

import socket
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.concurrency.thread_pool import ThreadPool

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Takes a host name and a port, returns IP addresses in order of preference; raises OSError."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """Resolve a name with the resolver of the system, without duplicates.

    Raises:
        OSError: The name has no address.
        Overloaded: Too many earlier look-ups have not returned.
    """

    def look_up() -> Sequence[str]:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))

    return await _pool().run(look_up, owner="")


@cache
def _pool() -> "ThreadPool":
    """A pool of its own: a name server that does not answer blocks no tools and no process exit."""
    from pegboard.concurrency.thread_pool import ThreadPool

    return ThreadPool(size=8, most_abandoned=32)
