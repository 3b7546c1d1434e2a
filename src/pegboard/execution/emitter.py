"""Telling listeners what happened; no listener can fail or slow a call for another's sake."""

import asyncio
import logging
from collections.abc import Sequence

from pegboard.core.event import Event
from pegboard.core.ports.listener import Listener

_LOG = logging.getLogger("pegboard.events")


class Emitter:
    """Passes events to listeners.

    Attributes:
        is_heard: Whether anybody listens.
        failures: How many events a listener has refused, in all.
    """

    def __init__(self, listeners: Sequence[Listener] = ()) -> None:
        self._listeners = tuple(listeners)
        self.is_heard = bool(self._listeners)
        self.failures = 0

    def add(self, listener: Listener) -> None:
        """Tell this one too, from the next event on."""
        self._listeners = (*self._listeners, listener)
        self.is_heard = True

    def emit(self, event: Event) -> None:
        """Tell all."""
        for listener in self._listeners:
            try:
                listener.on_event(event)
            except (Exception, asyncio.CancelledError):  # noqa: BLE001 - the call's record is being written: its outcome must not change
                self.failures += 1
                _LOG.exception("listener %s failed", type(listener).__name__)
