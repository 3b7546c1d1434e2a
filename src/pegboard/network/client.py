"""The guarded HTTP client: address checks, pinning, size and time limits, error translation."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any

from pegboard.core.ports.http import HttpRequest, HttpResponse, HttpStream
from pegboard.errors import InvalidRequest, Unavailable
from pegboard.network.pools import ConnectionPools, tls_context
from pegboard.network.redirects import Hop, first_hop, is_redirect
from pegboard.network.resolver import Resolver, system_resolver
from pegboard.network.response_body import can_decode, decode, read_body
from pegboard.network.ssrf_policy import SsrfPolicy

if TYPE_CHECKING:
    import httpcore2

_MAX_REDIRECTS = 10
_REDIRECT_BODY_BYTES = 64 * 1024
_CONNECT_SECONDS = 10.0


class GuardedClient:
    """Sends HTTP requests to the addresses that the policy allows.

    Proxy settings of the environment are ignored, cookies are not stored, and each hop of a
    redirect is checked. It can be used from several event loops; each has its own connections.

    ```python
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("localhost:8080",)))
    response = await client.send(HttpRequest(method="GET", url="http://localhost:8080/"))
    await client.close()
    ```
    """

    def __init__(
        self,
        *,
        policy: SsrfPolicy | None = None,
        resolver: Resolver = system_resolver,
        timeout: float = 30.0,
        max_bytes: int = 10_000_000,
        tls: Callable[[], ssl.SSLContext] = tls_context,
    ) -> None:
        self._policy = policy or SsrfPolicy()
        self._resolver = resolver
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._pools = ConnectionPools(self._backend, tls)

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and read the response, following and checking redirects.

        Raises:
            InvalidRequest: The request is malformed, or the policy refuses its address.
            Unavailable: The server cannot be reached, closes the connection, or does not respond in
                time; `nothing_done` is set when no byte of the request was sent.
        """
        hop = first_hop(request)
        timeout = self._timeout if request.timeout is None else request.timeout
        exchange = _Exchange(self._pools, request, self._max_bytes)
        try:
            async with asyncio.timeout(timeout):
                return await exchange.follow(hop)
        except TimeoutError as error:
            raise Unavailable(
                f"{hop.target.origin} did not answer within {timeout:g} s.",
                nothing_done=not exchange.has_left,
            ) from error

    @asynccontextmanager
    async def stream(self, request: HttpRequest) -> AsyncGenerator[HttpStream]:
        """Send a request and stream the response; the timeout covers the head only.

        Raises:
            InvalidRequest: As `send`.
            Unavailable: As `send`; reading `chunks` raises it too.
        """
        hop = first_hop(request)
        timeout = self._timeout if request.timeout is None else request.timeout
        exchange = _Exchange(self._pools, request, self._max_bytes)
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(timeout):
                    stream = await exchange.head(hop, stack)
            except TimeoutError as error:
                raise Unavailable(
                    f"{hop.target.origin} did not answer within {timeout:g} s.",
                    nothing_done=not exchange.has_left,
                ) from error
            yield stream

    async def close(self) -> None:
        """Close all connections; a later `send` opens new ones."""
        await self._pools.close()

    def _backend(self) -> "httpcore2.AsyncNetworkBackend":
        from pegboard.network.pinned_backend import PinnedBackend

        return PinnedBackend(self._policy, self._resolver)


