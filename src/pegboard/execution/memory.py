"""Results and outcomes kept in memory, bounded, for registries without a data directory."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from msgspec import structs

from pegboard.core.ports.store import Outcome, StoredResult
from pegboard.core.result import ToolResult
from pegboard.execution.copies import detached

_OVERHEAD = 500  # bytes that an entry takes beside its body, roughly


class MemoryResults:
    """A `ResultStore` of at most `max_bytes`; the oldest go first. Safe for several threads."""

    def __init__(
        self, *, max_bytes: int = 64_000_000, now: Callable[[], float] = time.time
    ) -> None:
        self._max_bytes = max_bytes
        self._now = now
        self._lock = threading.Lock()
        self._bytes = 0
        self._items: OrderedDict[str, StoredResult] = OrderedDict()

    async def put(self, result: StoredResult) -> None:
        """Keep it until it expires or room is needed."""
        with self._lock:
            self._forget(result.handle)
            self._items[result.handle] = result
            self._bytes += len(result.body) + _OVERHEAD
            while self._bytes > self._max_bytes and len(self._items) > 1:
                self._forget(next(iter(self._items)))

    async def get(self, handle: str, owner: str) -> StoredResult | None:
        """Give it back; None when unknown, expired or somebody else's."""
        with self._lock:
            item = self._items.get(handle)
            if item is None or item.owner != owner:
                return None
            if item.expires_at <= self._now():
                self._forget(handle)
                return None
            return item

    def _forget(self, handle: str) -> None:
        item = self._items.pop(handle, None)
        if item is not None:
            self._bytes -= len(item.body) + _OVERHEAD


class MemoryOutcomes:
    """An `OutcomeStore` of at most `most` keys; the oldest settled ones go first.

    Safe for several threads. What is kept and what is given share nothing that can change.
    """

    def __init__(self, *, most: int = 10_000) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._items: OrderedDict[tuple[str, str], Outcome] = OrderedDict()

    async def claim(self, outcome: Outcome) -> Outcome | None:
        """Take the key if it is free and return None; else return who has it."""
        key = (outcome.owner, outcome.key)
        with self._lock:
            known = self._items.get(key)
            if known is None:
                self._items[key] = outcome
                if len(self._items) > self._most:
                    self._forget_oldest()
                return None
        result = known.result
        return known if result is None else structs.replace(known, result=detached(result))

    async def settle(self, owner: str, key: str, result: ToolResult) -> None:
        """Store the outcome of a claimed key."""
        with self._lock:
            known = self._items.get((owner, key))
            if known is not None:
                self._items[owner, key] = structs.replace(known, result=detached(result))

    async def release(self, owner: str, key: str) -> None:
        """Give a claimed key back: nothing was done. A settled key stays."""
        with self._lock:
            known = self._items.get((owner, key))
            if known is not None and known.result is None:
                del self._items[owner, key]

    def _forget_oldest(self) -> None:
        for key, item in self._items.items():
            if item.result is not None:
                del self._items[key]
                return
