"""The sessions of streamable HTTP, kept by the SDK's manager; loads the SDK."""

import asyncio
from typing import Self

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from pegboard.core.principal import Principal
from pegboard.execution.call import owner_of
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.callers import CURRENT, PART, Caller
from pegboard.servers.mcp.part import Part
from pegboard.servers.mcp.server import BoardServer
from pegboard.servers.mcp.unreadable import readable

MOST = 1_000
"""Sessions at once; one more is refused until another ends."""

IDLE = 30 * 60.0
"""Seconds without a request after which a session ends."""


class Sessions:
    """Open while its task runs; made by `open`."""

    def __init__(self, board: Pegboard, *, most: int, idle: float) -> None:
        self._server = BoardServer(board)
        self._manager = StreamableHTTPSessionManager(
            self._server.sdk,
            max_request_body_size=board.settings.max_request_bytes,
            session_idle_timeout=idle,
            max_sessions=most,
        )
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, board: Pegboard, *, most: int = MOST, idle: float = IDLE) -> Self:
        """Open, in a task of its own: the sessions outlive the request that needs them first."""
        sessions = cls(board, most=most, idle=idle)
        ready = asyncio.Event()
        sessions._task = asyncio.create_task(sessions._keep(ready))
        await ready.wait()
        return sessions

    async def handle(
        self, scope: Scope, receive: Receive, send: Send, *, principal: Principal, part: Part
    ) -> None:
        """Answer a request; a session answers none but the caller's who began it."""
        scope["state"][PART] = part
        owner = AccessToken(token="", client_id=owner_of(principal), scopes=[])
        scope["user"] = AuthenticatedUser(owner)
        before = CURRENT.set(Caller(principal=principal, part=part))
        try:
            await self._manager.handle_request(scope, receive, readable(send))
        finally:
            CURRENT.reset(before)

    def end_streams(self) -> None:
        """End the streams that only wait for changes; calls go on."""
        self._server.end_streams()

    async def close(self) -> None:
        """End all sessions and their calls."""
        await self._server.close()
        self._ending.set()
        if self._task is not None:
            await asyncio.wait((self._task,))

    async def _keep(self, ready: asyncio.Event) -> None:
        async with self._manager.run():
            ready.set()
            await self._ending.wait()
