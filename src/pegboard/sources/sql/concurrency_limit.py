"""Limits concurrent work for callers on any event loop."""

import asyncio
import threading
from collections import deque
from types import TracebackType


class ConcurrencyLimit:
    """A first-come-first-served semaphore.

    `asyncio.Semaphore` belongs to one loop, but a source is called both from the server's loop and
    from the private loop of the sync API.
    """

    def __init__(self, size: int) -> None:
        self._free = size
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._lock = threading.Lock()

    async def __aenter__(self) -> None:
        with self._lock:
            if self._free > 0:
                self._free -= 1
                return
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            self._withdraw(turn)
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._next()

    def _withdraw(self, turn: "asyncio.Future[None]") -> None:
        """Leave the queue, or pass on a slot that was granted too late."""
        with self._lock:
            if turn in self._waiting:
                self._waiting.remove(turn)
                return
        if not turn.cancelled():
            self._next()

    def _next(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._free += 1
                    return
                turn = self._waiting.popleft()
            try:
                turn.get_loop().call_soon_threadsafe(self._grant, turn)
                return
            except RuntimeError:  # its loop is closed, so it no longer waits
                continue

    def _grant(self, turn: "asyncio.Future[None]") -> None:
        if turn.done():
            self._next()
        else:
            turn.set_result(None)
