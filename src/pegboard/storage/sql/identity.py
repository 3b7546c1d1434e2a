"""Accounts and organisations in a database."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import structs
from sqlalchemy import Table, delete, or_, select, update

from pegboard.core.ports.identity_store import (
    ApiKey,
    Membership,
    NewIdentity,
    OneTimeLink,
    Organisation,
    User,
    UserSession,
)
from pegboard.core.record_snapshot import clean_text
from pegboard.errors import AccountNotFound, InvalidRequest
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction, Value
from pegboard.storage.json_text import dump, load
from pegboard.storage.tables import (
    API_KEYS,
    CLAIMED_NAMES,
    LINKS,
    MEMBERSHIPS,
    ORGANISATIONS,
    USER_SESSIONS,
    USERS,
)

Changed = TypeVar("Changed", User, ApiKey)


class SqlIdentity:
    """The `IdentityStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        self._database = database

    async def has_users(self) -> bool:
        found = await self._database.read(lambda it: it.first(select(USERS.c.id).limit(1)))
        return found is not None

    async def add(self, new: NewIdentity) -> None:
        await self._database.run(lambda transaction: _add(transaction, new))

    async def user(self, id: str) -> User | None:  # noqa: A002 - it is known by its id
        return await self._one(USERS, USERS.c.id == clean_text(id), User)

    async def find_user(self, login: str) -> User | None:
        name = clean_text(login.lower())
        is_it = or_(USERS.c.handle == name, USERS.c.email == name)
        return await self._one(USERS, is_it, User) if name else None

    async def users(self) -> Sequence[User]:
        found = await self._all(USERS, USERS.c.id != "", User)
        return sorted(found, key=lambda user: user.handle)

    async def update_user(self, id: str, changes: Mapping[str, Any]) -> User | None:  # noqa: A002 - as above
        return await self._change(USERS, USERS.c.id == clean_text(id), User, changes)

    async def organisation(self, handle: str) -> Organisation | None:
        is_it = ORGANISATIONS.c.handle == clean_text(handle)
        return await self._one(ORGANISATIONS, is_it, Organisation)

    async def organisations(self) -> Sequence[Organisation]:
        found = await self._all(ORGANISATIONS, ORGANISATIONS.c.handle != "", Organisation)
        return sorted(found, key=lambda organisation: organisation.handle)

    async def memberships(self, *, user: str = "", organisation: str = "") -> Sequence[Membership]:
        wanted = MEMBERSHIPS.c.user_id != ""
        if user:
            wanted &= MEMBERSHIPS.c.user_id == clean_text(user)
        if organisation:
            wanted &= MEMBERSHIPS.c.organisation == clean_text(organisation)
        found = await self._all(MEMBERSHIPS, wanted, Membership)
        return sorted(found, key=lambda member: (member.organisation, member.user))

    async def remove_membership(self, organisation: str, user: str) -> bool:
        statement = delete(MEMBERSHIPS).where(
            MEMBERSHIPS.c.organisation == clean_text(organisation),
            MEMBERSHIPS.c.user_id == clean_text(user),
        )
        return await self._database.run(lambda it: it.execute(statement) > 0, atomic=True)

    async def add_key(self, key: ApiKey) -> None:
        values = {
            "id": clean_text(key.id),
            "digest": key.digest,
            "user_id": clean_text(key.user),
            "body": dump(key),
        }
        await self._database.run(lambda it: it.execute(it.insert(API_KEYS).values(values)))

    async def update_key(self, id: str, changes: Mapping[str, Any]) -> ApiKey | None:  # noqa: A002 - as above
        is_it = API_KEYS.c.id == clean_text(id)
        return await self._change(API_KEYS, is_it, ApiKey, changes)

    async def key(self, digest: str) -> ApiKey | None:
        return await self._one(API_KEYS, API_KEYS.c.digest == digest, ApiKey)

    async def keys(self, user: str) -> Sequence[ApiKey]:
        statement = (
            select(API_KEYS.c.body)
            .where(API_KEYS.c.user_id == clean_text(user))
            .order_by(API_KEYS.c.number)
        )
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        return [load(row.body, ApiKey) for row in rows]

    async def put_session(self, session: UserSession) -> None:
        values = {
            "digest": session.digest,
            "user_id": clean_text(session.user),
            "expires_at": session.expires_at,
            "body": dump(session),
        }

        def put(transaction: Transaction) -> None:
            statement = transaction.insert(USER_SESSIONS).values(values)
            transaction.execute(statement.on_conflict_do_nothing(index_elements=["digest"]))

        await self._database.run(put, atomic=True)

    async def session(self, digest: str) -> UserSession | None:
        return await self._one(USER_SESSIONS, USER_SESSIONS.c.digest == digest, UserSession)

    async def end_sessions(self, *, user: str = "", digest: str = "") -> None:
        column = USER_SESSIONS.c.user_id if user else USER_SESSIONS.c.digest
        statement = delete(USER_SESSIONS).where(column == clean_text(user or digest))
        await self._database.run(lambda it: it.execute(statement), atomic=True)

    async def put_link(self, link: OneTimeLink) -> None:
        values = {
            "digest": link.digest,
            "expires_at": link.expires_at,
            "used_at": link.used_at,
            "body": dump(link),
        }

        def put(transaction: Transaction) -> None:
            statement = transaction.insert(LINKS).values(values)
            transaction.execute(statement.on_conflict_do_nothing(index_elements=["digest"]))

        await self._database.run(put, atomic=True)

    async def link(self, digest: str) -> OneTimeLink | None:
        statement = select(LINKS.c.body, LINKS.c.used_at).where(LINKS.c.digest == digest)
        row = await self._database.read(lambda transaction: transaction.first(statement))
        return (
            None
            if row is None
            else structs.replace(load(row.body, OneTimeLink), used_at=row.used_at)
        )

    async def use_link(self, digest: str, at: float) -> None:
        await self._database.run(lambda transaction: _use_link(transaction, digest, at))

    async def forget(self, *, before: float) -> None:
        await self._database.run(lambda transaction: sweep_identity(transaction, before))

    async def _one(self, table: Table, condition: Any, kind: type[Value]) -> Value | None:
        statement = select(table.c.body).where(condition)
        row = await self._database.read(lambda transaction: transaction.first(statement))
        return None if row is None else load(row.body, kind)

    async def _all(self, table: Table, condition: Any, kind: type[Value]) -> list[Value]:
        statement = select(table.c.body).where(condition)
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        return [load(row.body, kind) for row in rows]

    async def _change(
        self, table: Table, condition: Any, kind: type[Changed], changes: Mapping[str, Any]
    ) -> Changed | None:
        def change(transaction: Transaction) -> Changed | None:
            row = transaction.first(select(table.c.body).where(condition).with_for_update())
            if row is None:
                return None
            changed = structs.replace(load(row.body, kind), **changes)
            transaction.execute(update(table).where(condition).values(body=dump(changed)))
            return changed

        return await self._database.run(change, atomic=True)


def sweep_identity(transaction: Transaction, before: float) -> None:
    """Delete sessions and links that have expired before a time."""
    for table in (USER_SESSIONS, LINKS):
        transaction.execute(delete(table).where(table.c.expires_at < before))


def _add(transaction: Transaction, new: NewIdentity) -> None:
    if new.link:
        _use_link(transaction, new.link, new.at)
    for name in sorted(new.claims):  # in one order, so that two servers do not lock each other
        _insert(transaction, CLAIMED_NAMES, {"name": clean_text(name)}, name)
    user, organisation = new.user, new.organisation
    if user is not None:
        values = {"id": clean_text(user.id), "handle": user.handle, "email": user.email}
        _insert(transaction, USERS, {**values, "body": dump(user)}, user.handle)
    if organisation is not None:
        values = {"handle": organisation.handle, "body": dump(organisation)}
        _insert(transaction, ORGANISATIONS, values, organisation.handle)
    for member in new.memberships:
        values = {
            "organisation": clean_text(member.organisation),
            "user_id": clean_text(member.user),
            "body": dump(member),
        }
        statement = transaction.insert(MEMBERSHIPS).values(values)
        transaction.execute(
            statement.on_conflict_do_update(
                index_elements=["organisation", "user_id"], set_={"body": values["body"]}
            )
        )


def _insert(transaction: Transaction, table: Table, values: Mapping[str, Any], name: str) -> None:
    statement = transaction.insert(table).values(values).on_conflict_do_nothing()
    if not transaction.execute(statement):
        raise InvalidRequest(f"'{name}' is taken.")


def _use_link(transaction: Transaction, digest: str, at: float) -> None:
    can_be_used = (LINKS.c.digest == digest, LINKS.c.used_at.is_(None), LINKS.c.expires_at > at)
    if not transaction.execute(update(LINKS).where(*can_be_used).values(used_at=at)):
        raise AccountNotFound("The link was used before or has expired: ask for a new one.")
