"""Rows of files in a database."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, delete, func, or_, select, tuple_, update

from pegboard.core.pagination import check_page_size, decode_position, encode_cursor
from pegboard.core.ports.accounts.file_store import (
    FilePage,
    FileQuery,
    FileQuota,
    FileRecord,
    FileUsage,
    check_quota,
)
from pegboard.core.principal import Principal
from pegboard.core.record_snapshot import clean_text
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.tables import FILES as TABLE

_LOCKS = 15
"""The space of the advisory locks of owners in PostgreSQL."""
_TEXTS = ("owner", "organisation", "state", "purpose", "digest")
_NUMBERS = ("size", "revision", "created_at", "updated_at")


class SqlFiles:
    """The `FileStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        self._database = database

    async def add(self, file: FileRecord, *, quota: FileQuota) -> None:
        values = {"id": clean_text(file.id), **_values(file)}

        def add(transaction: Transaction) -> None:
            _check_quota(transaction, file, quota)
            transaction.execute(transaction.insert(TABLE).values(values))

        await self._database.run(add, atomic=True)

    async def get(self, id: str) -> FileRecord | None:  # noqa: A002 - it is known by its id
        statement = select(TABLE.c.body).where(TABLE.c.id == clean_text(id))
        row = await self._database.read(lambda transaction: transaction.first(statement))
        return None if row is None else load(row.body, FileRecord)

    async def replace(self, file: FileRecord, *, quota: FileQuota | None = None) -> bool:
        statement = (
            update(TABLE)
            .where(TABLE.c.id == clean_text(file.id), TABLE.c.revision == file.revision - 1)
            .values(_values(file))
        )

        def replace(transaction: Transaction) -> bool:
            if quota is not None:
                _check_quota(transaction, file, quota)
            return transaction.execute(statement) > 0

        return await self._database.run(replace, atomic=True)

    async def remove(self, id: str) -> bool:  # noqa: A002 - as above
        statement = delete(TABLE).where(TABLE.c.id == clean_text(id))
        return await self._database.run(lambda it: it.execute(statement) > 0, atomic=True)

    async def list(self, query: FileQuery) -> FilePage:
        limit, last = check_page_size(query.limit), decode_position(query.cursor)
        wanted = [_is_visible(query.principal, shared=query.state == "ready")]
        wanted.append(TABLE.c.state == query.state)
        if query.purpose:
            wanted.append(TABLE.c.purpose == clean_text(query.purpose))
        if query.digest:
            wanted.append(TABLE.c.digest == clean_text(query.digest))
        if last is not None:
            wanted.append(tuple_(TABLE.c.created_at, TABLE.c.number) < last)
        statement = (
            select(TABLE.c.number, TABLE.c.created_at, TABLE.c.body)
            .where(*wanted)
            .order_by(TABLE.c.created_at.desc(), TABLE.c.number.desc())
            .limit(limit + 1)
        )
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        page, has_more = rows[:limit], len(rows) > limit
        return FilePage(
            files=[load(row.body, FileRecord) for row in page],
            next_cursor=encode_cursor(page[-1].created_at, page[-1].number) if has_more else "",
        )

    async def usage(self, owner: str) -> FileUsage:
        return await self._database.read(lambda transaction: _usage(transaction, owner))

    async def list_idle(self, *, before: float, limit: int) -> Sequence[FileRecord]:
        statement = (
            select(TABLE.c.body)
            .where(TABLE.c.state != "ready", TABLE.c.updated_at < before)
            .order_by(TABLE.c.updated_at, TABLE.c.number)
            .limit(limit)
        )
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        return [load(row.body, FileRecord) for row in rows]


def _values(file: FileRecord) -> dict[str, Any]:
    return {
        **{name: clean_text(getattr(file, name)) for name in _TEXTS},
        **{name: getattr(file, name) for name in _NUMBERS},
        "body": dump(file),
    }


def _is_visible(principal: Principal, *, shared: bool) -> "ColumnElement[bool]":
    """The condition of `FileRecord.is_visible_to`."""
    is_own = TABLE.c.owner == clean_text(principal.owner)
    organisations = sorted(map(clean_text, principal.organisations - {""}))
    if not (shared and organisations):
        return is_own
    return or_(is_own, TABLE.c.organisation.in_(organisations))


def _check_quota(transaction: Transaction, file: FileRecord, quota: FileQuota) -> None:
    """Judge what an owner would store, one transaction of an owner after the other."""
    if transaction.database == "postgresql":
        lock = func.pg_advisory_xact_lock(_LOCKS, func.hashtext(clean_text(file.owner)))
        transaction.first(select(lock))
    check_quota(_usage(transaction, file.owner, but=file.id), file, quota)


def _usage(transaction: Transaction, owner: str, *, but: str = "") -> FileUsage:
    size = func.coalesce(func.sum(TABLE.c.size), 0).label("bytes")
    statement = select(func.count().label("files"), size).where(
        TABLE.c.owner == clean_text(owner),
        TABLE.c.state != "deleting",
        TABLE.c.id != clean_text(but),
    )
    row = transaction.first(statement)
    return FileUsage() if row is None else FileUsage(files=int(row.files), bytes=int(row.bytes))
