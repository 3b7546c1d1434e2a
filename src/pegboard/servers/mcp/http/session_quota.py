"""Limits the sessions of one caller, and ends idle ones when a new one needs their place."""

from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from itertools import count
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
        owner: The owner of the session, who alone may end it.
        holder: The caller who is charged for it: the owner at an address.
        is_begun: Whether the session has started, so that its end releases the slot.
        session: The session's id, once it has been sent to the client.
        open_requests: Requests of the session that are being answered, its stream included.
        last_used: Grows with each use of any session.
    """

    def __init__(
        self, owner: str, address: str, on_release: Callable[["SessionSlot"], None]
    ) -> None:
        self.owner = owner
        self.holder = (owner, address)
        self.is_begun = False
        self.session = ""
        self.open_requests = 0
        self.last_used = 0
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
        max_per_caller: Sessions that one caller may have.
        max_sessions: Sessions of all callers.
    """

    def __init__(self, max_per_caller: int, *, max_sessions: int) -> None:
        self._max_per_caller = max_per_caller
        self._max_sessions = max_sessions
        self._uses = count(1)
        self._taken: Counter[tuple[str, str]] = Counter()
        self._by_session: dict[str, SessionSlot] = {}

    def __len__(self) -> int:
        return self._taken.total()

    def acquire(self, owner: str, address: str) -> SessionSlot | None:
        """A slot for a new session; None if the caller's slots are all taken."""
        if self._taken[owner, address] >= self._max_per_caller:
            return None
        self._taken[owner, address] += 1
        return SessionSlot(owner, address, self._remove)

    def find_replaceable(self, owner: str, address: str) -> SessionSlot | None:
        """The idle session to end before this caller starts another; None if there is room.

        It is the caller's longest idle one where the caller has too many; else, where all have too
        many, the longest idle one of the caller with the most. A session with an open request or
        stream is never ended.
        """
        holder = (owner, address)
        is_at_limit = self._taken[holder] >= self._max_per_caller
        if not is_at_limit and len(self) < self._max_sessions:
            return None
        idle = (
            slot
            for slot in self._by_session.values()
            if not slot.open_requests and (slot.holder == holder or not is_at_limit)
        )
        return max(idle, key=lambda slot: (self._taken[slot.holder], -slot.last_used), default=None)

    @contextmanager
    def use(self, session: str) -> Generator[None]:
        """Count a request of a session while it is answered."""
        slot = self._by_session.get(session)
        if slot is None:
            yield
            return
        slot.open_requests += 1
        try:
            yield
        finally:
            slot.open_requests -= 1
            slot.last_used = next(self._uses)

    def watch_start(self, slot: SessionSlot, send: Send) -> Send:
        """Wrap `send` to learn the id of the session that a request starts."""

        async def pass_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                slot.session = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER, "")
                if slot.is_held and slot.session:
                    self._by_session[slot.session] = slot
                    slot.last_used = next(self._uses)
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
            f"{self._max_per_caller} sessions are in use, the maximum for one caller: end some "
            "(DELETE with their Mcp-Session-Id), or use protocol version 2026-07-28, which "
            "needs none",
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
