"""API keys: made, listed and revoked by their person."""

import secrets
from collections.abc import Sequence

from msgspec import Struct

from pegboard.core.ports.accounts.identity_store import KEY_PREFIX, ApiKey
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, AccountNotFound, InvalidRequest
from pegboard.features.display_text import check_display_text
from pegboard.features.identity.callers import AccountCallers
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.rules import check_key_scopes
from pegboard.features.identity.secrets import create_key, digest_of

MAX_KEYS = 100
"""Valid keys of one person."""


class NewKey(Struct, frozen=True, kw_only=True):
    """A key that was made: its text is told once, and stored as a digest."""

    key: str
    stored: ApiKey


class ApiKeys:
    """The keys of the caller.

    Args:
        parts: The store, the clock and the audit trail.
        callers: Forgets what it knows when a key is revoked.
    """

    def __init__(self, parts: IdentityParts, callers: AccountCallers) -> None:
        self._parts = parts
        self._callers = callers

    async def list(self, *, principal: Principal) -> Sequence[ApiKey]:
        """The keys of the caller, in the order in which they were made.

        A key that was made for less than `*` is shown itself alone.
        """
        found = await self._parts.store.keys(principal.user) if principal.user else ()
        own = [key for key in found if key.id == principal.key]
        return own if principal.key and not any("*" in key.scopes for key in own) else found

    async def make(
        self,
        name: str,
        *,
        scopes: Sequence[str] = ("*",),
        lifetime: float | None = None,
        principal: Principal,
    ) -> NewKey:
        """Make a key.

        Args:
            name: For display.
            scopes: What it may do, at most; `*` means all that the person may.
            lifetime: Seconds until it expires; None for never.
            principal: Its person, who has signed in: a key makes no keys.

        Raises:
            AccessDenied: The caller has no account, or has sent a key.
            InvalidRequest: The person has too many keys, or there is no such scope.
        """
        if not principal.user or principal.kind != "user":
            raise AccessDenied("keys", "only a person who has signed in makes keys")
        check_key_scopes(scopes, principal.organisations, is_operator=principal.is_operator)
        return await self.make_for(
            principal.user, name, scopes=scopes, lifetime=lifetime, principal=principal
        )

    async def make_for(
        self,
        user: str,
        name: str,
        *,
        scopes: Sequence[str],
        lifetime: float | None,
        principal: Principal,
        audience: str = "",
        client: str = "",
    ) -> NewKey:
        """Make a key of an account, after the caller was checked; as `make`.

        Args:
            user: The id of the account.
            name: For display.
            scopes: What it may do, at most.
            lifetime: Seconds until it expires; None for never.
            principal: The caller, for the audit trail.
            audience: The address of the MCP endpoint that alone accepts it; empty for all doors.
            client: The client that its person has let in; empty for none.

        Raises:
            InvalidRequest: The account has too many keys.
        """
        now = self._parts.now()
        mine = [
            key
            for key in await self._parts.store.keys(user)
            if key.revoked_at is None and (key.expires_at is None or key.expires_at > now)
        ]
        if len(mine) >= MAX_KEYS:
            raise InvalidRequest(f"{MAX_KEYS} keys are the maximum: revoke one that is not used.")
        key = create_key()
        stored = ApiKey(
            id=f"key_{secrets.token_hex(6)}",
            digest=digest_of(key),
            user=user,
            name=check_display_text(name, "name"),
            hint=key[: len(KEY_PREFIX) + 4],
            created_at=now,
            scopes=tuple(sorted(set(scopes))),
            expires_at=None if lifetime is None else now + lifetime,
            audience=audience,
            client=client,
        )
        async with self._parts.record("make_key", stored.id, principal, scopes=stored.scopes):
            await self._parts.store.add_key(stored)
        return NewKey(key=key, stored=stored)

    async def renew(self, id: str, *, lifetime: float) -> str | None:  # noqa: A002 - it is known by its id
        """Give a key another text, which is told once; None if it was revoked, or is none."""
        key, expires_at = create_key(), self._parts.now() + lifetime
        renewed = await self._parts.store.renew_key(
            id, digest=digest_of(key), expires_at=expires_at
        )
        self._callers.forget()
        return None if renewed is None else key

    async def revoke(self, id: str, *, principal: Principal) -> ApiKey:  # noqa: A002 - it is known by its id
        """Revoke a key: its requests, streams and runs end, on every server within a second.

        Raises:
            AccountNotFound: The caller has no such key, or has sent another one that was made for
                less than `*`.
        """
        if id not in {key.id for key in await self.list(principal=principal)}:
            raise _no_key(id)
        return await self.revoke_of(principal.user, id, principal=principal)

    async def revoke_of(self, user: str, id: str, *, principal: Principal) -> ApiKey:  # noqa: A002 - as above
        """Revoke a key of an account, after the caller was checked; as `revoke`."""
        keys = {key.id: key for key in await self._parts.store.keys(user)} if user else {}
        if id not in keys:
            raise _no_key(id)
        revoked_at = keys[id].revoked_at or self._parts.now()
        async with self._parts.record("revoke_key", id, principal):
            revoked = await self._parts.store.update_key(id, {"revoked_at": revoked_at})
        self._callers.forget()
        await self._parts.report_end(user, key=id, by=principal)
        return revoked or keys[id]


def _no_key(id: str) -> AccountNotFound:  # noqa: A002 - as above
    return AccountNotFound(f"There is no key '{id[:40]}'.")
