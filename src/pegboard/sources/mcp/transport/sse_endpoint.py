"""Where an SSE server says that messages go, checked before the MCP library reads it.

The library would wait on for an endpoint where it refuses the one that it is told.
"""

import re
from collections.abc import AsyncIterator
from typing import cast
from urllib.parse import urljoin, urlsplit

import httpx2

from pegboard.errors import PegboardError
from pegboard.sources.mcp.request_context import CURRENT
from pegboard.sources.mcp.transport.http_failures import Landing

_LINE = re.compile(rb"\r\n|\n|\r(?!\Z)")  # what follows a last CR is not known yet
_MOST_BYTES = 64 * 1024
_LONGEST = 200


class AnnouncedTransport(httpx2.AsyncBaseTransport):
    """Looks at the stream of a session of the older transport until it names its endpoint.

    Args:
        inner: Sends the requests.
        landing: Which server this is, for messages.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, *, landing: Landing) -> None:
        self._inner = inner
        self._landing = landing

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the stream that answers a GET is looked at."""
        response = await self._inner.handle_async_request(request)
        kind = response.headers.get("content-type", "").lower()
        if request.method == "GET" and response.status_code == 200 and "event-stream" in kind:
            inner = cast("httpx2.AsyncByteStream", response.stream)
            response.stream = _Announced(inner, self._landing)
        return response


class _Announced(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, landing: Landing) -> None:
        self._inner = inner
        self._landing = landing

    async def __aiter__(self) -> AsyncIterator[bytes]:
        looking = Looking(self._landing.url)
        exchange = CURRENT.get()

        def refused(fault: PegboardError) -> httpx2.SSEError:
            if exchange is not None:
                exchange.fault = fault
            # the one error for which the library ends at once before it knows the endpoint
            return httpx2.SSEError(fault.message)

        try:
            async for chunk in self._inner:
                if not looking.is_done and (problem := looking.problem_in(chunk)):
                    raise refused(self._landing.no_way_back(problem))
                yield chunk
        except httpx2.StreamError as error:
            if looking.is_done:
                raise
            raise httpx2.SSEError(str(error)) from error

    async def aclose(self) -> None:
        await self._inner.aclose()


class Looking:
    """Reads the beginning of a stream.

    Args:
        url: Where the stream is.

    Attributes:
        is_done: Whether it has named an endpoint.
    """

    def __init__(self, url: str) -> None:
        self.is_done = False
        self._url = url
        self._held = b""
        self._event = ""
        self._data: list[str] = []
        self._read = 0

    def problem_in(self, chunk: bytes) -> str:
        """What is wrong with what it has said with the next piece; empty while all is well."""
        self._read += len(chunk)
        *lines, self._held = _LINE.split(self._held + chunk)
        for line in lines:
            endpoint = self._named(line.decode(errors="replace"))
            if endpoint is not None:
                self.is_done = True
                return problem_of(self._url, endpoint)
        return "named no endpoint" if self._read > _MOST_BYTES else ""

    def _named(self, line: str) -> str | None:
        """The endpoint, with the line that ends its event."""
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._event = value
        elif field == "data":
            self._data.append(value)
        elif not line:
            event, data = self._event, "\n".join(self._data)
            self._event, self._data = "", []
            return data if event == "endpoint" else None
        return None


def problem_of(url: str, endpoint: str) -> str:
    """Why no message is sent there; empty when it is."""
    try:
        whole, here = urlsplit(urljoin(url, endpoint)), urlsplit(url)
        is_same = (whole.scheme, whole.netloc) == (here.scheme, here.netloc)
        there = f"{whole.scheme}://{whole.netloc.rpartition('@')[2]}"
    except ValueError:
        return "names an endpoint that is no address"
    if is_same:
        return ""
    return f"names an endpoint on another origin ({there[:_LONGEST]})"
