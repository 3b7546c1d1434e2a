"""Approved and held definitions in a database."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Table, and_, delete, or_, select, update

from pegboard.core.ports.catalogue_stores import HeldDefinition, Pin, PinDecision
from pegboard.core.record_snapshot import clean_text
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.tables import HELD_DEFINITIONS, PINS

_CHUNK = 200  # definitions in one statement


class SqlPins:
    """The `PinStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep it there."""
        self._database = database

    async def approve(self, pins: Sequence[Pin]) -> None:
        rows = [_pin_row(pin) for pin in pins]

        def approve(transaction: Transaction) -> None:
            _put(transaction, PINS, rows)
            for start in range(0, len(rows), _CHUNK):
                transaction.execute(_waiting(rows[start : start + _CHUNK]))

        await self._database.run(approve)

    async def hold(self, held: Sequence[HeldDefinition]) -> None:
        rows = [_row_of_held(item) for item in held]
        await self._database.run(lambda transaction: _put(transaction, HELD_DEFINITIONS, rows))

    async def decide(self, decisions: Sequence[PinDecision]) -> Sequence[PinDecision]:
        def decide(transaction: Transaction) -> list[PinDecision]:
            kept = [decision for decision in ordered if _takes(transaction, decision)]
            pins = [decision.then for decision in kept if isinstance(decision.then, Pin)]
            _put(transaction, PINS, [_pin_row(pin) for pin in pins])
            return kept

        # in one order, so that servers that do the same do not lock each other
        ordered = sorted(decisions, key=lambda item: (item.seen.source, item.seen.name))
        return await self._database.run(decide)

    async def drop(self, source: str, *, name: str = "", pins: bool = False) -> int:
        def drop(transaction: Transaction) -> int:
            if pins:
                transaction.execute(_of(delete(PINS), PINS, source, name))
            held = _of(delete(HELD_DEFINITIONS), HELD_DEFINITIONS, source, name)
            return transaction.execute(held)

        return await self._database.run(drop)

    async def pins(self, source: str = "") -> Sequence[Pin]:
        wanted = _of(select(PINS), PINS, source, "")
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        found = [
            Pin(
                source=row.source,
                name=row.name,
                digest=row.digest,
                definition=load(row.definition, dict[str, Any]),
                approved_at=row.approved_at,
                approved_by=row.approved_by,
            )
            for row in rows
        ]
        return sorted(found, key=lambda pin: (pin.source, pin.name))

    async def list_held(self, source: str = "") -> Sequence[HeldDefinition]:
        wanted = _of(select(HELD_DEFINITIONS), HELD_DEFINITIONS, source, "")
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        found = [
            HeldDefinition(
                source=row.source,
                name=row.name,
                digest=row.digest,
                definition=load(row.definition, dict[str, Any]),
                held_at=row.held_at,
                diff=load(row.diff, object),
            )
            for row in rows
        ]
        return sorted(found, key=lambda item: (item.source, item.name))


def _place(item: Pin | HeldDefinition) -> dict[str, Any]:
    return {
        "source": clean_text(item.source),
        "name": clean_text(item.name),
        "digest": item.digest,
        "definition": dump(item.definition),
    }


def _pin_row(pin: Pin) -> dict[str, Any]:
    by = clean_text(pin.approved_by)
    return _place(pin) | {"approved_at": pin.approved_at, "approved_by": by}


def _row_of_held(item: HeldDefinition) -> dict[str, Any]:
    return _place(item) | {"held_at": item.held_at, "diff": dump(item.diff)}


def _takes(transaction: Transaction, decision: PinDecision) -> bool:
    """Delete or replace the held definition, unless it has changed since it was read."""
    table, seen = HELD_DEFINITIONS.c, _row_of_held(decision.seen)
    columns = ("source", "name", "digest", "diff")
    is_seen = and_(*(table[name] == seen[name] for name in columns))
    if isinstance(decision.then, Pin):
        statement: Any = delete(HELD_DEFINITIONS).where(is_seen)
    else:
        statement = update(HELD_DEFINITIONS).where(is_seen).values(_row_of_held(decision.then))
    return transaction.execute(statement) > 0


def _put(transaction: Transaction, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    """Insert or replace rows in a fixed order, to avoid deadlocks between servers."""
    if not rows:
        return
    statement = transaction.insert(table)
    given = {name: statement.excluded[name] for name in rows[0] if name not in {"source", "name"}}
    transaction.execute(
        statement.on_conflict_do_update(index_elements=["source", "name"], set_=given),
        sorted(rows, key=lambda row: (row["source"], row["name"])),
    )


def _waiting(rows: Sequence[dict[str, Any]]) -> Any:
    """Delete what is held with the digest that is approved."""
    table = HELD_DEFINITIONS.c
    return delete(HELD_DEFINITIONS).where(
        or_(
            *(
                and_(
                    table.source == row["source"],
                    table.name == row["name"],
                    table.digest == row["digest"],
                )
                for row in rows
            )
        )
    )


def _of(statement: Any, table: Table, source: str, name: str) -> Any:
    if source:
        statement = statement.where(table.c.source == clean_text(source))
    return statement.where(table.c.name == clean_text(name)) if name else statement
