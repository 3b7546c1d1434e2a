"""The latest calls, in memory."""

from collections import deque

from pegboard.core.event import CallRecord, Event


class RecentCalls:
    """Remembers the latest call records; the default listener of a registry.

    ```python
    recent = RecentCalls()
    registry = ToolRegistry([letter_counter], listeners=[recent])
    await registry.call("letter_counter", {"word": "pear", "letter": "e"})
    assert recent.calls[-1].status == "completed"
    ```

    A record holds the arguments of its call, so `maxlen` bounds memory only as far as those do.
    """

    def __init__(self, maxlen: int = 256) -> None:
        """Remember at most `maxlen` calls."""
        self._calls: deque[CallRecord] = deque(maxlen=maxlen)

    def on_event(self, event: Event) -> None:
        """Remember the record of a call."""
        if isinstance(event, CallRecord):
            self._calls.append(event)

    @property
    def calls(self) -> tuple[CallRecord, ...]:
        """The latest calls, the newest last."""
        return tuple(self._calls)

    def clear(self) -> None:
        """Forget all calls."""
        self._calls.clear()
