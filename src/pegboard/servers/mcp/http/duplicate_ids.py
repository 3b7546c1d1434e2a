"""No two requests of a session at once with one id: the first would never be answered.

The SDK keeps what a session waits for by the text of the id, so that `1` and `"1"` are one.
"""

import asyncio
from typing import Any

import msgspec
from mcp_types import INVALID_REQUEST
from starlette.types import ASGIApp, Receive, Scope, Send

from pegboard.servers.mcp.http.missing_response import EnsureResponse
from pegboard.servers.mcp.http.refusals import refusal
from pegboard.servers.mcp.whole import buffer_body

_PATIENCE = 0.25
"""Seconds for an exchange to end whose answer its client may have read already."""

TWICE = (
    "A request with this id is still being answered: give each request of a session an id of its "
    "own"
)
"""What the second one is told, over every transport."""


class _Head(msgspec.Struct):
    """What is read of a message here; the SDK reads all of it."""

    id: Any = None
    method: Any = None


class RequestIdGuard:
    """ASGI application in front of another one: answers the second of two requests itself.

    Args:
        app: What is behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: dict[tuple[str, str, str], asyncio.Future[None]] = {}

    async def handle(
        self, scope: Scope, receive: Receive, send: Send, *, owner: str, session: str
    ) -> None:
        """Answer a request of a session.

        Args:
            scope: Of the request.
            receive: Where its body comes from.
            send: Where the answer goes.
            owner: Whose request it is: nobody learns what others have asked.
            session: The id of the session.
        """
        body, again = await buffer_body(receive)
        given = _id_of(body or b"")
        if given is None:
            await self._app(scope, again, send)
            return
        key = (owner, session, str(given))
        if await self._is_open(key):
            answer = refusal(400, INVALID_REQUEST, TWICE, request_id=given)
            await answer(scope, again, send)
            return
        ended = self._open[key] = asyncio.get_running_loop().create_future()
        answered = EnsureResponse(send, given)
        try:
            await self._app(scope, again, answered.send)
            await answered.end()
        finally:
            del self._open[key]
            ended.set_result(None)

    async def _is_open(self, key: tuple[str, str, str]) -> bool:
        """Whether a request with this id is being answered, and goes on to be."""
        ended = self._open.get(key)
        if ended is not None:
            await asyncio.wait((ended,), timeout=_PATIENCE)
        return key in self._open


def _id_of(body: bytes) -> str | int | None:
    """The id of a request; None for what is none."""
    try:
        head = msgspec.json.decode(body, type=_Head)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(head.method, str) or isinstance(head.id, bool):
        return None
    return head.id if isinstance(head.id, (str, int)) else None
