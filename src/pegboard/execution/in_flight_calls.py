"""Calls with an idempotency key that run in this process, and who waits for them."""

import asyncio
import contextlib
import threading

from pegboard.core.ports.call_stores import Outcome


class InFlightCall:
    """One call that holds its key, from before it claims it until its outcome is written.

    Attributes:
        claim: What is called, under which key.
        writing: What is being written of it, cancelled or not.
        is_given_up: Whether nothing was done, and all that is written is that its key is free.
    """

    def __init__(self, claim: Outcome) -> None:
        self.claim = claim
        self.writing: asyncio.Future[None] | None = None
        self.is_given_up = False
        self._lock = threading.Lock()
        self._is_over = False
        self._waiting: list[asyncio.Future[None]] = []

    async def landed(self, longest_wait: float | None) -> bool:
        """Wait for its end in any event loop; False when that takes longer."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        with self._lock:
            if self._is_over:
                return True
            self._waiting.append(future)
        try:
            await asyncio.wait([future], timeout=longest_wait)
            return future.done()
        finally:
            with self._lock, contextlib.suppress(ValueError):  # it is not there when it was woken
                self._waiting.remove(future)

    def land(self) -> None:
        """Wake who waits."""
        with self._lock:
            self._is_over = True
            waiting, self._waiting = self._waiting, []
        for future in waiting:
            with contextlib.suppress(RuntimeError):  # its loop is closed: nobody waits any more
                future.get_loop().call_soon_threadsafe(_wake, future)


class Flights:
    """Running calls by owner and key. Safe for several threads."""

    def __init__(self) -> None:
        """Start with none."""
        self._lock = threading.Lock()
        self._flights: dict[tuple[str, str], InFlightCall] = {}

    def begin(self, claim: Outcome) -> tuple[InFlightCall, bool]:
        """The flight of this key, and whether it is a new one, the caller's own to `end`."""
        with self._lock:
            known = self._flights.get((claim.owner, claim.key))
            if known is not None:
                return known, False
            flight = self._flights[claim.owner, claim.key] = InFlightCall(claim)
            return flight, True

    def end(self, flight: InFlightCall) -> None:
        """It is over; when something of it is still being written, then after that."""
        writing = flight.writing
        if writing is None or writing.done():
            self._end(flight)
        else:
            writing.add_done_callback(lambda _: self._end(flight))

    def _end(self, flight: InFlightCall) -> None:
        with self._lock:
            del self._flights[flight.claim.owner, flight.claim.key]
        flight.land()


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
