"""Bounded result and outcome stores in memory."""

import time
from collections import OrderedDict
from collections.abc import Callable

from msgspec import structs

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.call_stores import Outcome, StoredResult
from pegboard.core.principal import expand_owner
from pegboard.core.result import ToolResult
from pegboard.core.stores.result_copy import detach
from pegboard.errors import Overloaded, Unavailable

_OVERHEAD = 500  # bytes that an entry takes beside its body, roughly


class MemoryResults:
    """A `ResultStore` of at most `max_bytes`; what has expired goes first, then the oldest.

    Safe for several threads.
    """

    def __init__(
        self,
        *,
        max_bytes: int = 64_000_000,
        now: Callable[[], float] = time.time,
        gate: ClosableLock | None = None,
    ) -> None:
        """Start empty.

        Args:
            max_bytes: Of all results together.
            now: Unix seconds.
            gate: Shared with what is closed together with it; None for one of its own.
        """
        self._max_bytes = max_bytes
        self._now = now
        self._gate = gate or ClosableLock()
        self._bytes = 0
        self._items: OrderedDict[str, StoredResult] = OrderedDict()

    async def put(self, result: StoredResult) -> None:
        """Store a result until it expires or room is needed.

        Raises:
            Unavailable: It is larger than all the room there is.
        """
        size = len(result.body) + _OVERHEAD
        if size > self._max_bytes:
            raise Unavailable(
                f"A result of {len(result.body)} bytes does not fit into memory: "
                "a board with a data directory can keep it.",
                nothing_done=True,
            )
        with self._gate:
            self._forget(result.handle)
            if self._bytes + size > self._max_bytes:
                self._forget_expired()
            while self._bytes + size > self._max_bytes:
                self._forget(next(iter(self._items)))
            self._items[result.handle] = result
            self._bytes += size

    async def get(self, handle: str, owner: str) -> StoredResult | None:
        """The result; None when it is unknown, expired or owned by another caller."""
        with self._gate:
            item = self._items.get(handle)
            if item is None or item.owner not in expand_owner(owner):
                return None
            if item.expires_at <= self._now():
                self._forget(handle)
                return None
            return item

    def sweep(self) -> None:
        """Forget what has expired."""
        with self._gate:
            self._forget_expired()

    def forget_containing(self, text: str) -> int:
        """Forget results in which a text stands; returns the count."""
        wanted = text.encode()
        with self._gate:
            found = [handle for handle, item in self._items.items() if wanted in item.body]
            for handle in found:
                self._forget(handle)
            return len(found)

    def forget_named(self, text: str) -> int:
        """Forget results whose handles stand in a text; returns the count."""
        with self._gate:
            found = [handle for handle in self._items if handle in text]
            for handle in found:
                self._forget(handle)
            return len(found)

    def _forget_expired(self) -> None:
        now = self._now()
        for handle in [key for key, item in self._items.items() if item.expires_at <= now]:
            self._forget(handle)

    def _forget(self, handle: str) -> None:
        item = self._items.pop(handle, None)
        if item is not None:
            self._bytes -= len(item.body) + _OVERHEAD


class MemoryOutcomes:
    """An `OutcomeStore` of at most `most` keys; what has expired goes first, then what is settled.

    The key of a call that runs stays. Safe for several threads. What is kept and what is given
    share nothing that can change.
    """

    def __init__(
        self,
        *,
        most: int = 10_000,
        ttl: float | None = None,
        now: Callable[[], float] = time.time,
        gate: ClosableLock | None = None,
    ) -> None:
        """Start empty.

        Args:
            most: Keys.
            ttl: Seconds from its claim for which a key is remembered; None until room is needed.
            now: Unix seconds.
            gate: Shared with what is closed together with it; None for one of its own.
        """
        self._most = most
        self._ttl = ttl
        self._now = now
        self._gate = gate or ClosableLock()
        self._running: OrderedDict[tuple[str, str], Outcome] = OrderedDict()
        self._settled: OrderedDict[tuple[str, str], Outcome] = OrderedDict()

    async def claim(self, outcome: Outcome) -> Outcome | None:
        """Claim the key and return None; return the existing claim when it is taken.

        Raises:
            Overloaded: There is no room for another running call.
        """
        place = (outcome.owner, outcome.key)
        with self._gate:
            known = self._running.get(place) or self._settled.get(place)
            if known is None or self._is_expired(known):
                self._forget(place)
                self._make_room()
                self._running[place] = outcome
                return None
        result = known.result
        return known if result is None else structs.replace(known, result=detach(result))

    def forget_run(self, run: str) -> int:
        """Forget the outcomes of the calls of a run; returns the count."""
        with self._gate:
            found = [place for place in self._settled if place[1].startswith(f"{run}:")]
            for place in found:
                del self._settled[place]
            return len(found)

    def forget_containing(self, text: str) -> int:
        """Forget outcomes in whose result a text stands; returns the count."""
        with self._gate:
            found = [
                place
                for place, item in self._settled.items()
                if item.result is not None
                and (text in item.result.text or text in str(item.result.structured))
            ]
            for place in found:
                del self._settled[place]
            return len(found)

    async def hold(self, claim: Outcome, *, by: str, until: float | None) -> bool:
        """Lease a claim without an outcome to this call until a time; None for no time."""
        place = (claim.owner, claim.key)
        with self._gate:
            known = self._running.get(place)
            if known is None or known.holder != claim.holder:
                return False
            self._running[place] = structs.replace(known, holder=by, held_until=until)
            return True

    async def settle(self, claim: Outcome, result: ToolResult) -> None:
        """Store the outcome of a claim; no effect when another call holds the key."""
        kept, place = detach(result), (claim.owner, claim.key)
        with self._gate:
            known = self._running.get(place) or self._settled.get(place)
            if known is not None and known.holder == claim.holder:
                self._running.pop(place, None)
                self._settled[place] = structs.replace(known, result=kept)

    async def release(self, claim: Outcome) -> None:
        """Release a claimed key; no effect when it is settled or another call holds it."""
        place = (claim.owner, claim.key)
        with self._gate:
            known = self._running.get(place)
            if known is not None and known.holder == claim.holder:
                del self._running[place]

    def sweep(self) -> None:
        """Forget what has expired."""
        with self._gate:
            self._forget_expired()

    def _make_room(self) -> None:
        if len(self._running) + len(self._settled) < self._most:
            return
        self._forget_expired()
        if len(self._running) + len(self._settled) < self._most:
            return
        if not self._settled:
            raise Overloaded("Too many calls with idempotency keys are running.", nothing_done=True)
        self._settled.popitem(last=False)

    def _forget_expired(self) -> None:
        for items in (self._running, self._settled):
            for place in [place for place, item in items.items() if self._is_expired(item)]:
                del items[place]

    def _is_expired(self, outcome: Outcome) -> bool:
        return self._ttl is not None and outcome.created_at <= self._now() - self._ttl

    def _forget(self, place: tuple[str, str]) -> None:
        self._running.pop(place, None)
        self._settled.pop(place, None)
