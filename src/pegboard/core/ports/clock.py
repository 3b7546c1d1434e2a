"""Time, injected."""

import time
from datetime import UTC, datetime, tzinfo
from typing import Protocol


class Clock(Protocol):
    """What time it is."""

    def now(self, zone: tzinfo = UTC) -> datetime:
        """The wall clock, aware, in this zone."""
        ...

    def time(self) -> float:
        """Unix seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds that only grow; for deadlines and durations."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now(self, zone: tzinfo = UTC) -> datetime:
        """The wall clock, aware, in this zone."""
        return datetime.fromtimestamp(time.time(), zone)

    def time(self) -> float:
        """Unix seconds."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return time.monotonic()