class _Exchange:
    """One `send` with its hops; `has_left` is set once a request was on the wire."""

    def __init__(self, pools: ConnectionPools, request: HttpRequest, max_bytes: int) -> None:
        self._pools = pools
        self._upstream = request.upstream
        self._redirected = request.follow_redirects
        self._max_bytes = max_bytes if request.max_bytes is None else request.max_bytes
        self.has_left = False

    async def follow(self, hop: Hop) -> HttpResponse:
        for _ in range(_MAX_REDIRECTS + 1):
            response = await self._send_hop(hop)
            if not (self._redirected and is_redirect(response.status, response.headers)):
                return response
            hop = hop.after_redirect(response.status, response.headers["location"])
        raise InvalidRequest(f"{hop.target.origin} redirects more than {_MAX_REDIRECTS} times.")

    async def head(self, hop: Hop, stack: AsyncExitStack) -> HttpStream:
        """Return the response after all redirects; `stack` closes it."""
        for _ in range(_MAX_REDIRECTS + 1):
            async with AsyncExitStack() as own:
                answer = await own.enter_async_context(self._open_response(hop))
                headers = _join_headers(answer.headers)
                if not (self._redirected and is_redirect(answer.status, headers)):
                    stack.push_async_exit(own.pop_all())
                    return HttpStream(
                        status=answer.status,
                        url=str(hop.target),
                        headers=headers,
                        chunks=self._chunks(hop, answer, headers),
                    )
                hop = hop.after_redirect(answer.status, headers["location"])
        raise InvalidRequest(f"{hop.target.origin} redirects more than {_MAX_REDIRECTS} times.")

    async def _chunks(
        self, hop: Hop, answer: "httpcore2.Response", headers: dict[str, str]
    ) -> AsyncIterator[bytes]:
        encoding = headers.get("content-encoding", "").strip().lower()
        with self._translate_errors(hop):
            try:
                async for piece in decode(answer.aiter_stream(), encoding):
                    yield piece
            except ValueError as error:
                raise Unavailable(f"{hop.target.origin} sent a damaged body: {error}.") from error

    async def _send_hop(self, hop: Hop) -> HttpResponse:
        async with self._open_response(hop) as answer:
            headers = _join_headers(answer.headers)
            onward = self._redirected and is_redirect(answer.status, headers)
            encoding = headers.get("content-encoding", "").strip().lower()
            try:
                body = await read_body(
                    answer.aiter_stream(),
                    encoding,
                    max_bytes=_REDIRECT_BODY_BYTES if onward else self._max_bytes,
                )
            except ValueError as error:
                raise Unavailable(f"{hop.target.origin} sent a damaged body: {error}.") from error
        if can_decode(encoding):
            headers.pop("content-encoding")
            headers.pop("content-length", None)
        return HttpResponse(
            status=answer.status,
            url=str(hop.target),
            headers=headers,
            content=body.content,
            truncated=body.truncated,
        )

    @asynccontextmanager
    async def _open_response(self, hop: Hop) -> "AsyncGenerator[httpcore2.Response]":
        """Open a response whose body is still unread, and close it at the end."""
        import httpcore2

        pool = await self._pools.get(self._upstream, hop.target.scheme)
        outgoing = httpcore2.Request(
            method=hop.method,
            url=httpcore2.URL(
                scheme=hop.target.scheme,
                host=hop.target.host,
                port=hop.target.port,
                target=hop.target.path,
            ),
            headers=hop.wire_headers(),
            content=hop.content,
            extensions={"timeout": {"connect": _CONNECT_SECONDS}, "trace": self._trace},
        )
        with self._translate_errors(hop):
            answer = await pool.handle_async_request(outgoing)
            try:
                yield answer
            finally:
                await answer.aclose()

    @contextmanager
    def _translate_errors(self, hop: Hop) -> Generator[None]:
        """Translate the errors of the HTTP library; the only place that does so."""
        import httpcore2

        try:
            yield
        except httpcore2.LocalProtocolError as error:
            raise InvalidRequest(f"The request to {hop.target.origin} is malformed.") from error
        except (
            httpcore2.NetworkError,
            httpcore2.RemoteProtocolError,
            httpcore2.TimeoutException,
        ) as error:
            raise Unavailable(
                f"Cannot reach {hop.target.origin}: {_reason(error)}.",
                nothing_done=not self.has_left,
            ) from error

    async def _trace(self, name: str, _info: dict[str, Any]) -> None:
        self.has_left = self.has_left or name.endswith("send_request_headers.started")


def _join_headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name_bytes, value_bytes in raw:
        name, value = name_bytes.decode("ascii").lower(), _text(value_bytes)
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _reason(error: Exception) -> str:
    import httpcore2

    # The pool cuts the chain of causes; the library's errors carry the original as argument.
    cause = error.args[0] if error.args else None
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not valid ({cause.verify_message.rstrip('.')})"
    if isinstance(cause, ssl.SSLError):
        return "no secure connection could be made"
    match error:
        case httpcore2.ConnectTimeout():
            return "it does not take the connection in time"
        case httpcore2.ConnectError():
            return cause if isinstance(cause, str) else "it refuses the connection"
        case httpcore2.RemoteProtocolError():
            return "it does not speak HTTP, or broke off before the end"
        case _:
            return "the connection broke"
