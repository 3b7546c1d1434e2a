"""Stored resources in a database: the only queries of their tables."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, delete, select, update

from pegboard.core.ports.accounts.resource_store import (
    PublishStatus,
    ResourceChanges,
    ResourceKind,
    StoredResource,
    Subscription,
)
from pegboard.core.principal import Principal
from pegboard.core.record_snapshot import clean_text
from pegboard.errors import InvalidRequest
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.sql.accounts.visibility import where_visible
from pegboard.storage.tables import (
    RESOURCE_DEFINITIONS,
    RESOURCE_VERSION,
    RESOURCES,
    SUBSCRIPTIONS,
)

_COLUMNS = ("kind", "owner", "organisation", "visibility", "publish_status")


class SqlResources:
    """The `ResourceStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        self._database = database

    async def add(self, resource: StoredResource) -> None:
        def add(transaction: Transaction) -> None:
            values = _values(resource, _count_change(transaction))
            statement = transaction.insert(RESOURCES).values(values)
            if not transaction.execute(statement.on_conflict_do_nothing()):
                raise InvalidRequest(f"'{resource.name}' is taken.")

        await self._database.run(add, atomic=True)

    async def replace(self, resource: StoredResource, *, keep_definitions: bool = True) -> bool:
        before = (
            RESOURCES.c.id == clean_text(resource.id),
            RESOURCES.c.revision == resource.revision - 1,
        )

        def replace(transaction: Transaction) -> bool:
            version = _count_change(transaction)
            values = _values(resource, version)
            if not transaction.execute(update(RESOURCES).where(*before).values(values)):
                return False
            if not keep_definitions:
                _put_definitions(transaction, resource.id, (), version)
            return True

        return await self._database.run(replace, atomic=True)

    async def delete(self, id: str) -> bool:  # noqa: A002 - it is known by its id
        wanted = clean_text(id)

        def remove(transaction: Transaction) -> bool:
            _count_change(transaction)
            transaction.execute(delete(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.resource == wanted))
            transaction.execute(
                delete(RESOURCE_DEFINITIONS).where(RESOURCE_DEFINITIONS.c.resource == wanted)
            )
            return transaction.execute(delete(RESOURCES).where(RESOURCES.c.id == wanted)) > 0

        return await self._database.run(remove, atomic=True)

    async def get(self, id: str) -> StoredResource | None:  # noqa: A002 - as above
        statement = select(RESOURCES.c.body).where(RESOURCES.c.id == clean_text(id))
        row = await self._database.read(lambda transaction: transaction.first(statement))
        return None if row is None else load(row.body, StoredResource)

    async def list_visible(
        self, principal: Principal, *, kind: ResourceKind | None = None
    ) -> Sequence[StoredResource]:
        wanted = where_visible(principal)
        if kind is not None:
            wanted &= RESOURCES.c.kind == kind
        return await self._list(wanted)

    async def list_published(self, status: PublishStatus) -> Sequence[StoredResource]:
        return await self._list(RESOURCES.c.publish_status == status)

    async def subscribe(self, subscription: Subscription) -> None:
        values = {
            "resource": clean_text(subscription.resource),
            "user_id": clean_text(subscription.user),
        }

        def subscribe(transaction: Transaction) -> None:
            _count_change(transaction)
            statement = transaction.insert(SUBSCRIPTIONS).values(values)
            transaction.execute(statement.on_conflict_do_nothing())

        await self._database.run(subscribe, atomic=True)

    async def unsubscribe(self, subscription: Subscription) -> bool:
        statement = delete(SUBSCRIPTIONS).where(
            SUBSCRIPTIONS.c.resource == clean_text(subscription.resource),
            SUBSCRIPTIONS.c.user_id == clean_text(subscription.user),
        )

        def unsubscribe(transaction: Transaction) -> bool:
            _count_change(transaction)
            return transaction.execute(statement) > 0

        return await self._database.run(unsubscribe, atomic=True)

    async def put_definitions(
        self,
        id: str,  # noqa: A002 - as above
        definitions: Sequence[Mapping[str, Any]],
    ) -> None:
        def put(transaction: Transaction) -> None:
            _put_definitions(transaction, id, definitions, _count_change(transaction))

        await self._database.run(put, atomic=True)

    async def version(self) -> int:
        return await self._database.read(_read_version)

    async def changes(self, after: int = 0) -> ResourceChanges:
        return await self._database.read(lambda transaction: _read_changes(transaction, after))

    async def _list(self, wanted: "ColumnElement[bool]") -> Sequence[StoredResource]:
        statement = select(RESOURCES.c.body).where(wanted)
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        return _sort(load(row.body, StoredResource) for row in rows)


def _values(resource: StoredResource, version: int) -> dict[str, Any]:
    return {
        "id": clean_text(resource.id),
        "name": clean_text(resource.name),
        **{name: clean_text(getattr(resource, name)) for name in _COLUMNS},
        "revision": resource.revision,
        "version": version,
        "body": dump(resource),
    }


def _put_definitions(
    transaction: Transaction,
    resource: str,
    definitions: Sequence[Mapping[str, Any]],
    version: int,
) -> None:
    values = {"version": version, "body": dump(tuple(definitions))}
    statement = transaction.insert(RESOURCE_DEFINITIONS)
    transaction.execute(
        statement.values(resource=clean_text(resource), **values).on_conflict_do_update(
            index_elements=["resource"], set_=values
        )
    )


def _count_change(transaction: Transaction) -> int:
    """The version of a change; it comes first, so that changes are committed in this order."""
    statement = transaction.insert(RESOURCE_VERSION).values(id=1, version=1)
    transaction.execute(
        statement.on_conflict_do_update(
            index_elements=["id"], set_={"version": RESOURCE_VERSION.c.version + 1}
        )
    )
    return _read_version(transaction)


def _read_version(transaction: Transaction) -> int:
    row = transaction.first(select(RESOURCE_VERSION.c.version))
    return 0 if row is None else row.version


def _read_changes(transaction: Transaction, after: int) -> ResourceChanges:
    version = _read_version(transaction)  # first: what comes later is read again
    ids = transaction.all(select(RESOURCES.c.id))
    resources = transaction.all(select(RESOURCES.c.body).where(RESOURCES.c.version > after))
    definitions = transaction.all(
        select(RESOURCE_DEFINITIONS).where(RESOURCE_DEFINITIONS.c.version > after)
    )
    subscriptions = transaction.all(select(SUBSCRIPTIONS))
    return ResourceChanges(
        version=version,
        ids=frozenset(row.id for row in ids),
        resources=tuple(_sort(load(row.body, StoredResource) for row in resources)),
        definitions={
            row.resource: tuple(load(row.body, list[dict[str, Any]])) for row in definitions
        },
        subscriptions=tuple(
            Subscription(resource=row.resource, user=row.user_id) for row in subscriptions
        ),
    )


def _sort(resources: Iterable[StoredResource]) -> list[StoredResource]:
    return sorted(resources, key=lambda item: (item.kind, item.name))
