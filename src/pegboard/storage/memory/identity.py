"""Accounts and organisations in memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from pegboard.access.roles import (
    LAST_ADMINISTRATOR,
    LAST_OPERATOR,
    is_last_administrator,
    is_last_operator,
)
from pegboard.concurrency.closable_lock import ClosableLock
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
from pegboard.errors import AccountNotFound, InvalidRequest
from pegboard.storage.memory.sign_ins import MemorySignIns


class MemoryIdentity(MemorySignIns):
    """An `IdentityStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        super().__init__(gate)
        self._revision = 0
        self._linked: dict[tuple[str, str], LinkedIdentity] = {}
        self._claimed: set[str] = set()
        self._users: dict[str, User] = {}
        self._organisations: dict[str, Organisation] = {}
        self._memberships: dict[tuple[str, str], Membership] = {}
        self._keys: dict[str, ApiKey] = {}
        self._sessions: dict[str, UserSession] = {}
        self._links: dict[str, OneTimeLink] = {}

    async def has_users(self) -> bool:
        with self._gate:
            return bool(self._users)

    async def revision(self) -> int:
        with self._gate:
            return self._revision

    async def add(self, new: NewIdentity) -> None:
        with self._gate:
            link = self._usable_link(new.link, new.at) if new.link else None
            claims = new.claims
            taken = [it for it in claims if it in self._claimed or claims.count(it) > 1]
            linked = new.linked
            if linked is not None and (linked.issuer, linked.subject) in self._linked:
                taken.append(linked.subject)
            if taken or (new.user is not None and new.user.id in self._users):
                raise InvalidRequest(f"'{taken[0] if taken else claims[0]}' is taken.")
            if new.keeps_administrator:
                for member in new.memberships:
                    self._check_administrators(member.organisation, member.user)
            if link is not None:
                self._links[link.digest] = structs.replace(link, used_at=new.at)
            self._claimed.update(claims)
            self._revision += 1
            if linked is not None:
                self._linked[linked.issuer, linked.subject] = linked
            if new.user is not None:
                self._users[new.user.id] = new.user
            if new.organisation is not None:
                self._organisations[new.organisation.handle] = new.organisation
            for member in new.memberships:
                self._memberships[member.organisation, member.user] = member

    async def user(self, id: str) -> User | None:  # noqa: A002 - it is known by its id
        with self._gate:
            return self._users.get(id)

    async def find_user(self, login: str) -> User | None:
        name = login.lower()
        with self._gate:
            found = (user for user in self._users.values() if name in {user.handle, user.email})
            return next(found, None) if name else None

    async def users(self, ids: Sequence[str] | None = None) -> Sequence[User]:
        with self._gate:
            found = [user for user in self._users.values() if ids is None or user.id in ids]
            return sorted(found, key=lambda user: user.handle)

    async def update_user(
        self,
        id: str,  # noqa: A002 - as above
        changes: Mapping[str, Any],
        *,
        keeps_operator: bool = False,
    ) -> User | None:
        with self._gate:
            if keeps_operator and is_last_operator(self._users.values(), id):
                raise InvalidRequest(LAST_OPERATOR)
            known = self._users.get(id)
            if known is None:
                return None
            self._revision += 1
            self._users[id] = changed = structs.replace(known, **changes)
            return changed

    async def organisation(self, handle: str) -> Organisation | None:
        with self._gate:
            return self._organisations.get(handle)

    async def organisations(self) -> Sequence[Organisation]:
        with self._gate:
            return [self._organisations[handle] for handle in sorted(self._organisations)]

    async def memberships(self, *, user: str = "", organisation: str = "") -> Sequence[Membership]:
        with self._gate:
            return [
                member
                for _, member in sorted(self._memberships.items())
                if user in {"", member.user} and organisation in {"", member.organisation}
            ]

    async def remove_membership(self, organisation: str, user: str) -> bool:
        with self._gate:
            self._check_administrators(organisation, user)
            self._revision += 1
            return self._memberships.pop((organisation, user), None) is not None

    async def add_key(self, key: ApiKey) -> None:
        with self._gate:
            self._keys[key.id] = key

    async def update_key(self, id: str, changes: Mapping[str, Any]) -> ApiKey | None:  # noqa: A002 - as above
        with self._gate:
            known = self._keys.get(id)
            if known is None:
                return None
            self._revision += not USES.issuperset(changes)
            self._keys[id] = changed = structs.replace(known, **changes)
            return changed

    async def renew_key(self, id: str, *, digest: str, expires_at: float) -> ApiKey | None:  # noqa: A002 - as above
        with self._gate:
            known = self._keys.get(id)
            if known is None or known.revoked_at is not None:
                return None
            renewed = structs.replace(known, digest=digest, expires_at=expires_at)
            self._keys[id] = renewed
            return renewed

    async def key(self, digest: str) -> ApiKey | None:
        with self._gate:
            return next((key for key in self._keys.values() if key.digest == digest), None)

    async def get_key(self, id: str) -> ApiKey | None:  # noqa: A002 - as above
        with self._gate:
            return self._keys.get(id)

    async def keys(self, user: str) -> Sequence[ApiKey]:
        with self._gate:
            return [key for key in self._keys.values() if key.user == user]

    async def put_session(self, session: UserSession) -> None:
        with self._gate:
            self._sessions[session.digest] = session

    async def session(self, digest: str) -> UserSession | None:
        with self._gate:
            return self._sessions.get(digest)

    async def sessions(self, user: str) -> Sequence[UserSession]:
        with self._gate:
            found = [session for session in self._sessions.values() if session.user == user]
            return sorted(found, key=lambda session: session.created_at)

    async def replace_session(self, digest: str, new: UserSession, *, until: float) -> bool:
        with self._gate:
            known = self._sessions.get(digest)
            if known is None or known.replaced:
                return False
            self._sessions[digest] = structs.replace(known, replaced=True, expires_at=until)
            self._sessions[new.digest] = replace_cookie(known, new)
            return True

    async def update_session(self, digest: str, changes: Mapping[str, Any]) -> UserSession | None:
        with self._gate:
            known = self._sessions.get(digest)
            if known is None:
                return None
            self._revision += not USES.issuperset(changes)
            self._sessions[digest] = changed = structs.replace(known, **changes)
            return changed

    async def end_sessions(self, *, user: str = "", digest: str = "", id: str = "") -> None:  # noqa: A002 - as above
        with self._gate:
            ended = [
                known.digest
                for known in self._sessions.values()
                if (known.user == user if user else known.digest == digest)
                and id in {"", known.name}
            ]
            self._revision += bool(ended)
            for item in ended:
                del self._sessions[item]

    async def find_linked(self, issuer: str, subject: str) -> LinkedIdentity | None:
        with self._gate:
            return self._linked.get((issuer, subject))

    async def put_link(self, link: OneTimeLink) -> None:
        with self._gate:
            self._links[link.digest] = link

    async def link(self, digest: str) -> OneTimeLink | None:
        with self._gate:
            return self._links.get(digest)

    async def use_link(self, digest: str, at: float) -> None:
        with self._gate:
            self._links[digest] = structs.replace(self._usable_link(digest, at), used_at=at)

    async def forget(self, *, before: float) -> None:
        with self._gate:
            self.sweep(before)
            for digest in [it.digest for it in self._sessions.values() if it.expires_at < before]:
                del self._sessions[digest]
            for digest in [it.digest for it in self._links.values() if it.expires_at < before]:
                del self._links[digest]

    def _check_administrators(self, organisation: str, user: str) -> None:
        members = [it for it in self._memberships.values() if it.organisation == organisation]
        if is_last_administrator(members, user):
            raise InvalidRequest(LAST_ADMINISTRATOR)

    def _usable_link(self, digest: str, at: float) -> OneTimeLink:
        known = self._links.get(digest)
        if known is None or known.used_at is not None or known.expires_at <= at:
            raise AccountNotFound("The link was used before or has expired: ask for a new one.")
        return known
