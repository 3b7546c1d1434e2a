"""Names the caller of a request by a key or by the session of a browser."""

from collections.abc import Callable, Coroutine
from typing import Any

from msgspec import Struct, structs

from pegboard.access.roles import ROLES
from pegboard.core.ports.accounts.identity_store import (
    UNKNOWN_CLIENT,
    ApiKey,
    BrowserClient,
    UserSession,
)
from pegboard.core.ports.authenticator import (
    AuthenticatedCaller,
    BrowserSession,
    Refusal,
    SentCredentials,
)
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.rules import principal_of
from pegboard.features.identity.secrets import csrf_of, digest_of, is_key

KNOWN_FOR = 1.0
"""Seconds for which a caller is known without asking the store."""

_SHIPPED = frozenset(ROLES)
_MAX_KNOWN = 10_000
_USED_EVERY = 60.0


class _Known(Struct, frozen=True, kw_only=True):
    caller: AuthenticatedCaller | None
    until: float
    audience: str = ""


class AccountCallers:
    """The `Authenticator` of accounts.

    Args:
        parts: The store and the clock.
    """

    def __init__(self, parts: IdentityParts) -> None:
        self._parts = parts
        self._known: dict[str, _Known] = {}
        self._version = 0
        self._revision = 0
        self._listeners: set[Callable[[], None]] = set()

    async def identify(self, sent: SentCredentials) -> AuthenticatedCaller | Refusal:
        """The caller of a key or session that is valid and whose person may sign in.

        Raises:
            Unavailable: The store cannot be read.
        """
        if sent.bearer is not None:
            if not is_key(sent.bearer):
                return "wrong_token"
            known = await self._find_key(sent.bearer)
            is_meant = known.audience in {"", sent.resource}
            return (known.caller if is_meant else None) or "wrong_token"
        for cookie in sent.cookies[:4]:  # other programs of this host may have set more
            caller = (await self._find_session(cookie, sent.client)).caller
            if caller is not None:
                return caller
        return "no_token"

    async def identify_again(self, credential: str) -> AuthenticatedCaller | None:
        """The caller of a key or session that was accepted before; None if it has ended.

        Raises:
            Unavailable: The store cannot be read.
        """
        kind, _, name = credential.partition(":")
        if kind == "key":
            return (await self._of_key(await self._parts.store.get_key(name))).caller
        user, _, name = name.partition(":")
        now = self._parts.now()
        for session in await self._parts.store.sessions(user):
            if session.name == name and session.expires_at > now:
                return await self._of_session(session, None)
        return None

    async def name_now(self, principal: Principal) -> Principal:
        """The caller of something that goes on, with the rights of now.

        A caller without an account stays as it is.

        Raises:
            AccessDenied: The account was disabled, or the key revoked.
            Unavailable: The store cannot be read.
        """
        if not principal.user:
            return principal
        name = f"now:{principal.key}:{principal.tenant}:{principal.user}"

        async def read() -> _Known:
            return _Known(caller=await self._read_now(principal), until=0.0)

        caller = (await self._find(name, read)).caller
        if caller is None:
            raise AccessDenied("the board", "the account or key of the caller has ended")
        return caller.principal

    async def name_local(self, key: str) -> Principal:
        """The caller on the board's machine: `local`, and once there are accounts that of a key.

        Raises:
            AccessDenied: There are accounts, and the key is not valid.
            Unavailable: The store cannot be read.
        """
        if not self._parts.has_begun:
            return LOCAL
        found = await self.identify(SentCredentials(bearer=key))
        if isinstance(found, AuthenticatedCaller):
            return found.principal
        raise AccessDenied("the board", "it has accounts: set PEGBOARD_TOKEN to a valid key of one")

    def watch(self, listener: Callable[[], None]) -> None:
        """Call a listener whenever rights may have changed; again with the same has no effect."""
        self._listeners.add(listener)

    async def look(self) -> None:
        """Look whether rights were changed on another server.

        Raises:
            Unavailable: The store cannot be read.
        """
        revision = await self._parts.store.revision()
        if revision != self._revision:
            self._revision = revision
            self.forget()

    def forget(self) -> None:
        """Ask the store again about every caller: something was changed."""
        self._version += 1
        self._known.clear()
        for listener in tuple(self._listeners):
            listener()

    async def _find_key(self, secret: str) -> _Known:
        digest = digest_of(secret)
        return await self._find(f"key:{digest}", lambda: self._by_key(digest))

    async def _find_session(self, cookie: str, client: BrowserClient | None) -> _Known:
        digest, place = digest_of(cookie), client or UNKNOWN_CLIENT
        return await self._find(
            f"session:{digest}:{place.address}:{place.browser}",
            lambda: self._by_session(cookie, digest, client),
        )

    async def _find(self, name: str, read: "_Read") -> _Known:
        now = self._parts.monotonic()
        known = self._known.get(name)
        if known is not None and now < known.until:
            return known
        version = self._version
        found = await read()
        if version == self._version:  # else what was read may be older than the change
            until = now + KNOWN_FOR
            self._remember(name, _Known(caller=found.caller, until=until, audience=found.audience))
        return found

    def _remember(self, name: str, known: _Known) -> None:
        self._known.pop(name, None)
        self._known[name] = known
        while len(self._known) > _MAX_KNOWN:
            self._known.pop(next(iter(self._known)))

    async def _by_key(self, digest: str) -> _Known:
        key, now = await self._parts.store.key(digest), self._parts.now()
        known = await self._of_key(key)
        if key is not None and known.caller is not None and _is_due(key.used_at, now):
            await self._parts.store.update_key(key.id, {"used_at": now})
        return known

    async def _by_session(self, cookie: str, digest: str, client: BrowserClient | None) -> _Known:
        found = await self._parts.store.session(digest) if digest else None
        now = self._parts.now()
        if found is None or found.expires_at <= now:
            return _NOBODY
        session = BrowserSession(cookie=cookie, csrf=csrf_of(cookie), expires=found.expires_at)
        caller = await self._of_session(found, session)
        if client is not None and caller is not None:
            await self._store_use(found, client, now)
        return _Known(caller=caller, until=0.0)

    async def _store_use(self, session: UserSession, client: BrowserClient, now: float) -> None:
        """Store that a session was used: once a minute, and at once where it comes from elsewhere.

        Raises:
            Unavailable: It cannot be stored.
        """
        if client != session.used_from or _is_due(session.used_at, now):
            use = {"used_at": now, "used_from": client}
            await self._parts.store.update_session(session.digest, use)

    async def _of_key(self, key: ApiKey | None) -> _Known:
        if key is None or key.revoked_at is not None:
            return _NOBODY
        if key.expires_at is not None and key.expires_at <= self._parts.now():
            return _NOBODY
        principal = await self._principal_of(key.user, key=key)
        if principal is None:
            return _NOBODY
        caller = AuthenticatedCaller(
            principal=principal, credential=f"key:{key.id}", expires=key.expires_at
        )
        return _Known(caller=caller, until=0.0, audience=key.audience)

    async def _of_session(
        self, found: UserSession, session: BrowserSession | None
    ) -> AuthenticatedCaller | None:
        principal = await self._principal_of(found.user, organisation=found.organisation)
        if principal is None:
            return None
        return AuthenticatedCaller(
            principal=principal,
            session=session,
            credential=f"session:{found.user}:{found.name}",
            expires=None if found.replaced else found.expires_at,
        )

    async def _read_now(self, principal: Principal) -> AuthenticatedCaller | None:
        if principal.key:
            key = await self._parts.store.get_key(principal.key)
            if key is not None and key.client:  # its text is renewed; what goes on has not ended
                key = structs.replace(key, expires_at=None)
            return (await self._of_key(key)).caller
        now = await self._principal_of(principal.user, organisation=principal.tenant)
        return None if now is None else AuthenticatedCaller(principal=now)

    async def _principal_of(
        self,
        id: str,  # noqa: A002 - of a user
        *,
        key: ApiKey | None = None,
        organisation: str = "",
    ) -> Principal | None:
        user = await self._parts.store.user(id)
        if user is None or user.disabled_at is not None:
            return None
        memberships = await self._parts.store.memberships(user=id)
        organisations = {
            item.organisation for item in memberships if not _SHIPPED.issuperset(item.roles)
        }
        own = await self._parts.roles.roles(sorted(organisations)) if organisations else ()
        return principal_of(user, memberships, own=own, key=key, organisation=organisation)


_NOBODY = _Known(caller=None, until=0.0)
_Read = Callable[[], Coroutine[Any, Any, _Known]]


def _is_due(used_at: float | None, now: float) -> bool:
    """Whether a use is to be stored: the last one that was is a minute old."""
    return used_at is None or used_at < now - _USED_EVERY
