"""One connection to one server, for one caller.

The MCP library's contexts must be entered and left in one task: a task of the session's own opens
it, waits, and closes it. Requests are made from any task of the same event loop.
"""

import asyncio
import contextlib
import contextvars
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import mcp_types as types
from mcp import MCPError
from mcp.client import Client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from pegboard.core.elicitation import LogLevel
from pegboard.errors import MCPConnectionError, PegboardError
from pegboard.sources.mcp.client import connection_error
from pegboard.sources.mcp.request_context import CURRENT, RequestContext
from pegboard.sources.mcp.session.notifications import ServerNotifications
from pegboard.sources.mcp.session.server_requests import ServerRequests
from pegboard.sources.mcp.transport.checked_streams import check_streams
from pegboard.sources.mcp.transport.transports import Link, ServerStatus

T = TypeVar("T")

_LOG = logging.getLogger("pegboard.mcp")
_CLOSING_SECONDS = 8.0
_LEVEL_SECONDS = 3.0
_ABOUT_US = types.Implementation(name="pegboard", version="0.1.0")
_MODES = {"auto": "auto", "legacy": "legacy", "modern": "2026-07-28"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTools:
    """What the board knows of a server, for sessions that begin later.

    Attributes:
        tools: Its tools, without their output schemas: the board checks results, and the MCP
            library would list the tools again to check a second time.
    """

    tools: types.ListToolsResult | None = None


class Session:
    """A connection that opens once and ends once.

    Args:
        link: How to reach the server.
        key: Its caller.
        following: Handles the server's notifications; None for callers' sessions.
        known: What is known of the server already.
        on_end: Called once when it has ended.

    Attributes:
        users: How many wait for it or for one of its answers; the pool counts them.
        needs_ping: Whether a request was given up without an answer, and none was answered since.
        pinging: The task that finds out whether it still answers.
    """

    def __init__(
        self,
        link: Link,
        *,
        key: str,
        following: ServerNotifications | None,
        known: Callable[[], SharedTools],
        on_end: Callable[["Session"], None],
    ) -> None:
        self.key = key
        self.users = 0
        self.in_flight: set[RequestContext] = set()
        self.why_lost = ""
        self.needs_ping = False
        self.pinging: asyncio.Task[None] | None = None
        self._link = link
        self._following = following
        self._known = known
        self._on_end = on_end
        self._wire = ServerStatus(link.name)
        self._stop = asyncio.Event()
        self._ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        # a fresh context: what the first caller had in its own is not for those who come later
        self._owner = asyncio.create_task(
            self._run_connection(), name=f"mcp {link.name} {key}", context=contextvars.Context()
        )

    @property
    def is_lost(self) -> bool:
        """Whether it takes no more requests."""
        return self._stop.is_set() or self._owner.done()

    async def ready(self) -> Client:
        """Wait for the open connection; a waiter that is cancelled does not end it.

        Raises:
            MCPConnectionError: It could not be opened.
        """
        return await asyncio.shield(self._ready)

    async def run(
        self,
        context: RequestContext,
        send: Callable[[Client], Awaitable[T]],
        *,
        counts: bool = True,
    ) -> T:
        """Make one request.

        Args:
            context: The context of the request.
            send: Sends it.
            counts: Whether it counts as in flight; a ping does not.
        """
        client = await self.ready()
        token = CURRENT.set(context)
        if counts:
            self.in_flight.add(context)
        try:
            found = await send(client)
            self.needs_ping = False
            return found
        except (asyncio.CancelledError, TimeoutError):
            self.needs_ping = True
            raise
        finally:
            self.in_flight.discard(context)
            CURRENT.reset(token)

    def lose(self, reason: str = "") -> None:
        """End it soon; requests in flight fail at once."""
        self.why_lost = self.why_lost or reason
        self._stop.set()

    async def close(self) -> None:
        """End it and wait until it has ended."""
        self.lose("it was closed")
        if not self._ready.done():
            self._owner.cancel()
        done, _ = await asyncio.wait([self._owner], timeout=_CLOSING_SECONDS)
        if not done:
            self._owner.cancel()
            await asyncio.wait([self._owner])

    async def wait_for_end(self) -> None:
        """Wait a moment for the reason of its end."""
        if self.is_lost:
            await asyncio.wait([self._owner], timeout=1.0)

    async def _run_connection(self) -> None:
        context = RequestContext(None, timeout=self._link.connect_timeout, opening=True)
        CURRENT.set(context)
        try:
            await self._try_transports(context)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - foreign code: recorded as why the session was lost
            await self._record_failure(context, error)
        finally:
            self._stop.set()
            self.why_lost = self._wire.reason() or self.why_lost
            if not self._ready.done():
                self._ready.set_exception(MCPConnectionError(f"{self._link.name} was closed."))
            self._ready.exception()  # retrieved, so that asyncio does not warn
            self._on_end(self)

    async def _try_transports(self, context: RequestContext) -> None:
        transports = self._link.transports(
            self._wire, self._on_fault, self._on_server_end, on_flood=self._on_flood
        )
        for number, transport in enumerate(transports):
            try:
                async with asyncio.timeout(self._link.connect_timeout) as limit:
                    context.limit = limit
                    async with self._connect(transport) as client:
                        limit.reschedule(None)
                        await self._use(client, context)
                return
            except Exception:
                last = number == len(transports) - 1
                if last or not self._link.may_be_sse(context.fault) or self._ready.done():
                    raise
                context.fault = None

    async def _use(self, client: Client, context: RequestContext) -> None:
        context.is_opening, context.fault, context.limit = False, None, None
        known = self._known().tools
        if known is not None:
            # so that a call needs no list before it: there is no public way to hand over a list
            client.session._absorb_tool_listing(known, complete=True)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - see above
        await self._set_level(client)
        self._ready.set_result(client)
        async with contextlib.AsyncExitStack() as stack:
            if self._following is not None:
                await stack.enter_async_context(self._following.follow(client))
            await self._stop.wait()

    async def _set_level(self, client: Client) -> None:
        """Set the log level once; later eras of the protocol send it with each request."""
        if client.server_capabilities.logging is None or not _is_handshake(client):
            return
        params = types.SetLevelRequestParams(level=self._link.log_level)
        # it may refuse, or never answer: then it logs as it likes
        with contextlib.suppress(MCPError, TimeoutError):
            async with asyncio.timeout(_LEVEL_SECONDS):
                await client.session.send_request(
                    types.SetLevelRequest(params=params), types.EmptyResult
                )

    @asynccontextmanager
    async def _connect(self, transport: AbstractAsyncContextManager[Any]) -> AsyncGenerator[Client]:
        link = self._link
        questions = ServerRequests(link.name, self._current_context, link.roots)
        client = Client(
            check_streams(transport, name=link.title),
            client_info=_ABOUT_US,
            mode=_MODES[link.protocol],
            cache=None,
            elicitation_callback=questions.elicit if link.may_ask else None,
            sampling_callback=questions.sample if link.may_ask else None,
            list_roots_callback=questions.list_roots if link.roots else None,
            logging_callback=self._on_log_line,
            log_level=link.log_level,
            message_handler=self._on_message,
        )
        async with client:
            if link.protocol == "modern":
                await _discover(client)
            yield client

    def _current_context(self) -> RequestContext | None:
        """The request that a message of the server belongs to.

        A server that does not say so means the one call in flight; what the board itself requests
        meanwhile, such as a list, has nobody to be asked.
        """
        current = CURRENT.get()
        if current in self.in_flight:
            return current
        calls = [context for context in self.in_flight if context.ctx is not None]
        candidates = calls or list(self.in_flight)
        return candidates[0] if len(candidates) == 1 else None

    async def _on_log_line(self, params: types.LoggingMessageNotificationParams) -> None:
        context = self._current_context()
        level: LogLevel = params.level
        if context is None or context.ctx is None:
            _LOG.debug("%s says: %s", self._link.name, params.data)
        else:
            await context.log(params.data, level, params.logger or "")

    async def _on_message(self, message: types.ServerNotification | Exception) -> None:
        if self._following is not None and not isinstance(message, Exception):
            self._following.receive(message)

    def _on_fault(self, error: PegboardError) -> None:
        if self._link.is_one_stream and self._ready.done():
            self.lose(error.message)  # on SSE nothing else ends the requests that wait

    def _on_flood(self, error: PegboardError) -> None:
        """End the session; one that is still being opened ends by the fault in its context."""
        if self._ready.done():
            self.lose(error.message)

    def _on_server_end(self) -> None:
        """The server closed its output, or broke a limit."""
        self.lose(self._wire.offence())

    async def _record_failure(self, context: RequestContext, error: BaseException) -> None:
        if self._ready.done():
            if not isinstance(error, asyncio.CancelledError):
                _LOG.info("%s: the session ended unexpectedly", self._link.name, exc_info=error)
            return
        _LOG.info("%s: the session could not be opened", self._link.name, exc_info=error)
        found = connection_error(self._link, context.fault, self._wire, error)
        self._ready.set_exception(found)


async def _discover(client: Client) -> None:
    """Ask a server what it has: for a fixed version the library assumes that it has nothing."""
    session = client.session
    found = await session.send_discover(_MODES["modern"])
    session.adopt(types.DiscoverResult.model_validate(found))


def _is_handshake(client: Client) -> bool:
    return client.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS
