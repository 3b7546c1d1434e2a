"""A bounded queue with a thread, so that a slow consumer never delays a call."""

import atexit
import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

Item = TypeVar("Item")

_LOG = logging.getLogger("pegboard.events")
_LINGER = 0.05
_LAST_WORDS = 2.0


class BackgroundQueue(Generic[Item]):
    """Passes items to `consume`, in order and in batches, on a thread of its own.

    Items gather for a moment before they are passed on, so that a call costs only an append.
    """

    def __init__(
        self,
        consume: Callable[[list[Item]], None],
        *,
        name: str,
        max_waiting: int,
        idle: float | None = None,
    ) -> None:
        """Start the thread; `consume` gets an empty batch after `idle` seconds without items."""
        self._consume = consume
        self._max_waiting = max_waiting
        self._idle = idle
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        self._taken = self._handled = self._dropped = self._wanted = 0
        self._closed = False
        self._thread = threading.Thread(target=self._main, name=f"pegboard-{name}", daemon=True)
        self._thread.start()
        atexit.register(self.close, _LAST_WORDS)  # a daemon thread would lose its queue

    @property
    def dropped(self) -> int:
        """Number of items lost: the queue was full or closed, or `consume` failed."""
        return self._dropped

    def lose(self, count: int) -> None:
        """Count items that `consume` could not process."""
        with self._changed:
            self._dropped += count

    def post(self, item: Item) -> None:
        """Queue an item; it is dropped if the queue is full or closed."""
        with self._changed:
            if self._closed or len(self._items) >= self._max_waiting:
                self._dropped += 1
                return
            self._items.append(item)
            if len(self._items) == 1:
                self._changed.notify_all()

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until all items so far are processed; False if that takes too long."""
        with self._changed:
            self._wanted = max(self._wanted, self._taken + len(self._items))
            wanted = self._wanted
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._handled >= wanted, timeout)

    def close(self, timeout: float = 5.0) -> None:
        """Process what is queued, for at most `timeout` seconds, and drop the rest."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout)
        with self._changed:
            self._dropped += len(self._items)
            self._items.clear()
        atexit.unregister(self.close)

    def _main(self) -> None:
        while True:
            batch, last = self._take()
            try:
                self._consume(batch)
            except Exception:  # noqa: BLE001 -- events are recorded here: later ones must get through
                _LOG.exception("events: %d events were lost", len(batch))
                self.lose(len(batch))
            with self._changed:
                self._handled += len(batch)
                self._changed.notify_all()
            if last:
                return

    def _take(self) -> tuple[list[Item], bool]:
        """The next batch, and whether it is the last."""
        with self._changed:
            if self._changed.wait_for(lambda: self._items or self._closed, self._idle):
                self._changed.wait_for(self._is_urgent, _LINGER)
            batch = list(self._items)
            self._items.clear()
            self._taken += len(batch)
            return batch, self._closed

    def _is_urgent(self) -> bool:
        return self._closed or self._wanted > self._handled
