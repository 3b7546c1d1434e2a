"""What a child writes, line by line; it may be long, but not without end."""

import asyncio
from collections.abc import AsyncGenerator, Callable

MOST_BYTES = 64 * 1024 * 1024
"""Of one message."""

_CHUNK = 64 * 1024


async def lines(
    stream: asyncio.StreamReader,
    *,
    cut: bool = False,
    on_excess: Callable[[], None] | None = None,
) -> AsyncGenerator[bytes]:
    """Lines of any length, if need be cut; or up to the largest message, beyond which it ends."""
    pieces: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK):
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            yield b"".join(pieces) + line
            pieces.clear()
            size = 0
        size += len(rest)
        if not cut or size < _CHUNK:
            pieces.append(rest)
        if on_excess is not None and size > MOST_BYTES:
            on_excess()
            return
    if any(pieces):
        yield b"".join(pieces)
