"""The sessions of streamable HTTP, managed by the SDK; imports the SDK."""

import asyncio
from typing import Self

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from pegboard.core.principal import Principal
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.callers import CURRENT, SELECTION, Caller
from pegboard.servers.mcp.http.message_checks import (
    buffer_body,
    is_stateless,
    without_last_event_id,
)
from pegboard.servers.mcp.http.request_ids import RequestIdGuard
from pegboard.servers.mcp.http.session_quota import SLOT, SessionQuota
from pegboard.servers.mcp.selection import BoardSelection
from pegboard.servers.mcp.server import BoardServer
from pegboard.servers.shutdown import not_started_error

MAX_SESSIONS = 1_000
"""Sessions at once; further ones are refused until another ends."""

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
        self._quota = SessionQuota(max_per_caller)
        self._server.sdk.middleware.append(self._quota)
        self._guard = RequestIdGuard(self._manager.handle_request)
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
        if session is not None and scope["method"] == "DELETE":
            ending = self._quota.watch_end(session, send)
            await self._manager.handle_request(scope, receive, ending)
        elif is_stateless(scope) or scope["method"] != "POST":
            await self._manager.handle_request(without_last_event_id(scope), receive, send)
        elif session is not None:
            await self._guard.handle(scope, receive, send, body=body, owner=owner, session=session)
        else:
            await self._begin(scope, receive, send, holder=f"{owner} {_address(scope)}")

    async def _begin(self, scope: Scope, receive: Receive, send: Send, *, holder: str) -> None:
        slot = self._quota.acquire(holder)
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
