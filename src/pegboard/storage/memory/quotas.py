"""Quotas in memory."""

from collections.abc import Sequence

from msgspec import structs

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.accounts.quota_store import Quota, QuotaUsage


class MemoryQuotas:
    """A `QuotaStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._quotas: dict[str, Quota] = {}
        self._usage: dict[str, QuotaUsage] = {}
        self._changes = 0

    async def quotas(self) -> Sequence[Quota]:
        with self._gate:
            return [self._quotas[key] for key in sorted(self._quotas)]

    async def stamp(self) -> str:
        with self._gate:
            return str(self._changes)

    async def put(self, quota: Quota) -> None:
        with self._gate:
            self._quotas[quota.key] = quota
            self._changes += 1

    async def remove(self, key: str) -> bool:
        with self._gate:
            self._changes += 1
            return self._quotas.pop(key, None) is not None

    async def add(self, usages: Sequence[QuotaUsage]) -> dict[str, float]:
        with self._gate:
            for item in usages:
                known = self._usage.get(item.counter)
                used = item.used + (known.used if known is not None else 0.0)
                self._usage[item.counter] = structs.replace(item, used=used)
            return {item.counter: self._usage[item.counter].used for item in usages}

    async def usage(self, *, at: float) -> Sequence[QuotaUsage]:
        with self._gate:
            return [
                self._usage[name] for name in sorted(self._usage) if self._usage[name].ends_at > at
            ]

    async def read_counters(self, counters: Sequence[str]) -> dict[str, float]:
        with self._gate:
            return {name: self._usage[name].used for name in counters if name in self._usage}

    def sweep(self, *, before: float) -> None:
        """Forget windows that had ended by then."""
        with self._gate:
            self._usage = {
                name: item for name, item in self._usage.items() if item.ends_at > before
            }
