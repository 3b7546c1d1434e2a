"""Circuit breakers: a source that keeps failing is left alone for a while.

Only failures that say that the source is not there (`Unavailable`) count. Any other answer, an
error included, shows that it is there, and closes the breaker.
"""

import threading
import time
from collections.abc import Callable

from pegboard.errors import BreakerOpen


class Breaker:
    """One source's breaker: closed, open, or half open with one probe on its way.

    Args:
        source: What the error names.
        threshold: Failures in a row that open it.
        recovery: Seconds until a probe is let through; doubles up to `longest` while probes fail.
    """

    def __init__(
        self,
        source: str,
        *,
        threshold: int = 5,
        recovery: float = 5.0,
        longest: float = 120.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._threshold = threshold
        self._first_recovery = recovery
        self._longest = longest
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._failures = 0
        self._recovery = recovery
        self._opens_at = 0.0
        self._probing = False

    @property
    def state(self) -> str:
        """`closed`, `open` or `half_open`."""
        if self._failures < self._threshold:
            return "closed"
        return "half_open" if self._monotonic() >= self._opens_at else "open"

    def enter(self) -> bool:
        """Let a call through; True when it is the probe of an open breaker.

        Raises:
            BreakerOpen: Too many failures; says when to try again.
        """
        if self._failures < self._threshold:
            return False
        with self._lock:
            wait = self._opens_at - self._monotonic()
            if wait <= 0 and not self._probing:
                self._probing = True
                return True
        raise BreakerOpen(
            f"'{self._source}' failed {self._failures} times in a row and is not called now.",
            retry_after=max(wait, 0.1),
            nothing_done=True,
        )

    def record_success(self) -> None:
        """The source answered: close the breaker."""
        if self._failures:
            with self._lock:
                self._failures = 0
                self._probing = False
                self._recovery = self._first_recovery

    def record_failure(self, *, probe: bool) -> None:
        """The source was unavailable: count it, and open the breaker at the threshold."""
        with self._lock:
            self._failures += 1
            if probe:
                self._probing = False
                self._recovery = min(self._recovery * 2, self._longest)
            if self._failures >= self._threshold:
                self._opens_at = self._monotonic() + self._recovery

    def release_probe(self, *, probe: bool) -> None:
        """The call ended without a verdict, as when it was cancelled: allow another probe."""
        if probe:
            with self._lock:
                self._probing = False


class Breakers:
    """The breakers of a board by source; a source without a breaker is never blocked."""

    def __init__(self) -> None:
        self._items: dict[str, Breaker] = {}

    def add(self, source: str, breaker: Breaker) -> None:
        """Guard a source."""
        self._items[source] = breaker

    def remove(self, source: str) -> None:
        """Remove the breaker of a source, so that a source of the same name starts anew."""
        self._items.pop(source, None)

    def get(self, source: str) -> Breaker | None:
        """The breaker of a source."""
        return self._items.get(source)
