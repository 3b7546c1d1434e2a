"""The HTTP transport of a provider's client: the board's guarded client."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from http import HTTPStatus

import httpx2

from pegboard.core.ports.http import HttpClient, HttpRequest, HttpStream
from pegboard.errors import InvalidRequest, PegboardError, Unavailable

_LEFT_OUT = frozenset({"host", "connection", "content-length", "accept-encoding"})
_HEAD_SECONDS = 300.0
"""Seconds until an answer begins: a model may think before its first word."""
_EVENTS = "text/event-stream"
_END = re.compile(
    rb'[\r\n]data: ?\[DONE\]|[\r\n]event: ?message_stop|"(?:finish|stop)_reason"\s*:\s*"[^"]'
)
"""What shows that a stream of OpenAI's API, or of Anthropic's, is complete.

Some servers send no reason, and some no last line. In the text of an answer quotes and line breaks
are escaped, so that it cannot hold any of this.
"""
_END_BYTES = 64
"""No sign of the end is longer."""


class ProviderTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of a provider's client through the guarded client; answers are streamed.

    Args:
        http: The guarded client.
        upstream: The name of its own connection pool.
    """

    def __init__(self, http: HttpClient, *, upstream: str) -> None:
        self._http = http
        self._upstream = upstream

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request.

        Raises:
            ConnectError: The server cannot be reached.
            UnsupportedProtocol: The address is refused.
        """
        stack = AsyncExitStack()
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _LEFT_OUT}
        wanted = HttpRequest(
            method=request.method,
            url=str(request.url),
            headers=headers,
            content=await request.aread() or None,
            timeout=_HEAD_SECONDS,
            follow_redirects=False,
            upstream=self._upstream,
        )
        try:
            stream = await stack.enter_async_context(self._http.stream(wanted))
        except InvalidRequest as error:
            await stack.aclose()
            raise httpx2.UnsupportedProtocol(str(error), request=request) from error
        except PegboardError as error:
            await stack.aclose()
            raise httpx2.ConnectError(str(error), request=request) from error
        except BaseException:
            await stack.aclose()
            raise
        kept = {k: v for k, v in stream.headers.items() if k != "content-encoding"}
        return httpx2.Response(
            stream.status, headers=kept, stream=_Body(_read(stream), stack, request)
        )


def _read(stream: HttpStream) -> AsyncIterator[bytes]:
    """The body of an answer."""
    kind = next((v for k, v in stream.headers.items() if k.lower() == "content-type"), "")
    is_answer = stream.status == HTTPStatus.OK and kind.startswith(_EVENTS)
    return _read_events(stream.chunks) if is_answer else stream.chunks


async def _read_events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """A stream of events to its end.

    Raises:
        Unavailable: It has none: a proxy or the server has cut it, and closed it in good order.
    """
    is_complete, last = False, b"\n"
    async for chunk in chunks:
        if not is_complete:
            last = last[-_END_BYTES:] + chunk
            is_complete = _END.search(last) is not None
        yield chunk
    if not is_complete:
        raise Unavailable("The stream of the answer was closed before its end.")


class _Body(httpx2.AsyncByteStream):
    """A streamed body; a connection that breaks is the client's own kind of error."""

    def __init__(
        self, chunks: AsyncIterator[bytes], stack: AsyncExitStack, request: httpx2.Request
    ) -> None:
        self._chunks = chunks
        self._stack = stack
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._chunks:
                yield chunk
        except Unavailable as error:
            raise httpx2.ReadError(str(error), request=self._request) from error

    async def aclose(self) -> None:
        """Close the connection, or give it back."""
        await self._stack.aclose()
