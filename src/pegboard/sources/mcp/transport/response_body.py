"""The body of a server's HTTP answer: limited in size, or in messages for a stream."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Self

import httpx2

from pegboard.core.ports.http import HttpStream
from pegboard.errors import PegboardError, ToolFailed, Unavailable
from pegboard.sources.mcp.request_context import RequestContext
from pegboard.sources.mcp.transport.http_failures import Endpoint
from pegboard.sources.mcp.transport.message_rate import MAX_MESSAGE_BYTES, EventCounter, MessageRate

_END_SECONDS = 0.05
_END_CHUNKS = 8


class StreamedBody(httpx2.AsyncByteStream):
    """The body of an answer as it arrives; errors are raised as the library expects them.

    Args:
        stream: The answer.
        stack: Closes the request.
        context: The context of the request; None if it has none.
        endpoint: The server, for messages.
        rate: How many messages may come, on all streams of the session together.
        is_answer: Whether it answers one message, so that it ends soon after that.
        on_fault: Called with the error that ends an event stream.
        on_flood: Called when too many messages came, to end the session.
    """

    def __init__(
        self,
        stream: HttpStream,
        stack: AsyncExitStack,
        context: RequestContext | None,
        *,
        endpoint: Endpoint,
        rate: MessageRate,
        is_answer: bool,
        on_fault: Callable[[PegboardError], None],
        on_flood: Callable[[PegboardError], None],
    ) -> None:
        self._stream = stream
        self._stack = stack
        self._context = context
        self._endpoint = endpoint
        self._rate = rate
        self._on_fault = on_fault
        self._on_flood = on_flood
        self._is_answer = is_answer
        self._chunks = aiter(stream.chunks)
        self._events = EventCounter()
        self._total = 0
        self._is_endless = "event-stream" in stream.headers.get("content-type", "")

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        # no generator: the library leaves off in the middle, and each of those costs a task then
        try:
            return await self._receive()
        except PegboardError as fault:
            if self._context is not None:
                self._context.fault = fault
            if self._is_endless:
                self._on_fault(fault)
            raise httpx2.StreamError(fault.message) from fault

    async def read(self) -> bytes:
        """Read all of it.

        Raises:
            ToolFailed: It is too large.
            MCPConnectionError: The connection broke.
        """
        chunks: list[bytes] = []
        while True:
            try:
                chunks.append(await self._receive())
            except StopAsyncIteration:
                return b"".join(chunks)

    async def _receive(self) -> bytes:
        try:
            chunk = await anext(self._chunks)
        except Unavailable as error:
            raise self._endpoint.interruption_error(error) from error
        if self._is_endless:
            self._check_rate(self._events.count(chunk))
        else:
            self._total += len(chunk)
        if self._total > MAX_MESSAGE_BYTES:
            size = f"more than {MAX_MESSAGE_BYTES // 2**20} MB"
            raise ToolFailed(
                f"{self._endpoint.name} answered with {size}; it should answer in pages, or "
                "with less."
            )
        return chunk

    def _check_rate(self, count: int) -> None:
        if self._rate.exceeds(count):
            fault = self._endpoint.flood_error(str(self._rate))
            self._on_flood(fault)
            raise fault

    async def aclose(self) -> None:
        try:
            if self._is_answer and self._is_endless:
                await self._read_to_the_end()
        finally:
            await self._stack.aclose()

    async def _read_to_the_end(self) -> None:
        """Read what follows the answer in its stream, so that the connection can be used again.

        The library closes a stream once it has the answer; servers end it right behind that.
        """
        try:
            async with asyncio.timeout(_END_SECONDS):
                for _ in range(_END_CHUNKS):
                    await anext(self._chunks)
        except (StopAsyncIteration, TimeoutError, PegboardError):
            return
