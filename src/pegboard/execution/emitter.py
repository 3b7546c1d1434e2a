"""Emit events to listeners; a listener that raises does not affect the call."""

import asyncio
import logging
from collections.abc import Sequence

from pegboard.core.event import Event
from pegboard.core.ports.listener import Listener

_LOG = logging.getLogger("pegboard.events")


class Emitter:
    """Passes events to listeners.

    Attributes:
        has_listeners: Whether there is a listener.
        failures: How often a listener has raised.
    """

    def __init__(self, listeners: Sequence[Listener] = ()) -> None:
        self._listeners = tuple(listeners)
        self.has_listeners = bool(self._listeners)
        self.failures = 0

    def add(self, listener: Listener) -> None:
        """Add a listener, from the next event on."""
        self._listeners = (*self._listeners, listener)
        self.has_listeners = True

    def emit(self, event: Event) -> None:
        """Pass an event to every listener."""
        for listener in self._listeners:
            try:
                listener.on_event(event)
            except (Exception, asyncio.CancelledError):  # noqa: BLE001 - the call's record is being written: its outcome must not change
                self.failures += 1
                _LOG.exception("events: listener %s failed", type(listener).__name__)
