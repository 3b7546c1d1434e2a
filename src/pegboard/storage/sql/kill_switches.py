"""Kill switches in a database."""

from collections.abc import Sequence

from sqlalchemy import delete, select

from pegboard.core.ports.kill_switch_store import Switch, SwitchKind
from pegboard.core.record_snapshot import clean_text
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.tables import SWITCHES as TABLE


class SqlSwitches:
    """The `SwitchStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        self._database = database

    async def put(self, switch: Switch) -> None:
        values = {
            "kind": switch.kind,
            "name": clean_text(switch.name),
            "reason": clean_text(switch.reason),
            "thrown_at": switch.at,
            "thrown_by": clean_text(switch.by),
        }
        given = {name: values[name] for name in values if name not in {"kind", "name"}}

        def put(transaction: Transaction) -> None:
            statement = transaction.insert(TABLE).values(values)
            transaction.execute(
                statement.on_conflict_do_update(index_elements=["kind", "name"], set_=given)
            )

        await self._database.run(put, atomic=True)

    async def remove(self, kind: SwitchKind, name: str) -> bool:
        statement = delete(TABLE).where(TABLE.c.kind == kind, TABLE.c.name == clean_text(name))

        def remove(transaction: Transaction) -> bool:
            return transaction.execute(statement) > 0

        return await self._database.run(remove, atomic=True)

    async def switches(self) -> Sequence[Switch]:
        wanted = select(TABLE)
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        found = [
            Switch(
                kind=row.kind,
                name=row.name,
                reason=row.reason,
                at=row.thrown_at,
                by=row.thrown_by,
            )
            for row in rows
        ]
        return sorted(found, key=lambda switch: (switch.kind, switch.name))
