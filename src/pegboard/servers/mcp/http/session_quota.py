"""Limits the sessions of one caller, so that others can have sessions too."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from mcp.server.context import CallNext, HandlerResult
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp_types import INVALID_REQUEST
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Message, Send

from pegboard.servers.mcp.callers import connection_of
from pegboard.servers.mcp.http.message_checks import error_response
from pegboard.servers.mcp.progress import Request

SLOT = "pegboard.mcp.slot"
"""Key of the slot of a starting session in the state of an ASGI scope."""


class SessionSlot:
    """The slot of one session, from its first request to its end.

    Attributes:
        is_begun: Whether the session has started, so that its end releases the slot.
        session: The session's id, once it has been sent to the client.
    """

    def __init__(self, holder: str, on_release: Callable[["SessionSlot"], None]) -> None:
        self.holder = holder
        self.is_begun = False
        self.session = ""
        self._on_release: Callable[[SessionSlot], None] | None = on_release

    @property
    def is_held(self) -> bool:
        """Whether the slot has not been released."""
        return self._on_release is not None

    def release(self) -> None:
        """Release the slot; safe to call twice."""
        on_release, self._on_release = self._on_release, None
        if on_release is not None:
            on_release(self)


class SessionQuota:
    """Counts the sessions of each caller.

    Args:
        max_sessions: Sessions that one caller may have.
    """

    def __init__(self, max_sessions: int) -> None:
        self._max_sessions = max_sessions
        self._taken: Counter[str] = Counter()
        self._by_session: dict[str, SessionSlot] = {}

    def __len__(self) -> int:
        return self._taken.total()

    def acquire(self, holder: str) -> SessionSlot | None:
        """A slot for a new session; None if the caller's slots are all taken."""
        if self._taken[holder] >= self._max_sessions:
            return None
        self._taken[holder] += 1
        return SessionSlot(holder, self._remove)

    def watch_start(self, slot: SessionSlot, send: Send) -> Send:
        """Wrap `send` to learn the id of the session that a request starts."""

        async def pass_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                slot.session = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER, "")
                if slot.is_held and slot.session:
                    self._by_session[slot.session] = slot
            await send(message)

        return pass_on

    def watch_end(self, session: str, send: Send) -> Send:
        """Wrap `send` to release the slot of a session before its client knows that it ended."""

        async def pass_on(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 300:
                slot = self._by_session.get(session)
                if slot is not None:
                    slot.release()
            await send(message)

        return pass_on

    def _remove(self, slot: SessionSlot) -> None:
        self._by_session.pop(slot.session, None)
        self._taken[slot.holder] -= 1
        if not self._taken[slot.holder]:
            del self._taken[slot.holder]  # callers without sessions are forgotten

    def refusal(self) -> Response:
        """The response to a caller whose sessions are used up."""
        return error_response(
            429,
            INVALID_REQUEST,
            f"{self._max_sessions} sessions are open, the maximum for one caller: end some (DELETE "
            "with their Mcp-Session-Id), or use protocol version 2026-07-28, which needs none",
        )

    async def __call__(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Middleware of the SDK: a session that has started keeps its slot until it ends."""
        if ctx.method == "initialize" and ctx.request is not None:
            state: Mapping[str, Any] = ctx.request.scope["state"]
            slot = state.get(SLOT)
            if isinstance(slot, SessionSlot) and not slot.is_begun:
                slot.is_begun = True
                connection_of(ctx).exit_stack.callback(slot.release)
        return await call_next(ctx)
