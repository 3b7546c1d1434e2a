"""Results and outcomes in memory."""

from pegboard.core.ports.clock import Clock
from pegboard.core.ports.store import Outcome, StoredResult
from pegboard.core.result import ToolResult
from pegboard.errors import Overloaded, Unavailable
from pegboard.storage.codec import dump_result, load_result
from pegboard.storage.gate import Gate


class MemoryResults:
    """Stored results, at most so many bytes together."""

    def __init__(self, gate: Gate, *, clock: Clock, max_bytes: int) -> None:
        self._gate = gate
        self._clock = clock
        self._max_bytes = max_bytes
        self._bytes = 0
        self._results: dict[str, StoredResult] = {}

    async def put(self, result: StoredResult) -> None:
        if len(result.body) > self._max_bytes:
            raise Unavailable(
                f"A result of {len(result.body)} bytes does not fit into memory: "
                "a board with a data directory can keep it.",
                nothing_done=True,
            )
        with self._gate:
            self._forget(result.handle)
            if self._bytes + len(result.body) > self._max_bytes:
                self.sweep()
            while self._bytes + len(result.body) > self._max_bytes:
                self._forget(next(iter(self._results)))
            self._results[result.handle] = result
            self._bytes += len(result.body)

    async def get(self, handle: str, owner: str) -> StoredResult | None:
        with self._gate:
            result = self._results.get(handle)
        if result is None or result.owner != owner or result.expires_at <= self._clock.time():
            return None
        return result

    def sweep(self) -> None:
        now = self._clock.time()
        for handle in [key for key, item in self._results.items() if item.expires_at <= now]:
            self._forget(handle)

    def _forget(self, handle: str) -> None:
        result = self._results.pop(handle, None)
        if result is not None:
            self._bytes -= len(result.body)


class MemoryOutcomes:
    """First outcomes; results as text, so that nobody who holds one can change it."""

    def __init__(self, gate: Gate, *, clock: Clock, ttl: float, bound: int) -> None:
        self._gate = gate
        self._clock = clock
        self._ttl = ttl
        self._bound = bound
        self._claims: dict[tuple[str, str], Outcome] = {}
        self._texts: dict[tuple[str, str], str] = {}

    async def claim(self, outcome: Outcome) -> Outcome | None:
        place = (outcome.owner, outcome.key)
        with self._gate:
            holder = self._claims.get(place)
            if holder is None or self._expired(holder):
                self._forget(place)
                self._make_room()
                self._claims[place] = outcome
                return None
            text = self._texts.get(place)
        return Outcome(
            key=holder.key,
            owner=holder.owner,
            tool=holder.tool,
            digest=holder.digest,
            created_at=holder.created_at,
            result=None if text is None else load_result(text),
        )

    async def settle(self, owner: str, key: str, result: ToolResult) -> None:
        text = dump_result(result)
        with self._gate:
            if (owner, key) in self._claims:
                self._texts[owner, key] = text

    async def release(self, owner: str, key: str) -> None:
        with self._gate:
            if (owner, key) not in self._texts:
                self._claims.pop((owner, key), None)

    def sweep(self) -> None:
        for place in [place for place, item in self._claims.items() if self._expired(item)]:
            self._forget(place)

    def _expired(self, outcome: Outcome) -> bool:
        return outcome.created_at <= self._clock.time() - self._ttl

    def _make_room(self) -> None:
        if len(self._claims) < self._bound:
            return
        self.sweep()
        if len(self._claims) < self._bound:
            return
        settled = next(iter(self._texts), None)
        if settled is None:
            raise Overloaded("Too many calls with idempotency keys are running.", nothing_done=True)
        self._forget(settled)

    def _forget(self, place: tuple[str, str]) -> None:
        self._claims.pop(place, None)
        self._texts.pop(place, None)
