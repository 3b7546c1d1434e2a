"""The sessions with one server: one for each caller, never shared, closed when unused."""

import asyncio
import random
import time
from collections.abc import Callable

from pegboard.errors import CredentialMissing, MCPConnectionError, Overloaded, SourceUnavailable
from pegboard.sources.mcp.session.session import Session

OPERATOR = ""
"""The key of the session with which the board itself lists and follows."""

_MIN_WAIT = 0.5
_MAX_WAIT = 30.0


class SessionPool:
    """A bounded pool of sessions, one for each caller.

    Args:
        title: The server in messages.
        made: Opens a session for a key, and calls its second argument when the session has ended.
        most: The largest number of sessions at once.
        idle: Seconds after which an unused one is closed; 0 for never.
    """

    def __init__(
        self,
        title: str,
        made: Callable[[str, Callable[[Session], None]], Session],
        *,
        most: int,
        idle: float,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._title = title
        self._make = made
        self._most = most
        self._idle = idle
        self._jitter = jitter
        self._open: dict[str, Session] = {}
        self._alive: set[Session] = set()  # with those that are closing
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._wait = _MIN_WAIT
        self._not_before = 0.0
        self._last_fault: MCPConnectionError | None = None
        self._is_closed = False

    def __len__(self) -> int:
        return len(self._open)

    def has(self, key: str) -> bool:
        """Whether this caller has a session."""
        return key in self._open

    async def acquire(self, key: str, *, now: bool = False) -> Session:
        """Acquire the caller's session, opened if there is none; give it back with `release`.

        Args:
            key: The caller.
            now: Try even if the last attempt failed a moment ago.

        Raises:
            MCPConnectionError: It cannot be opened, or could not a moment ago.
            Overloaded: All sessions are in use.
        """
        session = self._open.get(key)
        if session is None or session.is_lost:
            session = self._open_session(key, now=now)
        self._cancel_idle_timer(key)
        session.users += 1
        try:
            await session.ready()
        except BaseException as error:
            self.release(session)
            if isinstance(error, MCPConnectionError) and not _is_of_caller(error):
                self._back_off(error)
            raise
        self._wait, self._not_before, self._last_fault = _MIN_WAIT, 0.0, None
        return session

    def release(self, session: Session) -> None:
        """Give back a session after a request; it is closed when it stays unused."""
        key = session.key
        session.users -= 1
        if self._open.get(key) is not session:
            return
        self._cancel_idle_timer(key)
        if self._idle and not session.users:
            loop = asyncio.get_running_loop()
            self._timers[key] = loop.call_later(self._idle, self.drop, session)

    def drop(self, session: Session) -> None:
        """End a session soon; the next request of its caller opens another."""
        session.lose()
        self._forget(session)

    def drop_key(self, key: str) -> None:
        """End the session of a key, unless it is in use: then it ends when it stays unused."""
        session = self._open.get(key)
        if session is not None and not session.users:
            self.drop(session)

    async def close(self) -> None:
        """Close all sessions; safe to call twice."""
        self._is_closed = True
        closing = [asyncio.create_task(item.close()) for item in tuple(self._alive)]
        if closing:
            await asyncio.wait(closing)

    def _open_session(self, key: str, *, now: bool) -> Session:
        if self._is_closed:
            raise SourceUnavailable(f"{self._title} is closed.", nothing_done=True, permanent=True)
        left = self._not_before - time.monotonic()
        if left > 0 and not now and self._last_fault is not None:
            raise MCPConnectionError(
                self._last_fault.message,
                retry_after=left,
                nothing_done=True,
                permanent=not self._last_fault.retryable,
            ) from self._last_fault
        self._make_room()
        session = self._open[key] = self._make(key, self._on_end)
        self._alive.add(session)
        return session

    def _make_room(self) -> None:
        if len(self._open) < self._most:
            return
        unused = [item for item in self._open.values() if not item.users]
        callers = [item for item in unused if item.key != OPERATOR] or unused
        if not callers:
            raise Overloaded(
                f"{self._title} has {self._most} sessions, and all are in use.", retry_after=1.0
            )
        self.drop(callers[0])

    def _back_off(self, error: MCPConnectionError) -> None:
        if error is self._last_fault:
            return  # several waited for the same attempt
        self._last_fault = error
        delay = max(self._wait * (0.5 + self._jitter() / 2), error.retry_after or 0.0)
        self._not_before = time.monotonic() + delay
        self._wait = min(self._wait * 2, _MAX_WAIT)

    def _cancel_idle_timer(self, key: str) -> None:
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()

    def _on_end(self, session: Session) -> None:
        self._alive.discard(session)
        self._forget(session)

    def _forget(self, session: Session) -> None:
        if self._open.get(session.key) is session:
            del self._open[session.key]
            self._cancel_idle_timer(session.key)


def _is_of_caller(error: MCPConnectionError) -> bool:
    """Whether a session could not be opened because of its caller's account alone."""
    return isinstance(error.__cause__, CredentialMissing)
