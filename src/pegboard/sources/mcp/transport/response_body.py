"""The body of a server's HTTP answer: limited in size, or in messages for a stream."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

import httpx2

from pegboard.core.ports.http import HttpStream
from pegboard.errors import PegboardError, ToolFailed, Unavailable
from pegboard.sources.mcp.request_context import RequestContext
from pegboard.sources.mcp.transport.http_failures import Endpoint
from pegboard.sources.mcp.transport.message_rate import MAX_MESSAGE_BYTES, EventCounter, MessageRate


class StreamedBody(httpx2.AsyncByteStream):
    """The body of an answer as it arrives; errors are raised as the library expects them.

    Args:
        stream: The answer.
        stack: Closes the request.
        context: The context of the request; None if it has none.
        endpoint: The server, for messages.
        rate: How many messages may come, on all streams of the session together.
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
        self._is_endless = "event-stream" in stream.headers.get("content-type", "")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._chunks():
                yield chunk
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
        return b"".join([chunk async for chunk in self._chunks()])

    async def _chunks(self) -> AsyncIterator[bytes]:
        total = 0
        events = EventCounter()
        async for chunk in self._received_chunks():
            if self._is_endless:
                self._check_rate(events.count(chunk))
            else:
                total += len(chunk)
            if total > MAX_MESSAGE_BYTES:
                size = f"more than {MAX_MESSAGE_BYTES // 2**20} MB"
                raise ToolFailed(
                    f"{self._endpoint.name} answered with {size}; it should answer in pages, or "
                    "with less."
                )
            yield chunk

    async def _received_chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._stream.chunks:
                yield chunk
        except Unavailable as error:
            raise self._endpoint.interruption_error(error) from error

    def _check_rate(self, count: int) -> None:
        if self._rate.exceeds(count):
            fault = self._endpoint.flood_error(str(self._rate))
            self._on_flood(fault)
            raise fault

    async def aclose(self) -> None:
        await self._stack.aclose()
