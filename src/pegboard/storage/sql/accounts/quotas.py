"""Quotas in a database."""

from collections.abc import Sequence

from sqlalchemy import delete, func, select

from pegboard.core.ports.accounts.quota_store import Quota, QuotaUsage
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.tables import QUOTA_USAGE as USAGE
from pegboard.storage.tables import QUOTAS

_CHUNK = 500


class SqlQuotas:
    """The `QuotaStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        self._database = database

    async def quotas(self) -> Sequence[Quota]:
        rows = await self._database.read(lambda it: it.all(select(QUOTAS.c.id, QUOTAS.c.body)))
        return [load(row.body, Quota) for row in sorted(rows, key=lambda row: row.id)]

    async def stamp(self) -> str:
        # with the sum: the latest change is not always the one that was stored last
        changed = QUOTAS.c.changed_at
        wanted = select(func.count(), func.max(changed), func.sum(changed)).select_from(QUOTAS)
        row = await self._database.read(lambda transaction: transaction.first(wanted))
        return "" if row is None else " ".join(map(str, row))

    async def put(self, quota: Quota) -> None:
        changed = {"changed_at": quota.changed_at, "body": dump(quota)}

        def put(transaction: Transaction) -> None:
            statement = transaction.insert(QUOTAS).values({"id": quota.key, **changed})
            transaction.execute(
                statement.on_conflict_do_update(index_elements=["id"], set_=changed)
            )

        await self._database.run(put, atomic=True)

    async def remove(self, key: str) -> bool:
        statement = delete(QUOTAS).where(QUOTAS.c.id == key)
        return await self._database.run(lambda it: it.execute(statement) > 0, atomic=True)

    async def add(self, usages: Sequence[QuotaUsage]) -> dict[str, float]:
        def add(transaction: Transaction) -> dict[str, float]:
            # in one order on all servers, so that none waits for another in a circle
            for item in sorted(usages, key=lambda usage: usage.counter):
                row = {"id": item.counter, "used": item.used, "ends_at": item.ends_at}
                statement = transaction.insert(USAGE).values(row)
                more = {"used": USAGE.c.used + statement.excluded.used}
                transaction.execute(
                    statement.on_conflict_do_update(index_elements=["id"], set_=more)
                )
            return _read_counters(transaction, [item.counter for item in usages])

        return await self._database.run(add, atomic=True)

    async def usage(self, *, at: float) -> Sequence[QuotaUsage]:
        wanted = select(USAGE).where(USAGE.c.ends_at > at)
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        found = [QuotaUsage(counter=row.id, used=row.used, ends_at=row.ends_at) for row in rows]
        return sorted(found, key=lambda item: item.counter)

    async def read_counters(self, counters: Sequence[str]) -> dict[str, float]:
        return await self._database.read(lambda it: _read_counters(it, counters))


def _read_counters(transaction: Transaction, counters: Sequence[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for start in range(0, len(counters), _CHUNK):
        part = list(counters[start : start + _CHUNK])
        rows = transaction.all(select(USAGE.c.id, USAGE.c.used).where(USAGE.c.id.in_(part)))
        found |= {row.id: row.used for row in rows}
    return found


def sweep_quotas(transaction: Transaction, before: float) -> None:
    """Forget windows that had ended by then."""
    transaction.execute(delete(USAGE).where(USAGE.c.ends_at <= before))
