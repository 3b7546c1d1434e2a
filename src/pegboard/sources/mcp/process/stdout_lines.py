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
    most: int = MOST_BYTES,
) -> AsyncGenerator[bytes]:
    """Lines of any length, if need be cut; or up to the largest message, beyond which it ends.

    Args:
        stream: What is read.
        cut: Whether what is longer than a piece of the stream is kept in part alone.
        on_excess: Told of a line beyond the largest; None for lines of any length.
        most: Bytes of the largest.
    """
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
        if on_excess is not None and size > most:
            on_excess()
            return
    if any(pieces):
        yield b"".join(pieces)
