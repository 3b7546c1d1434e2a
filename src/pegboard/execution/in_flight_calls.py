"""Calls with an idempotency key that run in this process."""

import asyncio
import contextlib
import threading

from pegboard.core.ports.call_stores import Outcome


class InFlightCall:
    """A call that holds its key, from before it claims the key until its outcome is stored.

    Attributes:
        claim: The tool, arguments and key.
        writing: The write that is in progress, even if the call is cancelled.
        is_given_up: Whether nothing was done and only the release of the key is written.
    """

    def __init__(self, claim: Outcome) -> None:
        self.claim = claim
        self.writing: asyncio.Future[None] | None = None
        self.is_given_up = False
        self._lock = threading.Lock()
        self._is_over = False
        self._waiting: list[asyncio.Future[None]] = []

    async def wait(self, longest_wait: float | None) -> bool:
        """Wait for its end, in any event loop; False when the time is up first."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._lock:
            if self._is_over:
                return True
            self._waiting.append(future)
        try:
            await asyncio.wait([future], timeout=longest_wait)
            return future.done()
        finally:
            with self._lock, contextlib.suppress(ValueError):  # removed already when it was woken
                self._waiting.remove(future)

    def finish(self) -> None:
        """Wake all waiting callers."""
        with self._lock:
            self._is_over = True
            waiting, self._waiting = self._waiting, []
        for future in waiting:
            with contextlib.suppress(RuntimeError):  # its event loop is closed
                future.get_loop().call_soon_threadsafe(_wake, future)


class InFlightCalls:
    """Running calls by owner and key; thread-safe."""

    def __init__(self) -> None:
        """Start with none."""
        self._lock = threading.Lock()
        self._flights: dict[tuple[str, str], InFlightCall] = {}

    def begin(self, claim: Outcome) -> tuple[InFlightCall, bool]:
        """The call that holds this key, and whether it is new: then the caller must `end` it."""
        with self._lock:
            known = self._flights.get((claim.owner, claim.key))
            if known is not None:
                return known, False
            flight = self._flights[claim.owner, claim.key] = InFlightCall(claim)
            return flight, True

    def end(self, flight: InFlightCall) -> None:
        """Remove a call, after the write that is in progress."""
        writing = flight.writing
        if writing is None or writing.done():
            self._end(flight)
        else:
            writing.add_done_callback(lambda _: self._end(flight))

    def _end(self, flight: InFlightCall) -> None:
        with self._lock:
            del self._flights[flight.claim.owner, flight.claim.key]
        flight.finish()


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
