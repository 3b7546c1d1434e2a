"""What servers share of sign-in: temporary records, and attempts that are counted."""

from collections.abc import Mapping

from sqlalchemy import delete, func, insert, select

from pegboard.core.ports.accounts.identity_store import TemporaryRecord
from pegboard.core.record_snapshot import clean_text
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.tables import SIGN_IN_ATTEMPTS, TEMPORARY_RECORDS

_RECORDS, _ATTEMPTS = TEMPORARY_RECORDS.c, SIGN_IN_ATTEMPTS.c


class SqlSignIns:
    """The part of an `IdentityStore` that holds what lives for a time."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep it there."""
        self._database = database

    async def put_record(self, record: TemporaryRecord) -> None:
        changed = {"expires_at": record.expires_at, "body": dump(record)}
        values = {"kind": record.kind, "id": clean_text(record.id), **changed}

        def put(transaction: Transaction) -> None:
            statement = transaction.insert(TEMPORARY_RECORDS).values(values)
            transaction.execute(
                statement.on_conflict_do_update(index_elements=["kind", "id"], set_=changed)
            )

        await self._database.run(put, atomic=True)

    async def record(self, kind: str, id: str, *, at: float) -> TemporaryRecord | None:  # noqa: A002 - it is known by its id
        return await self._database.read(lambda it: _find(it, kind, id, at))

    async def take_record(self, kind: str, id: str, *, at: float) -> TemporaryRecord | None:  # noqa: A002 - as above
        def take(transaction: Transaction) -> TemporaryRecord | None:
            found = _find(transaction, kind, id, at)
            wanted = (_RECORDS.kind == kind, _RECORDS.id == clean_text(id))
            is_mine = transaction.execute(delete(TEMPORARY_RECORDS).where(*wanted)) > 0
            return found if is_mine else None

        return await self._database.run(take, atomic=True)

    async def count_attempt(self, limits: Mapping[str, int], *, at: float, window: float) -> float:
        def count(transaction: Transaction) -> float:
            wait = 0.0
            for name in sorted(limits):
                is_it = (_ATTEMPTS.name == name, _ATTEMPTS.expires_at > at)
                wanted = select(
                    func.count().label("attempts"), func.min(_ATTEMPTS.expires_at).label("ends_at")
                ).where(*is_it)
                row = transaction.first(wanted)
                if row is not None and row.attempts >= limits[name]:
                    wait = max(wait, row.ends_at - at)
            if not wait:
                values = [{"name": name, "expires_at": at + window} for name in sorted(limits)]
                transaction.execute(insert(SIGN_IN_ATTEMPTS), values)
            return wait

        return await self._database.run(count, atomic=True)

    async def forget_attempts(self, name: str) -> None:
        statement = delete(SIGN_IN_ATTEMPTS).where(_ATTEMPTS.name == name)
        await self._database.run(lambda it: it.execute(statement), atomic=True)

    async def take_back_attempt(self, name: str) -> None:
        last = select(func.max(_ATTEMPTS.number)).where(_ATTEMPTS.name == name).scalar_subquery()
        statement = delete(SIGN_IN_ATTEMPTS).where(_ATTEMPTS.number == last)
        await self._database.run(lambda it: it.execute(statement), atomic=True)


def sweep_sign_ins(transaction: Transaction, before: float) -> None:
    """Delete records and attempts that have expired before a time."""
    for table in (TEMPORARY_RECORDS, SIGN_IN_ATTEMPTS):
        transaction.execute(delete(table).where(table.c.expires_at < before))


def _find(transaction: Transaction, kind: str, id_: str, at: float) -> TemporaryRecord | None:
    statement = select(TEMPORARY_RECORDS.c.body).where(
        _RECORDS.kind == kind, _RECORDS.id == clean_text(id_), _RECORDS.expires_at > at
    )
    row = transaction.first(statement)
    return None if row is None else load(row.body, TemporaryRecord)
