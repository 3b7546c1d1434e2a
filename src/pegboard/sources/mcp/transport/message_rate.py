"""How fast somebody may talk: who never stops would keep this process busy with listening."""

import re
import time
from collections.abc import Callable

MAX_MESSAGES, RATE_SECONDS = 25_000, 10.0
"""How many messages one server may send in so many seconds, over any transport."""

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The largest message of a server, over any transport."""

_EVENT = re.compile(rb"(?>\r\n|\r|\n)(?=[\r\n:])")


class MessageRate:
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
        self._started_at = monotonic()
        self._count = 0

    def __str__(self) -> str:
        return f"more than {self._most} messages in {self._seconds:g} s"

    def exceeds(self, count: int = 1) -> bool:
        """Count so many more; whether that is too much."""
        self._count += count
        if self._count <= self._most:
            return False
        now = self._monotonic()
        is_fast = now - self._started_at < self._seconds
        self._started_at, self._count = now, 0
        return is_fast


def default_rate() -> MessageRate:
    """What one server may send, counted from now on."""
    return MessageRate(most=MAX_MESSAGES, seconds=RATE_SECONDS)


class EventCounter:
    """Counts what a stream of events brings: each event, and each comment between them."""

    def __init__(self) -> None:
        self._rest = b""

    def count(self, chunk: bytes) -> int:
        """How many end, or begin to be ignored, in the next piece of the stream."""
        if b"\n" not in chunk and b"\r" not in chunk and not self._rest:
            return 0  # the middle of a long line
        data = self._rest + chunk
        count = end = 0
        for found in _EVENT.finditer(data):
            count, end = count + 1, found.end()
        # the last line's end is not counted before it is known what comes behind it
        self._rest = data[end + len(data[end:].rstrip(b"\r\n")) :]
        return count
