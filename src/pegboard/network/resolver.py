"""Names to addresses, injected so that a test decides what a name leads to."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""Takes a host name and a port, gives IP addresses in order of preference; raises OSError."""


async def system_resolver(host: str, port: int) -> Sequence[str]:
    """What the machine's own resolver answers, without duplicates."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
