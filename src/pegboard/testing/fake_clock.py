"""A clock that a test moves by hand."""

from datetime import UTC, datetime, tzinfo

_START = datetime(2026, 1, 1, 12, 0, tzinfo=UTC).timestamp()


class FakeClock:
    """A `Clock` that stands still until it is told how much time has passed.

    ```python
    clock = FakeClock()
    before = clock.monotonic()
    clock.advance(2.5)
    assert clock.monotonic() - before == 2.5
    ```

    The monotonic clock starts far from the wall clock, so that code which mixes them up fails.
    """

    def __init__(self, *, start: float = _START) -> None:
        """Start at `start` Unix seconds."""
        self._time = start
        self._monotonic = 1000.0

    def now(self, zone: tzinfo = UTC) -> datetime:
        """The wall clock, aware, in this zone."""
        return datetime.fromtimestamp(self._time, zone)

    def time(self) -> float:
        """Unix seconds."""
        return self._time

    def monotonic(self) -> float:
        """Seconds that only grow."""
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Let time pass on both clocks.

        Raises:
            ValueError: `seconds` is negative; use `jump` to set the wall clock back.
        """
        if seconds < 0:
            raise ValueError("time only passes forwards; use jump() to set the wall clock back")
        self._time += seconds
        self._monotonic += seconds

    def jump(self, seconds: float) -> None:
        """Set the wall clock forwards or back, as an administrator or NTP does."""
        self._time += seconds
