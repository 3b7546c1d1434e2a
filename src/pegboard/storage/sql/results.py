"""Stored results behind handles, until they expire."""

from typing import Any

from sqlalchemy import delete, func, select

from pegboard.core.ports.call_stores import StoredResult
from pegboard.core.ports.clock import Clock
from pegboard.core.principal import expand_owner
from pegboard.core.record_snapshot import clean_text
from pegboard.errors import Unavailable
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.tables import RESULTS as TABLE


class SqlResults:
    """The results of one database."""

    def __init__(self, database: StorageDatabase, *, clock: Clock, quota: int) -> None:
        """Read and write there; `quota` is the number of bytes of one owner, 0 for no limit."""
        self._database = database
        self._quota = quota
        self._clock = clock

    async def put(self, result: StoredResult) -> None:
        """Keep it until it expires, or until the room is needed for later results of its owner.

        Raises:
            Unavailable: It could not be stored, or is larger than the quota of its owner.
        """
        if 0 < self._quota < len(result.body):
            raise Unavailable(
                f"A result of {len(result.body)} bytes is larger than the {self._quota} bytes "
                "that a caller may store (PEGBOARD_MAX_STORED_BYTES).",
                nothing_done=True,
            )
        values = {
            "handle": clean_text(result.handle),
            "owner": clean_text(result.owner),
            "media_type": clean_text(result.media_type),
            "name": clean_text(result.name),
            "created_at": result.created_at,
            "expires_at": result.expires_at,
            "body": result.body,
            "size": len(result.body),
        }
        given = {name: values[name] for name in values if name != "handle"}

        def put(transaction: Transaction) -> None:
            if self._quota:
                _make_room(transaction, values, self._quota)
            statement = transaction.insert(TABLE).values(values)
            transaction.execute(
                statement.on_conflict_do_update(index_elements=["handle"], set_=given)
            )

        await self._database.run(put, atomic=True)

    async def get(self, handle: str, owner: str) -> StoredResult | None:
        """Return a result; None if it is unknown, expired or of another caller."""
        wanted = select(TABLE).where(
            TABLE.c.handle == clean_text(handle),
            TABLE.c.owner.in_(map(clean_text, expand_owner(owner))),
            TABLE.c.expires_at > self._clock.time(),
        )
        row = await self._database.read(lambda transaction: transaction.first(wanted))
        if row is None:
            return None
        return StoredResult(
            handle=handle,
            owner=owner,
            media_type=row.media_type,
            name=row.name,
            created_at=row.created_at,
            expires_at=row.expires_at,
            body=row.body,
        )


def _make_room(transaction: Transaction, new: dict[str, Any], quota: int) -> None:
    """Delete the oldest results of an owner that do not fit beside a new one."""
    sizes = (
        select(
            TABLE.c.handle,
            func.sum(TABLE.c.size)
            .over(order_by=[TABLE.c.created_at.desc(), TABLE.c.handle.desc()])
            .label("total"),
        )
        .where(TABLE.c.owner == new["owner"], TABLE.c.handle != new["handle"])
        .subquery()
    )
    too_old = select(sizes.c.handle).where(sizes.c.total > quota - new["size"])
    transaction.execute(delete(TABLE).where(TABLE.c.handle.in_(too_old)))


def sweep_results(transaction: Transaction, now: float) -> None:
    """Delete expired results."""
    transaction.execute(delete(TABLE).where(TABLE.c.expires_at <= now))
