"""Credentials in a database."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs
from sqlalchemy import Row, delete, or_, select, update

from pegboard.core.credential import Credential
from pegboard.core.ports.accounts.credential_store import SealedSecret, StoredCredential
from pegboard.core.record_snapshot import clean_text
from pegboard.errors import InvalidRequest
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.tables import CREDENTIALS as TABLE

_WHOLE = select(TABLE.c.body, TABLE.c.sealed)


class SqlCredentials:
    """The `CredentialStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        self._database = database

    async def add(self, new: StoredCredential) -> None:
        about = new.about
        values = {
            "id": clean_text(about.id),
            "owner": clean_text(about.owner),
            "source": clean_text(about.source),
            "version": about.version,
            "sealed": dump(new.sealed),
            **_columns(about),
        }

        def add(transaction: Transaction) -> None:
            _lock_owner(transaction, about)
            statement = transaction.insert(TABLE).values(values).on_conflict_do_nothing()
            if not transaction.execute(statement):
                raise name_taken(about)
            if about.is_default:
                _take_default(transaction, about)

        await self._database.run(add)

    async def credential(self, id: str) -> StoredCredential | None:  # noqa: A002 - it is known by its id
        statement = _WHOLE.where(TABLE.c.id == clean_text(id))
        row = await self._database.read(lambda transaction: transaction.first(statement))
        return None if row is None else _read(row)

    async def credentials(self, *, owner: str = "", source: str = "") -> Sequence[StoredCredential]:
        statement = _WHOLE.order_by(TABLE.c.number)
        if owner:
            statement = statement.where(TABLE.c.owner == clean_text(owner))
        if source:
            statement = statement.where(TABLE.c.source == clean_text(source))
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        return [_read(row) for row in rows]

    async def find_usable(self, source: str, owner: str) -> Sequence[StoredCredential]:
        statement = _WHOLE.where(
            TABLE.c.source == clean_text(source),
            or_(TABLE.c.owner == clean_text(owner), TABLE.c.shared.is_(True)),
        ).order_by(TABLE.c.number)
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        return [_read(row) for row in rows]

    async def update(
        self,
        id: str,  # noqa: A002 - as above
        changes: Mapping[str, Any],
        *,
        sealed: SealedSecret | None = None,
        version: int | None = None,
    ) -> Credential | None:
        is_it = TABLE.c.id == clean_text(id)

        def change(transaction: Transaction) -> Credential | None:
            row = transaction.first(select(TABLE.c.body).where(is_it).with_for_update())
            if row is None:
                return None
            known = load(row.body, Credential)
            if version is not None and known.version != version:
                return None
            changed = change_credential(known, changes, sealed)
            if changed.name != known.name:
                _check_name(transaction, changed)
            values = _columns(changed)
            if sealed is not None:
                values |= {
                    "sealed": dump(sealed),
                    "version": changed.version,
                    "refreshed_until": None,
                }
            transaction.execute(update(TABLE).where(is_it).values(values))
            if changed.is_default and not known.is_default:
                _take_default(transaction, changed)
            return changed

        return await self._database.run(change)

    async def claim_refresh(self, id: str, *, version: int, now: float, until: float) -> bool:  # noqa: A002 - as above
        is_free = or_(TABLE.c.refreshed_until.is_(None), TABLE.c.refreshed_until <= now)
        statement = (
            update(TABLE)
            .where(TABLE.c.id == clean_text(id), TABLE.c.version == version, is_free)
            .values(refreshed_until=until)
        )
        return await self._database.run(lambda it: it.execute(statement) > 0)

    async def release_refresh(self, id: str) -> None:  # noqa: A002 - as above
        statement = update(TABLE).where(TABLE.c.id == clean_text(id)).values(refreshed_until=None)
        await self._database.run(lambda it: it.execute(statement), atomic=True)

    async def remove(self, id: str) -> bool:  # noqa: A002 - as above
        statement = delete(TABLE).where(TABLE.c.id == clean_text(id))
        return await self._database.run(lambda it: it.execute(statement) > 0, atomic=True)


def change_credential(
    known: Credential, changes: Mapping[str, Any], sealed: SealedSecret | None
) -> Credential:
    """The credential with its changes; a new value raises the version."""
    number = known.version if sealed is None else known.version + 1
    return structs.replace(known, **{**changes, "version": number})


def name_taken(about: Credential) -> InvalidRequest:
    """The error for a second credential of one name."""
    return InvalidRequest(
        f"You have a credential '{about.name[:100]}' for '{about.source}': choose another name."
    )


def _columns(about: Credential) -> dict[str, Any]:
    return {"name": clean_text(about.name), "shared": about.shared, "body": dump(about)}


def _read(row: "Row[Any]") -> StoredCredential:
    return StoredCredential(about=load(row.body, Credential), sealed=load(row.sealed, SealedSecret))


def _of_owner(about: Credential) -> tuple[Any, ...]:
    return (
        TABLE.c.owner == clean_text(about.owner),
        TABLE.c.source == clean_text(about.source),
    )


def _lock_owner(transaction: Transaction, about: Credential) -> None:
    """Lock the owner's others, so that one of two becomes the default."""
    statement = select(TABLE.c.id).where(*_of_owner(about)).order_by(TABLE.c.number)
    transaction.all(statement.with_for_update())


def _check_name(transaction: Transaction, about: Credential) -> None:
    statement = select(TABLE.c.id).where(*_of_owner(about), TABLE.c.name == clean_text(about.name))
    row = transaction.first(statement)
    if row is not None and row.id != about.id:
        raise name_taken(about)


def _take_default(transaction: Transaction, about: Credential) -> None:
    statement = select(TABLE.c.id, TABLE.c.body).where(*_of_owner(about)).with_for_update()
    for row in transaction.all(statement.order_by(TABLE.c.number)):
        other = load(row.body, Credential)
        if other.is_default and other.id != about.id:
            body = dump(structs.replace(other, is_default=False))
            transaction.execute(update(TABLE).where(TABLE.c.id == row.id).values(body=body))
