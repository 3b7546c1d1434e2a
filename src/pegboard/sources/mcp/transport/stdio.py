"""A child process as the streams that the MCP library speaks on."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.shared.message import SessionMessage

from pegboard.sources.mcp.process.child_process import Child
from pegboard.sources.mcp.process.command import Command
from pegboard.sources.mcp.transport.malformed_messages import MalformedMessage
from pegboard.sources.mcp.transport.message_rate import MessageRate


@asynccontextmanager
async def stdio_transport(
    command: Command,
    on_child: Callable[[Child], None],
    on_end: Callable[[], None],
    *,
    pace: MessageRate,
) -> AsyncGenerator[Any]:
    """A server's streams, as the MCP library takes them; at the end the child is gone.

    Args:
        command: What to start.
        on_child: Given the child as soon as there is one.
        on_end: Told when the child closes its output by itself.
        pace: How fast it may talk.

    Raises:
        MCPConnectionError: It cannot be started.
    """
    child = await Child.started(command, pace=pace)
    to_us, incoming = anyio.create_memory_object_stream[SessionMessage | MalformedMessage](0)
    outgoing, from_us = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with to_us:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await child.receive(to_us.send)
        on_end()

    async def write() -> None:
        async with from_us:
            with contextlib.suppress(ConnectionError):
                async for message in from_us:
                    await child.send(message)

    tasks: list[asyncio.Task[None]] = []
    try:
        on_child(child)
        tasks.extend(asyncio.create_task(work) for work in (read(), write(), child.listen()))
        yield incoming, outgoing
    finally:
        try:
            await child.stop()
        finally:
            child.kill()
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)
            for stream in (to_us, incoming, outgoing, from_us):
                stream.close()
            await child.leave()
