"""Sends the HTTP requests of the MCP library through the board's guarded client."""

import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, cast

import httpx2

from pegboard.core.ports.http import HttpClient, HttpRequest, HttpStream
from pegboard.errors import MCPConnectionError, PegboardError, ToolFailed
from pegboard.sources.mcp.request_context import CURRENT, RequestContext
from pegboard.sources.mcp.transport.http_failures import Endpoint, status_error
from pegboard.sources.mcp.transport.malformed_messages import PartialAnswer, read_answer
from pegboard.sources.mcp.transport.message_rate import MessageRate
from pegboard.sources.mcp.transport.response_body import StreamedBody
from pegboard.tools.call_headers import CallHeaders

_LEFT_OUT = frozenset({"host", "connection", "content-length", "accept-encoding"})
_MAX_ERROR_BYTES = 64 * 1024
_DELETE_SECONDS = 3.0
_MAX_SECONDS = 3600.0
_REFUSALS = frozenset({401, 403})
_SLACK_SECONDS = 1.0
_NONE = CallHeaders({})


class GuardedTransport(httpx2.AsyncBaseTransport):
    """The HTTP transport of one session.

    A failure becomes the answer to that one request: an exception would end the session with all
    its requests. The error is kept in the request's context.

    Args:
        http: The guarded client.
        endpoint: The server, for messages.
        upstream: The name of its own connection pool.
        timeout: Seconds for the head of an answer, for requests that belong to no call.
        on_fault: Called with each error.
        on_flood: Called when the server sends too many messages.
        headers: Headers that are sent with requests of a call only.
        rate: How many messages the server may send.
    """

    def __init__(
        self,
        http: HttpClient,
        *,
        endpoint: Endpoint,
        upstream: str,
        timeout: float,
        on_fault: Callable[[PegboardError], None],
        on_flood: Callable[[PegboardError], None],
        rate: MessageRate,
        headers: CallHeaders = _NONE,
    ) -> None:
        self._http = http
        self._headers = headers
        self._endpoint = endpoint
        self._upstream = upstream
        self._timeout = timeout
        self._on_fault = on_fault
        self._on_flood = on_flood
        self._rate = rate

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request; the answer is streamed."""
        context = CURRENT.get()
        logs_in = self._endpoint.logs_in
        if logs_in and not _is_same_url(str(request.url), self._endpoint.url):
            return await self._send_plain(request)
        if not logs_in and (fault := _opening_fault(context)) is not None:
            return self.respond(request, fault)
        stack = AsyncExitStack()
        try:
            stream = await stack.enter_async_context(
                self._http.stream(
                    HttpRequest(
                        method=request.method,
                        url=str(request.url),
                        headers=_request_headers(request) | self._call_headers(context),
                        content=await request.aread() or None,
                        timeout=self._timeout_of(request, context),
                        follow_redirects=False,
                        upstream=self._upstream,
                    )
                )
            )
            fault, body = await self._check_response(request, stream)
            if fault is None and body is None and _is_json(stream):
                body = await self._body(request, stream, stack, context).read()
                fault = self._body_error(request, body)
        except MCPConnectionError as fault:
            await stack.aclose()
            return self.respond(request, fault)
        except PegboardError as error:
            await stack.aclose()
            fault = (
                error if isinstance(error, ToolFailed) else self._endpoint.unreachable_error(error)
            )
            return self.respond(request, fault)
        except BaseException:
            await stack.aclose()
            raise
        if fault is not None or body is not None:
            await stack.aclose()
        if fault is not None:
            return self._respond_to(request, stream, fault)
        if logs_in and context is not None:
            context.fault = None  # a refusal before the login
        content = (
            {"content": body}
            if body is not None
            else {"stream": self._body(request, stream, stack, context)}
        )
        return httpx2.Response(
            stream.status, headers=_response_headers(stream.headers), **cast("Any", content)
        )

    async def _send_plain(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request of the login to whatever server it is for.

        Raises:
            MCPConnectionError: That server cannot be reached.
        """
        try:
            async with self._http.stream(
                HttpRequest(
                    method=request.method,
                    url=str(request.url),
                    headers=_request_headers(request),
                    content=await request.aread() or None,
                    timeout=self._timeout,
                    follow_redirects=False,
                    upstream=f"{self._upstream} login",
                )
            ) as stream:
                body = await _read_start(stream)
                headers = _response_headers(stream.headers)
                return httpx2.Response(stream.status, headers=headers, content=body)
        except PegboardError as error:
            raise MCPConnectionError(
                f"{self._endpoint.name}: the OAuth login failed: {error.message}", nothing_done=True
            ) from error

    def _call_headers(self, context: RequestContext | None) -> dict[str, str]:
        return {} if context is None else self._headers.varying(context.ctx)

    def _timeout_of(self, request: httpx2.Request, context: RequestContext | None) -> float:
        if request.method == "DELETE":
            return _DELETE_SECONDS
        if request.method == "GET" or context is None:
            return self._timeout
        remaining = context.remaining()
        return _MAX_SECONDS if remaining is None else remaining + _SLACK_SECONDS

    async def _check_response(
        self, request: httpx2.Request, stream: HttpStream
    ) -> tuple[PegboardError | None, bytes | None]:
        """The error of an answer, and its body if it had to be read for that."""
        media_type = stream.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = b""
        if stream.status >= 400:
            body = await _read_start(stream)
        fault = status_error(
            self._endpoint,
            request.method,
            stream.status,
            media_type,
            headers=stream.headers,
            is_jsonrpc=_is_jsonrpc_error(media_type, body),
            in_session="mcp-session-id" in request.headers,
        )
        return fault, body if stream.status >= 400 else None

    def _body_error(self, request: httpx2.Request, body: bytes) -> PegboardError | None:
        """Why a body is not the answer to the request; the library would let the caller wait."""
        number = _request_id(request)
        if number is None:
            return None
        found = read_answer(body)
        if not found.problem and found.id is not None and str(found.id) != str(number):
            found = PartialAnswer(problem=f"it answers {found.id!r}, and {number!r} was asked")
        if not found.problem:
            return None
        return ToolFailed(
            f"{self._endpoint.name} answered with an invalid JSON-RPC message: {found.problem}."
        )

    def _body(
        self,
        request: httpx2.Request,
        stream: HttpStream,
        stack: AsyncExitStack,
        context: RequestContext | None,
    ) -> StreamedBody:
        return StreamedBody(
            stream,
            stack,
            context,
            endpoint=self._endpoint,
            rate=self._rate,
            is_answer=request.method == "POST",
            on_fault=self._on_fault,
            on_flood=self._on_flood,
        )

    def _respond_to(
        self, request: httpx2.Request, stream: HttpStream, fault: PegboardError
    ) -> httpx2.Response:
        found = self.respond(request, fault)
        if not (self._endpoint.logs_in and stream.status in _REFUSALS):
            return found
        # the login goes on from here
        return httpx2.Response(
            stream.status, headers=_response_headers(stream.headers), content=b""
        )

    def respond(self, request: httpx2.Request, fault: PegboardError) -> httpx2.Response:
        """The answer to a request that failed; the error is kept in its context."""
        context = CURRENT.get()
        if context is not None:
            context.fault = fault
        self._on_fault(fault)
        number = _request_id(request)
        error = {"code": -32000, "message": fault.message}
        body = {"jsonrpc": "2.0", "id": number, "error": error}
        return httpx2.Response(502, json=body)


