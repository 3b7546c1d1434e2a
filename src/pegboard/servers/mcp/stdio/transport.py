"""The stdio transport of MCP: one message a line on stdin and stdout."""

import asyncio
import json
import logging
import os
import queue
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from pegboard.servers.mcp.protocol_errors import DUPLICATE_ID, MALFORMED_ID
from pegboard.servers.mcp.stdio.lines import TOO_LONG, encode_line
from pegboard.servers.mcp.stdio.pending_requests import PendingRequests

_CHUNK = 65_536
_LOG = logging.getLogger("pegboard.mcp")


def claim_stdio() -> tuple[int, int]:
    """Keep stdin and stdout for the protocol: returns descriptors for reading and for writing.

    From then on, and until the process ends, tools, modules and child processes that print write
    to stderr, and those that read stdin read nothing. Text that waits in the buffer of
    `sys.stdout` goes to stderr as well. Call it before anything of the board is imported.
    """
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.flush()
    sys.stdout = sys.stderr  # which is written line by line
    return reading, writing


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioStreams:
    """Streams of incoming and outgoing messages.

    Attributes:
        ended: Set once the client has closed its end and its requests are answered.
    """

    incoming: MemoryObjectReceiveStream[SessionMessage | Exception]
    outgoing: MemoryObjectSendStream[SessionMessage]
    ended: asyncio.Event


@asynccontextmanager
async def open_streams(
    reading: int, writing: int, *, max_bytes: int, grace: float
) -> AsyncGenerator[StdioStreams]:
    """Open message streams over two descriptors.

    Daemon threads read and write, so that a client that neither writes nor reads does not keep
    the process from exiting.

    Args:
        reading: Descriptor that the client writes to.
        writing: Descriptor that the client reads from.
        max_bytes: Size of the largest message that is read.
        grace: Seconds that open requests have to finish once the client has closed its end.
    """
    lines, writer = _Lines(reading, max_bytes=max_bytes), _Writer(writing)
    async with open_message_streams(lines, writer, grace=grace) as streams:
        yield streams


class LineReader(Protocol):
    """Reads the lines of a client."""

    async def next(self) -> bytes | None:
        """The next line, or `TOO_LONG`; None at the end."""
        ...


class MessageWriter(Protocol):
    """Writes messages to a client."""

    async def write(self, message: JSONRPCMessage) -> None:
        """Wait until the message is written or the client has disconnected."""
        ...

    def close(self) -> None:
        """Write nothing more."""
        ...


@asynccontextmanager
async def open_message_streams(
    lines: LineReader, writer: MessageWriter, *, grace: float
) -> AsyncGenerator[StdioStreams]:
    """Open message streams over lines; arguments as for `open_streams`."""
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage](0)
    ended, pending = asyncio.Event(), PendingRequests()

    async def read() -> None:
        async with to_server:
            await _read(lines, to_server, writer, pending)
            await pending.wait(grace)
        ended.set()

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(_write, from_server, writer, pending)
        try:
            yield StdioStreams(incoming=incoming, outgoing=outgoing, ended=ended)
        finally:
            group.cancel_scope.cancel()
            writer.close()
            incoming.close()
            outgoing.close()


async def _read(
    lines: LineReader,
    to_server: MemoryObjectSendStream[SessionMessage | Exception],
    writer: MessageWriter,
    pending: PendingRequests,
) -> None:
    while (line := await lines.next()) is not None:
        if not line.strip():
            continue
        found = _message(line)
        if isinstance(found, JSONRPCError) and found.id is None:
            await writer.write(found)
        elif isinstance(found, JSONRPCRequest) and pending.has(found.id):
            await writer.write(_refusal(INVALID_REQUEST, DUPLICATE_ID, request_id=found.id))
        else:
            pending.track(found)
            await to_server.send(SessionMessage(found))


async def _write(
    from_server: MemoryObjectReceiveStream[SessionMessage],
    writer: MessageWriter,
    pending: PendingRequests,
) -> None:
    async with from_server:
        async for item in from_server:
            pending.release(item.message)
            await writer.write(item.message)
            pending.settle(item.message)


def _message(line: bytes) -> JSONRPCMessage:
    """Parse a line; returns its message, or the error to answer with."""
    if line is TOO_LONG:
        return _refusal(INVALID_REQUEST, "The message is too long")
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        if (
            isinstance(message, JSONRPCNotification)
            and b'"id"' in line
            and "id" in json.loads(line)
        ):
            # not a notification: the client waits for a response
            return _refusal(INVALID_REQUEST, MALFORMED_ID)
        return message
    except ValidationError as error:
        if any(item["type"] == "json_invalid" for item in error.errors(include_url=False)):
            return _refusal(PARSE_ERROR, "Parse error")
        return _refusal(INVALID_REQUEST, "The message is not one of JSON-RPC 2.0")


def _refusal(code: int, message: str, *, request_id: RequestId | None = None) -> JSONRPCError:
    error = ErrorData(code=code, message=message)
    return JSONRPCError(jsonrpc="2.0", id=request_id, error=error)


class _Lines:
    """Lines of a descriptor, read by a daemon thread."""

    def __init__(self, descriptor: int, *, max_bytes: int) -> None:
        self._descriptor, self._max_bytes = descriptor, max_bytes
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=100)
        threading.Thread(target=self._read, name="pegboard-mcp-stdin", daemon=True).start()

    async def next(self) -> bytes | None:
        """The next line; None at the end."""
        return await self._lines.get()

    def _read(self) -> None:
        held, skipping = b"", False
        try:
            while chunk := os.read(self._descriptor, _CHUNK):
                *whole, held = (held + chunk).split(b"\n")
                for line in whole:
                    if not skipping:
                        self._put(line if len(line) <= self._max_bytes else TOO_LONG)
                    skipping = False
                if len(held) > self._max_bytes:
                    if not skipping:
                        self._put(TOO_LONG)
                    held, skipping = b"", True
        except OSError:
            _LOG.debug("mcp: reading stdin failed", exc_info=True)
        self._put(None)

    def _put(self, line: bytes | None) -> None:
        """Queue a line, and wait while the queue is full."""
        putting: Any = self._lines.put(line)
        try:
            asyncio.run_coroutine_threadsafe(putting, self._loop).result()
        except (RuntimeError, asyncio.CancelledError):  # the loop has ended
            putting.close()


class _Writer:
    """Writes messages to a descriptor by a daemon thread, one after the other."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._work: queue.SimpleQueue[tuple[bytes, asyncio.Event] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="pegboard-mcp-stdout", daemon=True).start()

    async def write(self, message: JSONRPCMessage) -> None:
        """Wait until the message is written or the client has disconnected."""
        done = asyncio.Event()
        self._work.put((encode_line(message), done))
        await done.wait()

    def close(self) -> None:
        """Stop the thread."""
        self._work.put(None)

    def _run(self) -> None:
        broken = False
        while (item := self._work.get()) is not None:
            line, done = item
            try:
                while line and not broken:
                    line = line[os.write(self._descriptor, line) :]
            except OSError:  # the client closed stdout; the session ends with stdin
                broken = True
            try:
                self._loop.call_soon_threadsafe(done.set)
            except RuntimeError:  # the loop has ended
                return
