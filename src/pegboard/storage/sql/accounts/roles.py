"""Roles of organisations in a database."""

from collections.abc import Sequence

from sqlalchemy import delete, select

from pegboard.core.ports.accounts.role_store import OwnRole
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.tables import ORGANISATION_ROLES as TABLE


class SqlRoles:
    """The `RoleStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        self._database = database

    async def roles(self, organisations: Sequence[str]) -> Sequence[OwnRole]:
        if not organisations:
            return []
        wanted = (
            select(TABLE.c.body)
            .where(TABLE.c.organisation.in_(list(organisations)))
            .order_by(TABLE.c.organisation, TABLE.c.name)
        )
        rows = await self._database.read(lambda transaction: transaction.all(wanted))
        return [load(row.body, OwnRole) for row in rows]

    async def put(self, role: OwnRole) -> None:
        values = {"organisation": role.organisation, "name": role.name, "body": dump(role)}

        def put(transaction: Transaction) -> None:
            statement = transaction.insert(TABLE).values(values)
            transaction.execute(
                statement.on_conflict_do_update(
                    index_elements=["organisation", "name"], set_={"body": values["body"]}
                )
            )

        await self._database.run(put, atomic=True)

    async def remove(self, organisation: str, name: str) -> bool:
        statement = delete(TABLE).where(TABLE.c.organisation == organisation, TABLE.c.name == name)
        return await self._database.run(lambda it: it.execute(statement) > 0, atomic=True)
