"""How many sessions one caller may have at once, so that there is room for others."""

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

PLACE = "pegboard.mcp.place"
"""Where the endpoint leaves the place of a session that begins in the state of an ASGI scope."""


class SessionSlot:
    """The place of one session, from its first request to its end.

    Attributes:
        is_begun: Whether the session has begun, so that it is its end that gives the place back.
        session: The session's id, once it has been told.
    """

    def __init__(self, holder: str, leave: Callable[["SessionSlot"], None]) -> None:
        self.holder = holder
        self.is_begun = False
        self.session = ""
        self._leave: Callable[[SessionSlot], None] | None = leave

    @property
    def is_held(self) -> bool:
        """Whether it has not been given back."""
        return self._leave is not None

    def leave(self) -> None:
        """Give it back; safe to call twice."""
        leave, self._leave = self._leave, None
        if leave is not None:
            leave(self)


class SessionQuota:
    """Counts sessions by who has them.

    Args:
        each: How many one caller may have.
    """

    def __init__(self, each: int) -> None:
        self._each = each
        self._taken: Counter[str] = Counter()
        self._by_session: dict[str, SessionSlot] = {}

    def __len__(self) -> int:
        return self._taken.total()

    def place(self, holder: str) -> SessionSlot | None:
        """A place for a session that begins; None where the caller has all of theirs."""
        if self._taken[holder] >= self._each:
            return None
        self._taken[holder] += 1
        return SessionSlot(holder, self._left)

    def telling(self, place: SessionSlot, send: Send) -> Send:
        """The way back to a client on which the session is told its id."""

        async def pass_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                place.session = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER, "")
                if place.is_held and place.session:
                    self._by_session[place.session] = place
            await send(message)

        return pass_on

    def ending(self, session: str, send: Send) -> Send:
        """The way back to a client who ends a session: its place is free before they know."""

        async def pass_on(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 300:
                place = self._by_session.get(session)
                if place is not None:
                    place.leave()
            await send(message)

        return pass_on

    def _left(self, place: SessionSlot) -> None:
        self._by_session.pop(place.session, None)
        self._taken[place.holder] -= 1
        if not self._taken[place.holder]:
            del self._taken[place.holder]  # whoever has none is not remembered

    def refusal(self) -> Response:
        """What a caller is told who has all of theirs."""
        return error_response(
            429,
            INVALID_REQUEST,
            f"You have {self._each} sessions open, as many as one caller may have at once: end "
            "some (DELETE with their Mcp-Session-Id), or speak 2026-07-28, which needs none",
        )

    async def __call__(self, ctx: Request, call_next: CallNext) -> HandlerResult:
        """Middleware of the SDK: a session that has begun keeps its place until it ends."""
        if ctx.method == "initialize" and ctx.request is not None:
            state: Mapping[str, Any] = ctx.request.scope["state"]
            place = state.get(PLACE)
            if isinstance(place, SessionSlot) and not place.is_begun:
                place.is_begun = True
                connection_of(ctx).exit_stack.callback(place.leave)
        return await call_next(ctx)
