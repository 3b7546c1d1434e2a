"""Accounts and organisations in a database."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import structs
from sqlalchemy import Select, Table, TableClause, column, delete, or_, select, update

from pegboard.access.roles import (
    LAST_ADMINISTRATOR,
    LAST_OPERATOR,
    is_last_administrator,
    is_last_operator,
)
from pegboard.core.ports.accounts.identity_store import (
    USES,
    ApiKey,
    LinkedIdentity,
    Membership,
    NewIdentity,
    OneTimeLink,
    Organisation,
    User,
    UserSession,
    replace_cookie,
)
from pegboard.core.record_snapshot import clean_text
from pegboard.errors import AccountNotFound, InvalidRequest
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction, Value
from pegboard.storage.json_text import dump, load
from pegboard.storage.sql.accounts.sign_ins import SqlSignIns, sweep_sign_ins
from pegboard.storage.tables import (
    API_KEYS,
    CLAIMED_NAMES,
    IDENTITY_REVISION,
    LINKED_IDENTITIES,
    LINKS,
    MEMBERSHIPS,
    ORGANISATIONS,
    USER_SESSIONS,
    USERS,
)

_SQLITE_TABLES = TableClause("sqlite_master", column("name"))

Changed = TypeVar("Changed", User, ApiKey, UserSession)
_REVISION = 1


def read_has_users(transaction: Transaction) -> bool:
    """Whether a SQLite file has accounts; one from before there were any has no table of them."""
    is_table = select(_SQLITE_TABLES.c.name).where(_SQLITE_TABLES.c.name == USERS.name)
    if transaction.first(is_table) is None:
        return False
    return transaction.first(select(USERS.c.id).limit(1)) is not None


class SqlIdentity(SqlSignIns):
    """The `IdentityStore` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        super().__init__(database)

    async def has_users(self) -> bool:
        found = await self._database.read(lambda it: it.first(select(USERS.c.id).limit(1)))
        return found is not None

    async def revision(self) -> int:
        statement = select(IDENTITY_REVISION.c.revision)
        row = await self._database.read(lambda transaction: transaction.first(statement))
        return 0 if row is None else int(row.revision)

    async def add(self, new: NewIdentity) -> None:
        await self._database.run(lambda transaction: _add(transaction, new))

    async def user(self, id: str) -> User | None:  # noqa: A002 - it is known by its id
        return await self._one(USERS, USERS.c.id == clean_text(id), User)

    async def find_user(self, login: str) -> User | None:
        name = clean_text(login.lower())
        is_it = or_(USERS.c.handle == name, USERS.c.email == name)
        return await self._one(USERS, is_it, User) if name else None

    async def users(self, ids: Sequence[str] | None = None) -> Sequence[User]:
        is_one = (
            USERS.c.id != "" if ids is None else USERS.c.id.in_([clean_text(id_) for id_ in ids])
        )
        found = await self._all(USERS, is_one, User)
        return sorted(found, key=lambda user: user.handle)

    async def update_user(
        self,
        id: str,  # noqa: A002 - as above
        changes: Mapping[str, Any],
        *,
        keeps_operator: bool = False,
    ) -> User | None:
        def check(transaction: Transaction) -> None:
            rows = transaction.all(_in_order(USERS, USERS.c.id != "", USERS.c.id))
            if is_last_operator([load(row.body, User) for row in rows], id):
                raise InvalidRequest(LAST_OPERATOR)

        is_it = USERS.c.id == clean_text(id)
        first = check if keeps_operator else None
        return await self._change(USERS, is_it, User, changes, first=first)

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

        def remove(transaction: Transaction) -> bool:
            _check_administrators(transaction, organisation, user)
            _raise_revision(transaction)
            return transaction.execute(statement) > 0

        return await self._database.run(remove, atomic=True)

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

    async def renew_key(self, id: str, *, digest: str, expires_at: float) -> ApiKey | None:  # noqa: A002 - as above
        is_it = API_KEYS.c.id == clean_text(id)

        def renew(transaction: Transaction) -> ApiKey | None:
            row = transaction.first(select(API_KEYS.c.body).where(is_it).with_for_update())
            known = None if row is None else load(row.body, ApiKey)
            if known is None or known.revoked_at is not None:
                return None
            renewed = structs.replace(known, digest=digest, expires_at=expires_at)
            values = {"digest": digest, "body": dump(renewed)}
            transaction.execute(update(API_KEYS).where(is_it).values(values))
            return renewed

        return await self._database.run(renew, atomic=True)

    async def key(self, digest: str) -> ApiKey | None:
        return await self._one(API_KEYS, API_KEYS.c.digest == digest, ApiKey)

    async def get_key(self, id: str) -> ApiKey | None:  # noqa: A002 - as above
        return await self._one(API_KEYS, API_KEYS.c.id == clean_text(id), ApiKey)

    async def keys(self, user: str) -> Sequence[ApiKey]:
        statement = (
            select(API_KEYS.c.body)
            .where(API_KEYS.c.user_id == clean_text(user))
            .order_by(API_KEYS.c.number)
        )
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        return [load(row.body, ApiKey) for row in rows]

    async def put_session(self, session: UserSession) -> None:
        await self._database.run(lambda it: _put_session(it, session), atomic=True)

    async def session(self, digest: str) -> UserSession | None:
        return await self._one(USER_SESSIONS, USER_SESSIONS.c.digest == digest, UserSession)

    async def sessions(self, user: str) -> Sequence[UserSession]:
        wanted = USER_SESSIONS.c.user_id == clean_text(user)
        found = await self._all(USER_SESSIONS, wanted, UserSession)
        return sorted(found, key=lambda session: session.created_at)

    async def replace_session(self, digest: str, new: UserSession, *, until: float) -> bool:
        is_it = USER_SESSIONS.c.digest == digest

        def replace(transaction: Transaction) -> bool:
            row = transaction.first(select(USER_SESSIONS.c.body).where(is_it).with_for_update())
            known = None if row is None else load(row.body, UserSession)
            if known is None or known.replaced:
                return False
            old = structs.replace(known, replaced=True, expires_at=until)
            values = {"expires_at": until, "body": dump(old)}
            transaction.execute(update(USER_SESSIONS).where(is_it).values(values))
            _put_session(transaction, replace_cookie(known, new))
            return True

        return await self._database.run(replace, atomic=True)

    async def update_session(self, digest: str, changes: Mapping[str, Any]) -> UserSession | None:
        is_it = USER_SESSIONS.c.digest == digest
        return await self._change(USER_SESSIONS, is_it, UserSession, changes)

    async def end_sessions(self, *, user: str = "", digest: str = "", id: str = "") -> None:  # noqa: A002 - as above
        is_it = USER_SESSIONS.c.user_id if user else USER_SESSIONS.c.digest

        wanted = _in_order(
            USER_SESSIONS, is_it == clean_text(user or digest), USER_SESSIONS.c.digest
        )

        def end(transaction: Transaction) -> None:
            is_first = True
            # again until there is none: while the rows were waited for, one may have got a new
            # cookie, whose row is younger than the look for them
            while ended := _list_ended(transaction.all(wanted), id):
                gone = USER_SESSIONS.c.digest.in_(ended)
                transaction.execute(delete(USER_SESSIONS).where(gone))
                if is_first:
                    _raise_revision(transaction)
                is_first = False

        await self._database.run(end, atomic=True)

    async def find_linked(self, issuer: str, subject: str) -> LinkedIdentity | None:
        is_it = (LINKED_IDENTITIES.c.issuer == clean_text(issuer)) & (
            LINKED_IDENTITIES.c.subject == clean_text(subject)
        )
        return await self._one(LINKED_IDENTITIES, is_it, LinkedIdentity)

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
        self,
        table: Table,
        condition: Any,
        kind: type[Changed],
        changes: Mapping[str, Any],
        *,
        first: Callable[[Transaction], None] | None = None,
    ) -> Changed | None:
        def change(transaction: Transaction) -> Changed | None:
            if first is not None:
                first(transaction)
            row = transaction.first(select(table.c.body).where(condition).with_for_update())
            if row is None:
                return None
            changed = structs.replace(load(row.body, kind), **changes)
            transaction.execute(update(table).where(condition).values(body=dump(changed)))
            if not USES.issuperset(changes):
                _raise_revision(transaction)
            return changed

        return await self._database.run(change, atomic=True)


