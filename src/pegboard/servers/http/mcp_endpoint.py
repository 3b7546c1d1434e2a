"""`/mcp` of the HTTP server; imports the SDK with the first request."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from pegboard.core.principal import Principal
from pegboard.errors import ConfigError, InvalidRequest, Unavailable
from pegboard.runtime import Pegboard
from pegboard.servers.extras import require_mcp_extra
from pegboard.servers.http.problem_details import error_response, problem_response
from pegboard.servers.mcp.selection import BoardSelection, check_selection, unknown_source
from pegboard.servers.shutdown import not_started_error

if TYPE_CHECKING:
    from pegboard.servers.mcp.http.sessions import HttpSessions

GRACE = 8.0
"""Seconds that running requests have at shutdown, less than the HTTP server's `GRACE`."""


class McpEndpoint:
    """ASGI application for MCP over streamable HTTP, with and without sessions.

    Args:
        board: Open by the time of the first request.
    """

    def __init__(self, board: Pegboard) -> None:
        self._board = board
        self._opening = asyncio.Lock()
        self._sessions: HttpSessions | None = None
        self._running: set[asyncio.Task[object]] = set()
        self._closed = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer an authenticated request."""
        principal: Principal = scope["state"]["principal"]
        selection = self._selection(Request(scope), principal)
        if not isinstance(selection, BoardSelection):
            await selection(scope, receive, send)
            return
        sessions = await self._open_sessions()
        if sessions is None:
            await error_response(not_started_error())(scope, receive, send)
            return
        task = asyncio.current_task()
        is_call = task is not None and scope["method"] == "POST"
        if is_call and task is not None:
            self._running.add(task)
        try:
            await sessions.handle(scope, receive, send, principal=principal, selection=selection)
        except Unavailable as error:
            await error_response(error)(scope, receive, send)
        finally:
            if task is not None:
                self._running.discard(task)

    async def close(self, *, grace: float = GRACE) -> None:
        """Wait for running requests, then end all sessions; safe to call twice."""
        self._closed = True
        async with self._opening:
            sessions, self._sessions = self._sessions, None
        if sessions is None:
            return
        sessions.end_streams()
        if self._running:
            await asyncio.wait(set(self._running), timeout=grace)
        await sessions.close()

    def _selection(self, request: Request, principal: Principal) -> BoardSelection | ASGIApp:
        """The selection of an address, or the response that refuses it."""
        own = str(request.path_params.get("source", ""))
        connectors = self._board.list_connectors(principal=principal) if own else ()
        if own and all(state.name != own for state in (*self._board.sources, *connectors)):
            return problem_response(404, unknown_source(own, self._board, principal=principal))
        try:
            require_mcp_extra()
            query = request.query_params
            selection = BoardSelection.of_query(
                {name: query.getlist(name) for name in query}, own=own
            )
            check_selection(selection, self._board, principal=principal)
            return selection
        except ConfigError as error:
            return problem_response(501, error.message, code="extra_missing")
        except InvalidRequest as error:
            return error_response(error)

    async def _open_sessions(self) -> "HttpSessions | None":
        async with self._opening:
            if self._sessions is None and not self._closed:
                # importing the SDK takes a second, during which other requests would wait
                await asyncio.to_thread(_load)
                from pegboard.servers.mcp.http.sessions import HttpSessions

                self._sessions = await HttpSessions.open(self._board)
            return self._sessions


def _load() -> None:
    import_module("pegboard.servers.mcp.http.sessions")
