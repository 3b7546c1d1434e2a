"""Emit events to listeners; a listener that raises or is slow does not affect the calls."""

import asyncio
import logging
import threading
import time
from collections.abc import Sequence

from pegboard.concurrency.background_queue import BackgroundQueue
from pegboard.core.event import Event
from pegboard.core.ports.listener import Listener

_LOG = logging.getLogger("pegboard.events")
_SLOW = 0.02
"""Seconds for one event, beyond which a listener delays the calls."""
_SLOW_IN_A_ROW = 3
"""Slow events after which a listener goes on behind the calls; one may be a pause."""
_MAX_WAITING = 10_000
_now = time.perf_counter


class Emitter:
    """Passes events to listeners.

    Args:
        listeners: Called on the thread of the event; they return quickly.
        guests: Called in the same way, until they are slow several times in a row. Then they get
            their events on a thread of their own, in order.

    Attributes:
        has_listeners: Whether there is a listener.
        failures: How often a listener has raised.
    """

    def __init__(
        self, listeners: Sequence[Listener] = (), *, guests: Sequence[Listener] = ()
    ) -> None:
        self._listeners: tuple[Listener, ...] = tuple(listeners)
        self._guests: tuple[Listener, ...] = tuple(guests)
        self._is_slow = False  # a guest was slow lately
        self._slow: dict[int, int] = {}  # slow events in a row, by the id of the guest
        self._lock = threading.Lock()
        self._queues: list[BackgroundQueue[Event]] = []
        self.has_listeners = bool(self._listeners or self._guests)
        self.failures = 0

    @property
    def dropped(self) -> int:
        """Events that slow listeners did not get because too many were waiting."""
        return sum(queue.dropped for queue in self._queues)

    def add(self, listener: Listener) -> None:
        """Add a listener, from the next event on."""
        with self._lock:
            self._listeners = (*self._listeners, listener)
            self.has_listeners = True

    def remove(self, listener: Listener) -> None:
        """Remove a listener that was added."""
        with self._lock:
            self._listeners = tuple(item for item in self._listeners if item is not listener)
            self.has_listeners = bool(self._listeners or self._guests)

    def emit(self, event: Event) -> None:
        """Pass an event to every listener."""
        for listener in self._listeners:
            try:
                listener.on_event(event)
            except (Exception, asyncio.CancelledError):  # noqa: BLE001 - the call's record is being written: its outcome must not change
                self._count_failure(listener)
        if self._guests:
            began = _now()
            for guest in self._guests:
                try:
                    guest.on_event(event)
                except (Exception, asyncio.CancelledError):  # noqa: BLE001 - the same
                    self._count_failure(guest)
                if self._is_slow:
                    began = self._measure(guest, began)
            if not self._is_slow and _now() - began > _SLOW:
                self._is_slow = True  # from now on each guest is measured

    def close(self) -> None:
        """Pass what is waiting to slow listeners, for some seconds at most."""
        for queue in self._queues:
            queue.close()

    def _count_failure(self, listener: Listener) -> None:
        self.failures += 1
        _LOG.exception("events: listener %s failed", type(listener).__name__)

    def _measure(self, guest: Listener, began: float) -> float:
        """Count a slow event of a guest; return the time."""
        now = _now()
        if now - began > _SLOW:
            self._count_slow(guest)
        else:
            self._slow.pop(id(guest), None)
            self._is_slow = bool(self._slow)
        return now

    def _count_slow(self, guest: Listener) -> None:
        with self._lock:  # events come from several threads
            self._count_slow_alone(guest)

    def _count_slow_alone(self, guest: Listener) -> None:
        if guest not in self._guests:
            return
        self._slow[id(guest)] = self._slow.get(id(guest), 0) + 1
        if self._slow[id(guest)] < _SLOW_IN_A_ROW:
            return
        self._slow.pop(id(guest), None)
        name = type(guest).__name__
        _LOG.warning(
            "events: listener %s takes more than %d ms an event and delays calls: from now on it "
            "gets its events later, on a thread of its own",
            name,
            _SLOW * 1000,
        )

        def consume(events: list[Event]) -> None:
            for event in events:
                try:
                    guest.on_event(event)
                except (Exception, asyncio.CancelledError):  # noqa: BLE001 - the same
                    self._count_failure(guest)

        queue = BackgroundQueue(consume, name=f"listener-{name}", max_waiting=_MAX_WAITING)
        self._queues.append(queue)
        self._guests = tuple(item for item in self._guests if item is not guest)
        self._listeners = (*self._listeners, _Behind(queue))


class _Behind:
    """A slow listener, whose events wait in a queue."""

    def __init__(self, queue: BackgroundQueue[Event]) -> None:
        self._queue = queue

    def on_event(self, event: Event) -> None:
        self._queue.post(event)