def sweep_identity(transaction: Transaction, before: float) -> None:
    """Delete sessions and links that have expired before a time."""
    for table in (USER_SESSIONS, LINKS):
        transaction.execute(delete(table).where(table.c.expires_at < before))
    sweep_sign_ins(transaction, before)


def _list_ended(rows: Sequence[Any], id_: str) -> list[str]:
    found = [load(row.body, UserSession) for row in rows]
    return [item.digest for item in found if id_ in {"", item.name}]


def _put_session(transaction: Transaction, session: UserSession) -> None:
    values = {
        "digest": session.digest,
        "user_id": clean_text(session.user),
        "expires_at": session.expires_at,
        "body": dump(session),
    }
    statement = transaction.insert(USER_SESSIONS).values(values)
    transaction.execute(statement.on_conflict_do_nothing(index_elements=["digest"]))


def _raise_revision(transaction: Transaction) -> None:
    """Let every server see that rights have changed; in one order after what has changed."""
    statement = transaction.insert(IDENTITY_REVISION).values(id=_REVISION, revision=1)
    transaction.execute(
        statement.on_conflict_do_update(
            index_elements=["id"], set_={"revision": IDENTITY_REVISION.c.revision + 1}
        )
    )


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
        if new.keeps_administrator:
            _check_administrators(transaction, member.organisation, member.user)
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
    if new.linked is not None:
        linked = new.linked
        values = {
            "issuer": clean_text(linked.issuer),
            "subject": clean_text(linked.subject),
            "user_id": clean_text(linked.user),
            "body": dump(linked),
        }
        _insert(transaction, LINKED_IDENTITIES, values, linked.subject)
    _raise_revision(transaction)


def _in_order(table: Table, condition: Any, order: Any) -> Select[Any]:
    """Rows that other servers do not change meanwhile; in one order, so that none waits for two."""
    return select(table.c.body).where(condition).order_by(order).with_for_update()


def _check_administrators(transaction: Transaction, organisation: str, user: str) -> None:
    is_in = MEMBERSHIPS.c.organisation == clean_text(organisation)
    rows = transaction.all(_in_order(MEMBERSHIPS, is_in, MEMBERSHIPS.c.user_id))
    if is_last_administrator([load(row.body, Membership) for row in rows], user):
        raise InvalidRequest(LAST_ADMINISTRATOR)


def _insert(transaction: Transaction, table: Table, values: Mapping[str, Any], name: str) -> None:
    statement = transaction.insert(table).values(values).on_conflict_do_nothing()
    if not transaction.execute(statement):
        raise InvalidRequest(f"'{name}' is taken.")


def _use_link(transaction: Transaction, digest: str, at: float) -> None:
    can_be_used = (LINKS.c.digest == digest, LINKS.c.used_at.is_(None), LINKS.c.expires_at > at)
    if not transaction.execute(update(LINKS).where(*can_be_used).values(used_at=at)):
        raise AccountNotFound("The link was used before or has expired: ask for a new one.")