def _opening_fault(context: RequestContext | None) -> PegboardError | None:
    return context.fault if context is not None and context.is_opening else None


def _is_same_url(url: str, other: str) -> bool:
    return httpx2.URL(url).copy_with(fragment=None) == httpx2.URL(other).copy_with(fragment=None)


def _request_headers(request: httpx2.Request) -> dict[str, str]:
    headers = {key: value for key, value in request.headers.items() if key not in _LEFT_OUT}
    return headers | {"accept-encoding": "gzip, deflate"}


def _response_headers(headers: Any) -> dict[str, str]:
    return {key: value for key, value in headers.items() if key != "content-encoding"}


async def _read_start(stream: HttpStream) -> bytes:
    body = b""
    async for chunk in stream.chunks:
        body += chunk
        if len(body) > _MAX_ERROR_BYTES:
            break
    return body


def _is_jsonrpc_error(media_type: str, body: bytes) -> bool:
    if media_type != "application/json":
        return False
    try:
        found = json.loads(body)
    except ValueError:
        return False
    return isinstance(found, dict) and isinstance(cast("dict[str, Any]", found).get("error"), dict)


def _is_json(stream: HttpStream) -> bool:
    media_type = stream.headers.get("content-type", "").strip().lower()
    return stream.status == 200 and media_type.startswith("application/json")


def _request_id(request: httpx2.Request) -> Any:
    try:
        return json.loads(request.content).get("id")
    except (ValueError, AttributeError):
        return None
