"""Results and outcomes kept in memory, bounded, for registries without a data directory."""

import time
from collections import OrderedDict
from collections.abc import Callable

from pegboard.core.ports.store import Outcome, StoredResult
from pegboard.core.result import ToolResult


class MemoryResults:
    """A `ResultStore` of at most `max_bytes`; the oldest go first."""

    def __init__(
        self, *, max_bytes: int = 64_000_000, now: Callable[[], float] = time.time
    ) -> None:
        self._max_bytes = max_bytes
        self._now = now
        self._bytes = 0
        self._items: OrderedDict[str, StoredResult] = OrderedDict()

    async def put(self, result: StoredResult) -> None:
        """Keep it until it expires or room is needed."""
        self._items[result.handle] = result
        self._bytes += len(result.body)
        while self._bytes > self._max_bytes and len(self._items) > 1:
            _, oldest = self._items.popitem(last=False)
            self._bytes -= len(oldest.body)

    async def get(self, handle: str, owner: str) -> StoredResult | None:
        """Give it back; None when unknown, expired or somebody else's."""
        item = self._items.get(handle)
        if item is None or item.owner != owner:
            return None
        if item.expires_at <= self._now():
            del self._items[handle]
            self._bytes -= len(item.body)
            return None
        return item


class MemoryOutcomes:
    """An `OutcomeStore` of at most `most` keys; the oldest settled ones go first."""

    def __init__(self, *, most: int = 10_000) -> None:
        self._most = most
        self._items: OrderedDict[tuple[str, str], Outcome] = OrderedDict()

    async def claim(self, outcome: Outcome) -> Outcome | None:
        """Take the key if it is free and return None; else return who has it."""
        key = (outcome.owner, outcome.key)
        known = self._items.get(key)
        if known is not None:
            return known
        self._items[key] = outcome
        if len(self._items) > self._most:
            self._forget_oldest()
        return None

    async def settle(self, owner: str, key: str, result: ToolResult) -> None:
        """Store the outcome of a claimed key."""
        known = self._items.get((owner, key))
        if known is not None:
            self._items[owner, key] = Outcome(
                key=key,
                owner=owner,
                tool=known.tool,
                digest=known.digest,
                created_at=known.created_at,
                result=result,
            )

    async def release(self, owner: str, key: str) -> None:
        """Give a claimed key back: nothing was done."""
        self._items.pop((owner, key), None)

    def _forget_oldest(self) -> None:
        for key, item in self._items.items():
            if item.result is not None:
                del self._items[key]
                return
