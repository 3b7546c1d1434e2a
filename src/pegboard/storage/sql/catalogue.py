"""Versions of tools in a database, and which one each name means."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Row, delete, select, tuple_, update

from pegboard.core.ports.catalogue_stores import ToolVersion, VersionStatus
from pegboard.core.record_snapshot import clean_text
from pegboard.errors import InvalidRequest
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.tables import ACTIVE_TOOLS, REVISIONS, TOOL_VERSIONS

_NAME = "catalogue"
_CHUNK = 500  # names in one statement
_IN_ORDER = select(TOOL_VERSIONS).order_by(TOOL_VERSIONS.c.number)


class SqlCatalogue:
    """The `CatalogueStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep it there."""
        self._database = database

    async def add(self, versions: Sequence[ToolVersion]) -> None:
        rows = [_row(version) for version in versions]
        active = {row["name"]: row["version"] for row in rows}

        def add(transaction: Transaction) -> None:
            if not rows:
                return
            _bump(transaction)  # first: who writes the same names in another order waits here
            insert = transaction.insert(TOOL_VERSIONS).on_conflict_do_nothing(
                index_elements=["name", "version"]
            )
            transaction.execute(insert, rows)
            _refuse_others(transaction, rows)
            statement = transaction.insert(ACTIVE_TOOLS)
            transaction.execute(
                statement.on_conflict_do_update(
                    index_elements=["name"], set_={"version": statement.excluded.version}
                ),
                [{"name": name, "version": active[name]} for name in sorted(active)],
            )

        await self._database.run(add)

    async def activate(self, name: str, version: str) -> bool:
        values = {"name": clean_text(name), "version": clean_text(version)}

        def activate(transaction: Transaction) -> bool:
            if transaction.first(_one(name, version)) is None:
                return False
            transaction.execute(
                transaction.insert(ACTIVE_TOOLS)
                .values(values)
                .on_conflict_do_update(index_elements=["name"], set_={"version": values["version"]})
            )
            _bump(transaction)
            return True

        return await self._database.run(activate)

    async def deactivate(self, name: str) -> bool:
        statement = delete(ACTIVE_TOOLS).where(ACTIVE_TOOLS.c.name == clean_text(name))
        return await self._database.run(lambda transaction: _changed(transaction, statement))

    async def mark(
        self,
        name: str,
        version: str,
        *,
        status: VersionStatus,
        deprecated_at: float | None = None,
        deprecated_until: float | None = None,
    ) -> bool:
        statement = (
            update(TOOL_VERSIONS)
            .where(
                TOOL_VERSIONS.c.name == clean_text(name),
                TOOL_VERSIONS.c.version == clean_text(version),
            )
            .values(status=status, deprecated_at=deprecated_at, deprecated_until=deprecated_until)
        )
        return await self._database.run(lambda transaction: _changed(transaction, statement))

    async def active(self) -> Sequence[ToolVersion]:
        wanted = (
            select(TOOL_VERSIONS)
            .join(
                ACTIVE_TOOLS,
                (TOOL_VERSIONS.c.name == ACTIVE_TOOLS.c.name)
                & (TOOL_VERSIONS.c.version == ACTIVE_TOOLS.c.version),
            )
            .order_by(TOOL_VERSIONS.c.name)
        )
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        # Databases sort text each in its own way.
        return sorted((_version(row) for row in rows), key=lambda version: version.name)

    async def versions(self, name: str = "") -> Sequence[ToolVersion]:
        wanted = _IN_ORDER
        if name:
            wanted = wanted.where(TOOL_VERSIONS.c.name == clean_text(name))
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return [_version(row) for row in rows]

    async def version(self, name: str, version: str) -> ToolVersion | None:
        row = await self._database.read(lambda transaction: transaction.first(_one(name, version)))
        return None if row is None else _version(row)

    async def revision(self) -> int:
        wanted = select(REVISIONS.c.number).where(REVISIONS.c.name == _NAME)
        row = await self._database.read(lambda transaction: transaction.first(wanted))
        return 0 if row is None else row.number


def _one(name: str, version: str) -> Any:
    return select(TOOL_VERSIONS).where(
        TOOL_VERSIONS.c.name == clean_text(name), TOOL_VERSIONS.c.version == clean_text(version)
    )


def _refuse_others(transaction: Transaction, rows: Sequence[dict[str, Any]]) -> None:
    """Refuse a version that exists with another definition, also from another server."""
    table = TOOL_VERSIONS.c
    for chunk in _chunks(rows):
        places = [(row["name"], row["version"]) for row in chunk]
        wanted = select(table.name, table.version, table.digest).where(
            tuple_(table.name, table.version).in_(places)
        )
        kept = {(row.name, row.version): row.digest for row in transaction.all(wanted)}
        for row in chunk:
            if kept.get((row["name"], row["version"]), row["digest"]) != row["digest"]:
                raise InvalidRequest(
                    f"'{row['name']}' has a version {row['version']} already with a different "
                    "definition: give this one a new version"
                )


def _chunks(rows: Sequence[dict[str, Any]]) -> Iterable[Sequence[dict[str, Any]]]:
    return (rows[start : start + _CHUNK] for start in range(0, len(rows), _CHUNK))


def _changed(transaction: Transaction, statement: Any) -> bool:
    if not transaction.execute(statement):
        return False
    _bump(transaction)
    return True


def _bump(transaction: Transaction) -> None:
    statement = transaction.insert(REVISIONS).values(name=_NAME, number=1)
    transaction.execute(
        statement.on_conflict_do_update(
            index_elements=["name"], set_={"number": REVISIONS.c.number + 1}
        )
    )


def _row(version: ToolVersion) -> dict[str, Any]:
    return {
        "name": clean_text(version.name),
        "version": clean_text(version.version),
        "digest": version.digest,
        "definition": dump(version.definition),
        "created_at": version.created_at,
        "created_by": clean_text(version.created_by),
        "origin": clean_text(version.origin),
        "status": version.status,
        "deprecated_at": version.deprecated_at,
        "deprecated_until": version.deprecated_until,
    }


def _version(row: Row[Any]) -> ToolVersion:
    return ToolVersion(
        name=row.name,
        version=row.version,
        digest=row.digest,
        definition=load(row.definition, dict[str, Any]),
        created_at=row.created_at,
        created_by=row.created_by,
        origin=row.origin,
        status=row.status,
        deprecated_at=row.deprecated_at,
        deprecated_until=row.deprecated_until,
    )
