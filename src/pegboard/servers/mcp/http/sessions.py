"""The sessions of streamable HTTP, managed by the SDK; imports the SDK."""

import asyncio
from typing import Self

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from pegboard.core.principal import Principal
from pegboard.runtime import Pegboard
from pegboard.schemas.strict_json import has_more_values
from pegboard.servers.mcp.callers import CURRENT, SELECTION, Caller
from pegboard.servers.mcp.http.message_checks import (
    buffer_body,
    error_response,
    is_stateless,
    without_last_event_id,
)
from pegboard.servers.mcp.http.request_ids import RequestIdGuard
from pegboard.servers.mcp.http.session_quota import SLOT, SessionQuota, SessionSlot
from pegboard.servers.mcp.selection import BoardSelection
from pegboard.servers.mcp.server import BoardServer
from pegboard.servers.shutdown import not_started_error

MAX_SESSIONS = 1_000
"""Sessions at once; a further one ends the longest idle one, and is refused if all are in use."""

MAX_SESSIONS_PER_CALLER = MAX_SESSIONS // 4
"""Sessions at once of one caller, which is a token (or none) and an address."""

IDLE_TIMEOUT = 30 * 60.0
"""Seconds without a request after which a session ends."""


class HttpSessions:
    """Answers the requests of all sessions. Create it with `open`."""

    def __init__(
        self, board: Pegboard, *, max_sessions: int, max_per_caller: int, idle_timeout: float
    ) -> None:
        self._server = BoardServer(board)
        self._manager = StreamableHTTPSessionManager(
            self._server.sdk,
            max_request_body_size=board.settings.max_request_bytes,
            session_idle_timeout=idle_timeout,
            max_sessions=max_sessions,
        )
        self._quota = SessionQuota(max_per_caller, max_sessions=max_sessions)
        self._server.sdk.middleware.append(self._quota)
        self._guard = RequestIdGuard(self._manager.handle_request)
        self._max_values = board.settings.max_request_values
        self._ending = asyncio.Event()
        self._is_ending = False
        self._task: asyncio.Task[None] | None = None

    @classmethod
    async def open(
        cls,
        board: Pegboard,
        *,
        max_sessions: int = MAX_SESSIONS,
        max_per_caller: int = MAX_SESSIONS_PER_CALLER,
        idle_timeout: float = IDLE_TIMEOUT,
    ) -> Self:
        """Open in a task of its own: sessions outlive the request that needs them first."""
        sessions = cls(
            board,
            max_sessions=max_sessions,
            max_per_caller=max_per_caller,
            idle_timeout=idle_timeout,
        )
        ready = asyncio.Event()
        sessions._task = asyncio.create_task(sessions._keep(ready))
        await ready.wait()
        return sessions

    async def handle(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        principal: Principal,
        selection: BoardSelection,
    ) -> None:
        """Answer a request; a session answers only the caller who started it.

        Raises:
            Unavailable: The server is closing; the request was not started, and has no response.
        """
        body = b""
        if scope["method"] == "POST":
            try:
                body, receive = await buffer_body(receive)
            except ClientDisconnect:
                return
            if has_more_values(body, self._max_values):
                error = f"more than {self._max_values} values (PEGBOARD_MAX_REQUEST_VALUES)"
                await error_response(400, INVALID_REQUEST, error)(scope, receive, send)
                return
        if self._is_ending:
            raise not_started_error()
        scope["state"][SELECTION] = selection
        owner = principal.owner
        token = AccessToken(token="", client_id=owner, scopes=[])
        scope["user"] = AuthenticatedUser(token)
        before = CURRENT.set(Caller(principal=principal, selection=selection))
        try:
            await self._handle(scope, receive, send, body=body, owner=owner)
        finally:
            CURRENT.reset(before)

    async def _handle(
        self, scope: Scope, receive: Receive, send: Send, *, body: bytes, owner: str
    ) -> None:
        session = Headers(scope=scope).get(MCP_SESSION_ID_HEADER)
        with self._quota.use(session or ""):
            await self._route(scope, receive, send, body=body, owner=owner, session=session)

    async def _route(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        *,
        body: bytes,
        owner: str,
        session: str | None,
    ) -> None:
        if session is not None and scope["method"] == "DELETE":
            ending = self._quota.watch_end(session, send)
            await self._manager.handle_request(scope, receive, ending)
        elif is_stateless(scope) or scope["method"] != "POST":
            await self._manager.handle_request(without_last_event_id(scope), receive, send)
        elif session is not None:
            await self._guard.handle(scope, receive, send, body=body, owner=owner, session=session)
        else:
            await self._begin(scope, receive, send, owner=owner)

    async def _begin(self, scope: Scope, receive: Receive, send: Send, *, owner: str) -> None:
        address = _address(scope)
        idle = self._quota.find_replaceable(owner, address)
        if idle is not None:
            await self._end(idle)
        slot = self._quota.acquire(owner, address)
        if slot is None:
            await self._quota.refusal()(scope, receive, send)
            return
        scope["state"][SLOT] = slot
        try:
            sending = self._quota.watch_start(slot, send)
            await self._manager.handle_request(scope, receive, sending)
        finally:
            if not slot.is_begun:
                slot.release()

    async def _end(self, idle: SessionSlot) -> None:
        """End a session as its client would, with DELETE; the client gets a 404 from then on."""
        scope: Scope = {
            "type": "http",
            "method": "DELETE",
            "path": "/",
            "query_string": b"",
            "headers": [(MCP_SESSION_ID_HEADER.encode(), idle.session.encode())],
            "user": AuthenticatedUser(AccessToken(token="", client_id=idle.owner, scopes=[])),
        }

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def ignore(_message: Message) -> None: ...

        with self._quota.use(idle.session):  # so that no other request ends it too
            ending = self._quota.watch_end(idle.session, ignore)
            await self._manager.handle_request(scope, receive, ending)

    def end_streams(self) -> None:
        """End the streams that only wait for changes; calls continue."""
        self._server.end_streams()

    async def close(self) -> None:
        """End all sessions and their calls."""
        self._is_ending = True
        await self._server.close()
        self._ending.set()
        if self._task is not None:
            await asyncio.wait((self._task,))

    async def _keep(self, ready: asyncio.Event) -> None:
        async with self._manager.run():
            ready.set()
            await self._ending.wait()


def _address(scope: Scope) -> str:
    """The address of the client; empty for a Unix socket."""
    client = scope.get("client")
    return str(client[0]) if client else ""
