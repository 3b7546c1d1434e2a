"""Who is told what happened."""

from typing import Protocol

from pegboard.core.event import Event


class Listener(Protocol):
    """Told of every event, in order, on the thread where it happened.

    It must return at once: what takes time belongs in a queue of its own. What it raises is
    counted and logged, and never reaches the call.
    """

    def on_event(self, event: Event) -> None:
        """Take note."""
        ...
