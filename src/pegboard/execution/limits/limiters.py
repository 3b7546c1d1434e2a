"""Rate and concurrency limits, counted per bucket; safe for several event loops and threads."""

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable

from pegboard.core.tool import Limits
from pegboard.errors import RateLimited

_ROUNDING = 1e-6  # sums of intervals are not exact

_Waiter = tuple[asyncio.AbstractEventLoop, "asyncio.Future[None]"]


class Limiter:
    """A token bucket for the rate and slots for the concurrency, first come first served.

    Args:
        name: What error messages call it.
        limits: Rate and concurrency.
        monotonic: A monotonic clock, in seconds.
    """

    def __init__(
        self, name: str, limits: Limits, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self.limits = limits
        self._name = name
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._next_free = -math.inf
        self._in_flight = 0
        self._waiters: deque[_Waiter] = deque()

    async def enter(self, longest_wait: float) -> None:
        """Wait for a turn, at most this many seconds; `leave` releases the slot.

        Raises:
            RateLimited: The wait would be longer; says when to try again.
        """
        delay = self._reserve(longest_wait)
        try:
            if delay > 0:
                await asyncio.sleep(delay)
            if self.limits.concurrency is not None:
                await self._slot(longest_wait - delay)
        except (RateLimited, asyncio.CancelledError):
            self._give_back_turn()
            raise

    def leave(self) -> None:
        """Release the slot to the next call in the queue."""
        if self.limits.concurrency is None:
            return
        with self._lock:
            self._in_flight -= 1
            self._wake()

    def withdraw(self) -> None:
        """Leave without having used the turn."""
        self._give_back_turn()
        self.leave()

    def _reserve(self, longest_wait: float) -> float:
        """Reserve the next turn that the rate allows; the seconds until then."""
        if self.limits.rate is None:
            return 0.0
        interval = self.limits.per / self.limits.rate
        burst = max(interval, self.limits.per)
        now = self._monotonic()
        with self._lock:
            # a full bucket holds one window's turns: a virtual queue that may run `burst` ahead
            turn = max(self._next_free, now - burst + interval)
            delay = turn - now
            if delay > longest_wait + _ROUNDING:
                raise RateLimited(
                    f"The limit of {self.limits.rate:g} calls per {self.limits.per:g} s for "
                    f"'{self._name}' is reached.",
                    retry_after=delay,
                    nothing_done=True,
                )
            self._next_free = turn + interval
        return delay if delay > _ROUNDING else 0.0

    def _give_back_turn(self) -> None:
        if self.limits.rate is not None:
            with self._lock:
                self._next_free -= self.limits.per / self.limits.rate

    async def _slot(self, longest_wait: float) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._in_flight < (self.limits.concurrency or 0):
                self._in_flight += 1
                return
            future: asyncio.Future[None] = loop.create_future()
            waiter = (loop, future)
            self._waiters.append(waiter)
        try:
            await asyncio.wait([future], timeout=max(longest_wait, 0.0))
        except asyncio.CancelledError:
            if not self._left_line(waiter):
                self.leave()  # the slot was assigned at the same moment
            raise
        if not self._left_line(waiter):
            return
        raise RateLimited(
            f"{self.limits.concurrency} calls of '{self._name}' are running, which is the limit.",
            retry_after=1.0,
            nothing_done=True,
        )

    def _left_line(self, waiter: _Waiter) -> bool:
        """Whether the waiter was still queued; otherwise it has a slot."""
        with self._lock:
            try:
                self._waiters.remove(waiter)
            except ValueError:
                return False
            return True

    def _wake(self) -> None:
        while self._waiters:
            loop, future = self._waiters.popleft()
            try:
                loop.call_soon_threadsafe(_resolve, future)
            except RuntimeError:
                continue  # its event loop is closed: take the next
            self._in_flight += 1
            return


def _resolve(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)


class Limiters:
    """The buckets of a board; tools that match one rule share a bucket."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._items: dict[tuple[str, Limits], Limiter] = {}

    def get(self, name: str, limits: Limits) -> Limiter:
        """The bucket of this rule; a new one when its limits have changed."""
        with self._lock:
            known = self._items.get((name, limits))
            if known is None:
                known = Limiter(name, limits, monotonic=self._monotonic)
                self._items[name, limits] = known
            return known
