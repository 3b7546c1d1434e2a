"""Refuses an SSE server at once whose endpoint is not on its own origin.

The MCP library does not send to another origin either, but then waits for an endpoint that it
accepts until the connection times out, and does not say why.
"""

from collections.abc import AsyncIterator
from typing import cast
from urllib.parse import urljoin, urlsplit

import httpx2

from pegboard.sources.mcp.request_context import CURRENT
from pegboard.sources.mcp.transport.http_failures import Endpoint

_MAX_BYTES = 64 * 1024
_MAX_ORIGIN = 200


class EndpointCheck(httpx2.AsyncBaseTransport):
    """Reads the stream of an SSE session up to its endpoint, before the MCP library does.

    Args:
        inner: Sends the requests.
        endpoint: The server, for messages.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, *, endpoint: Endpoint) -> None:
        self._inner = inner
        self._endpoint = endpoint

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the stream that answers a GET is checked."""
        response = await self._inner.handle_async_request(request)
        kind = response.headers.get("content-type", "").lower()
        if request.method == "GET" and response.status_code == 200 and "event-stream" in kind:
            inner = cast("httpx2.AsyncByteStream", response.stream)
            response.stream = _CheckedStream(inner, request, self._endpoint)
        return response


class _CheckedStream(httpx2.AsyncByteStream):
    def __init__(
        self, inner: httpx2.AsyncByteStream, request: httpx2.Request, endpoint: Endpoint
    ) -> None:
        self._inner = inner
        self._request = request
        self._endpoint = endpoint

    async def __aiter__(self) -> AsyncIterator[bytes]:
        chunks = aiter(self._inner)
        head: list[bytes] = []
        try:
            problem = await self._problem_of_head(chunks, head)
        except httpx2.StreamError as error:
            raise httpx2.SSEError(str(error)) from error
        if problem:
            fault = self._endpoint.sse_endpoint_error(problem)
            if (context := CURRENT.get()) is not None:
                context.fault = fault
            # the one error for which the library ends at once before it knows the endpoint
            raise httpx2.SSEError(fault.message)
        for chunk in head:
            yield chunk
        async for chunk in chunks:
            yield chunk

    async def _problem_of_head(self, chunks: AsyncIterator[bytes], head: list[bytes]) -> str:
        """Read up to the endpoint; what is wrong with it, or empty."""

        async def read() -> AsyncIterator[bytes]:
            size = 0
            async for chunk in chunks:
                head.append(chunk)
                size += len(chunk)
                yield chunk
                if size > _MAX_BYTES:
                    return

        kind = {"content-type": "text/event-stream"}
        response = httpx2.Response(200, headers=kind, content=read(), request=self._request)
        async for event in httpx2.EventSource(response):
            if event.event == "endpoint":
                return endpoint_problem(self._endpoint.url, event.data)
        return "named no endpoint" if sum(map(len, head)) > _MAX_BYTES else ""

    async def aclose(self) -> None:
        await self._inner.aclose()


def endpoint_problem(url: str, endpoint: str) -> str:
    """Why no message is sent to an endpoint; empty when it is."""
    try:
        target, own = urlsplit(urljoin(url, endpoint)), urlsplit(url)
        is_same = (target.scheme, target.netloc) == (own.scheme, own.netloc)
        origin = f"{target.scheme}://{target.netloc.rpartition('@')[2]}"
    except ValueError:
        return "names an endpoint that is no address"
    return "" if is_same else f"names an endpoint on another origin ({origin[:_MAX_ORIGIN]})"
