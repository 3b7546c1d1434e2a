"""Lines with one message each, over stdio or a socket; loads no SDK."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage

TOO_LONG = b"(too long)"
"""Stands for a line that is longer than allowed."""


def encode_line(message: "JSONRPCMessage") -> bytes:
    """A message as a line."""
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


class SocketLines:
    """Lines of a socket.

    Args:
        reader: The socket; its limit is the size of the longest line.
    """

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    async def next(self) -> bytes | None:
        """The next line, or `TOO_LONG`; None at the end."""
        is_too_long = False
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as error:
                is_too_long = True
                await self._reader.readexactly(error.consumed)
            except (asyncio.IncompleteReadError, ConnectionError):
                return None
            else:
                return TOO_LONG if is_too_long else line[:-1]


class SocketWriter:
    """Writes messages to a socket."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, message: "JSONRPCMessage") -> None:
        """Wait until the message is written or the other end has disconnected."""
        await self.write_line(encode_line(message))

    async def write_line(self, line: bytes) -> None:
        """Wait until the line is written or the other end has disconnected."""
        with suppress(ConnectionError):
            self._writer.write(line)
            await self._writer.drain()

    def close(self) -> None:
        """Close the socket."""
        self._writer.close()
