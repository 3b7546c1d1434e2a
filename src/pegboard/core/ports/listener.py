"""The listener port: receives events."""

from typing import Protocol

from pegboard.core.event import Event


class Listener(Protocol):
    """Receives every event, in order, on the thread where it happened.

    A listener must return at once and put slow work in a queue of its own. Its exceptions are
    counted and logged, and never reach the call.
    """

    def on_event(self, event: Event) -> None:
        """Handle an event."""
        ...
