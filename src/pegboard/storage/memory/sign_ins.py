"""What lives for a time of sign-in, in memory."""

from collections.abc import Mapping

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.accounts.identity_store import TemporaryRecord


class MemorySignIns:
    """The part of an `IdentityStore` that holds what lives for a time. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._records: dict[tuple[str, str], TemporaryRecord] = {}
        self._attempts: dict[str, list[float]] = {}

    async def put_record(self, record: TemporaryRecord) -> None:
        with self._gate:
            self._records[record.kind, record.id] = record

    async def record(self, kind: str, id: str, *, at: float) -> TemporaryRecord | None:  # noqa: A002 - it is known by its id
        with self._gate:
            found = self._records.get((kind, id))
            return found if found is not None and found.expires_at > at else None

    async def take_record(self, kind: str, id: str, *, at: float) -> TemporaryRecord | None:  # noqa: A002 - as above
        with self._gate:
            found = self._records.pop((kind, id), None)
            return found if found is not None and found.expires_at > at else None

    async def count_attempt(self, limits: Mapping[str, int], *, at: float, window: float) -> float:
        with self._gate:
            wait = 0.0
            for name, most in limits.items():
                ends = [end for end in self._attempts.get(name, ()) if end > at]
                self._attempts[name] = ends
                if len(ends) >= most:
                    wait = max(wait, ends[0] - at)
            if not wait:
                for name in limits:
                    self._attempts[name].append(at + window)
            return wait

    async def forget_attempts(self, name: str) -> None:
        with self._gate:
            self._attempts.pop(name, None)

    async def take_back_attempt(self, name: str) -> None:
        with self._gate:
            if self._attempts.get(name):
                self._attempts[name].pop()

    def sweep(self, before: float) -> None:
        """Forget what has expired before a time; the caller has the gate."""
        records = self._records.items()
        self._records = {key: item for key, item in records if item.expires_at >= before}
        self._attempts = {
            name: ends for name, ends in self._attempts.items() if ends and ends[-1] >= before
        }
