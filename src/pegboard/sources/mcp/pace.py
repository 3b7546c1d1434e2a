"""How fast somebody may talk: who never stops would keep this process busy with listening."""

import time
from collections.abc import Callable


class Pace:
    """Counts what comes within a while.

    Args:
        most: So many are fine.
        seconds: Within these.
        monotonic: The clock.
    """

    def __init__(
        self, *, most: int, seconds: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._monotonic = monotonic
        self._since = monotonic()
        self._count = 0

    def __str__(self) -> str:
        return f"more than {self._most} messages in {self._seconds:g} s"

    def exceeded(self) -> bool:
        """Count one more; whether that is too much."""
        self._count += 1
        if self._count <= self._most:
            return False
        now = self._monotonic()
        is_fast = now - self._since < self._seconds
        self._since, self._count = now, 0
        return is_fast
