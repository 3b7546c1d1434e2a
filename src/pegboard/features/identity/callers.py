"""Names the caller of a request by a key or by the session of a browser."""

from collections.abc import Callable, Coroutine
from typing import Any

from msgspec import Struct

from pegboard.access.roles import ROLES
from pegboard.core.ports.authenticator import (
    AuthenticatedCaller,
    BrowserSession,
    Refusal,
    SentCredentials,
)
from pegboard.core.ports.identity_store import ApiKey
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.rules import principal_of
from pegboard.features.identity.secrets import csrf_of, digest_of, is_key

KNOWN_FOR = 1.0
"""Seconds for which a caller is known without asking the store: as long as a key or session that
was ended on another server is accepted here."""

_SHIPPED = frozenset(ROLES)
_MAX_KNOWN = 10_000
_USED_EVERY = 60.0


class _Known(Struct, frozen=True, kw_only=True):
    caller: AuthenticatedCaller | None
    until: float


class AccountCallers:
    """The `Authenticator` of accounts.

    Args:
        parts: The store and the clock.
    """

    def __init__(self, parts: IdentityParts) -> None:
        self._parts = parts
        self._known: dict[str, _Known] = {}
        self._version = 0

    async def identify(self, sent: SentCredentials) -> AuthenticatedCaller | Refusal:
        """The caller of a key or session that is valid and whose person may sign in.

        Raises:
            Unavailable: The store cannot be read.
        """
        if sent.bearer is not None:
            known = is_key(sent.bearer)
            return (known and await self._find(sent.bearer, self._by_key)) or "wrong_token"
        for cookie in sent.cookies[:4]:  # other programs of this host may have set more
            caller = await self._find(cookie, self._by_session)
            if caller is not None:
                return caller
        return "no_token"

    def forget(self) -> None:
        """Ask the store again about every caller: something was changed."""
        self._version += 1
        self._known.clear()

    async def _find(self, secret: str, read: "_Read") -> AuthenticatedCaller | None:
        digest, now = digest_of(secret), self._parts.monotonic()
        known = self._known.get(digest)
        if known is not None and now < known.until:
            return known.caller
        version = self._version
        caller = await read(secret, digest) if digest else None
        if version == self._version:  # else what was read may be older than the change
            self._remember(digest, _Known(caller=caller, until=now + KNOWN_FOR))
        return caller

    def _remember(self, digest: str, known: _Known) -> None:
        self._known.pop(digest, None)
        self._known[digest] = known
        while len(self._known) > _MAX_KNOWN:
            self._known.pop(next(iter(self._known)))

    async def _by_key(self, _secret: str, digest: str) -> AuthenticatedCaller | None:
        key, now = await self._parts.store.key(digest), self._parts.now()
        if key is None or key.revoked_at is not None:
            return None
        if key.expires_at is not None and key.expires_at <= now:
            return None
        caller = await self._caller_of(key.user, key=key)
        if caller is not None and (key.used_at is None or key.used_at < now - _USED_EVERY):
            await self._parts.store.update_key(key.id, {"used_at": now})
        return caller

    async def _by_session(self, secret: str, digest: str) -> AuthenticatedCaller | None:
        found = await self._parts.store.session(digest)
        if found is None or found.expires_at <= self._parts.now():
            return None
        session = BrowserSession(cookie=secret, csrf=csrf_of(secret), expires=found.expires_at)
        return await self._caller_of(found.user, session=session)

    async def _caller_of(
        self,
        id: str,  # noqa: A002 - of a user
        *,
        key: ApiKey | None = None,
        session: BrowserSession | None = None,
    ) -> AuthenticatedCaller | None:
        user = await self._parts.store.user(id)
        if user is None or user.disabled_at is not None:
            return None
        memberships = await self._parts.store.memberships(user=id)
        organisations = {
            item.organisation for item in memberships if not _SHIPPED.issuperset(item.roles)
        }
        own = await self._parts.roles.roles(sorted(organisations)) if organisations else ()
        return AuthenticatedCaller(
            principal=principal_of(user, memberships, own=own, key=key), session=session
        )


_Read = Callable[[str, str], Coroutine[Any, Any, AuthenticatedCaller | None]]
