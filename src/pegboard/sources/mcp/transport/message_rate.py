"""Limits on the messages of a server, so that none can keep this process busy."""

import re
import time
from collections.abc import Callable

MAX_MESSAGES, RATE_SECONDS = 25_000, 10.0
"""How many messages one server may send in so many seconds, over any transport."""

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The largest message of a server, over any transport."""

_EVENT = re.compile(rb"(?>\r\n|\r|\n)(?=[\r\n:])")


class MessageRate:
    """Counts messages within a period.

    Args:
        most: The largest number of messages in a period.
        seconds: The length of a period.
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
        """Count more messages; whether the limit is exceeded."""
        self._count += count
        if self._count <= self._most:
            return False
        now = self._monotonic()
        is_fast = now - self._started_at < self._seconds
        self._started_at, self._count = now, 0
        return is_fast


def default_rate() -> MessageRate:
    """The limit for one server, counted from now on."""
    return MessageRate(most=MAX_MESSAGES, seconds=RATE_SECONDS)


class EventCounter:
    """Counts the events of an SSE stream, and the comments between them."""

    def __init__(self) -> None:
        self._rest = b""

    def count(self, chunk: bytes) -> int:
        """The number of events and comments in the next chunk of the stream."""
        if b"\n" not in chunk and b"\r" not in chunk and not self._rest:
            return 0  # the middle of a long line
        data = self._rest + chunk
        count = end = 0
        for found in _EVENT.finditer(data):
            count, end = count + 1, found.end()
        # the last line's end is not counted before it is known what comes behind it
        self._rest = data[end + len(data[end:].rstrip(b"\r\n")) :]
        return count
