"""`Credentials`: what callers store, list, change and remove; values go in and never come out."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from msgspec import Struct, structs

from pegboard.core.credential import DEFAULT_NAME, Credential, CredentialKind, Secret
from pegboard.core.ports.accounts.credential_store import StoredCredential
from pegboard.core.ports.accounts.credentials import OAuthSettings, TokenRefusal
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, CredentialNotFound, InvalidRequest
from pegboard.features.credentials.connections import Connections
from pegboard.features.credentials.parts import (
    CredentialParts,
    CredentialTarget,
    context_of,
    new_id,
    owner_of,
)
from pegboard.features.credentials.resolver import CredentialResolver, expiry_of
from pegboard.features.credentials.targets import (
    check_kind,
    check_may_share,
    check_name,
    check_target,
)
from pegboard.features.key_limits import limit_keys

MAX_CREDENTIALS = 500
"""Credentials of one owner."""
_MAX_VALUE = 16_000

Settle = Callable[[str, Principal | None], Awaitable[None]]
"""Settles the requests to connect this source: those of this caller, or of all."""


class NewCredential(Struct, frozen=True, kw_only=True):
    """A credential to store.

    Attributes:
        value: The token, key, password or client secret.
        username: Of a password; of a client its id.
        expires_at: Unix seconds; None for never, or unknown.
    """

    source: str
    kind: CredentialKind
    value: str
    username: str = ""
    name: str = DEFAULT_NAME
    shared: bool = False
    is_default: bool = False
    expires_at: float | None = None

    def __repr__(self) -> str:
        """Without the value."""
        return f"NewCredential(source={self.source!r}, kind={self.kind!r}, name={self.name!r})"


class CredentialChange(Struct, frozen=True, kw_only=True):
    """What to change of a credential; None leaves it.

    Attributes:
        is_default: True makes it the default, in place of another one.
        value: A new token, key, password or client secret.
        username: Goes with a new value.
    """

    name: str | None = None
    shared: bool | None = None
    is_default: bool | None = None
    value: str | None = None
    username: str | None = None

    def __repr__(self) -> str:
        """Without the value."""
        return f"CredentialChange(name={self.name!r}, shared={self.shared!r})"


@limit_keys("credentials", reads=("list", "get"))
class Credentials:
    """The credentials of the callers of a board.

    ```python
    new = NewCredential(source="github", kind="bearer", value=token)
    await board.credentials.add(new, principal=caller)
    ```

    Args:
        parts: The store, the keys and the sources.
        resolver: Finds the credentials of calls.
        connections: Connects accounts by consent.
        settle: Lets the calls go on that wait for a credential.
        forget: Ends what the board itself does at a source with a credential that is gone.

    Attributes:
        connections: Connects accounts by consent.
    """

    def __init__(
        self,
        parts: CredentialParts,
        resolver: CredentialResolver,
        connections: Connections,
        *,
        settle: Settle,
        forget: Callable[[str], None] = lambda _source: None,
    ) -> None:
        self._forget = forget
        self._parts = parts
        self._resolver = resolver
        self._settle = settle
        self.connections = connections

    async def list(self, *, source: str = "", principal: Principal) -> Sequence[Credential]:
        """The caller's own credentials, in the order in which they were made."""
        found = await self._parts.store.credentials(owner=owner_of(principal), source=source)
        return [item.about for item in found]

    async def get(self, id: str, *, principal: Principal) -> Credential:  # noqa: A002 - it is known by its id
        """One of the caller's own credentials.

        Raises:
            CredentialNotFound: The caller has none of this id.
        """
        return (await self._own(id, principal)).about

    async def add(self, new: NewCredential, *, principal: Principal) -> Credential:
        """Store a credential; the first one of its owner for a source is the default.

        Raises:
            InvalidRequest: The source takes no such credential, its name is taken, or its value
                cannot be sent.
            AccessDenied: The caller may not share it.
            Unavailable: It cannot be encrypted or stored, or the system cannot be asked for a
                token.
        """
        target = check_target(self._parts, new.source, principal=principal)
        check_kind(target, new.kind)
        if new.kind == "oauth2":
            raise InvalidRequest("An 'oauth2' credential is connected by consent, not stored.")
        if new.shared:
            check_may_share(target, principal)
        mine = await self._parts.store.credentials(owner=owner_of(principal))
        if len(mine) >= MAX_CREDENTIALS:
            raise InvalidRequest(f"{MAX_CREDENTIALS} credentials are the maximum.")
        about = Credential(
            id=new_id(),
            owner=owner_of(principal),
            source=new.source,
            name=check_name(new.name),
            kind=new.kind,
            created_at=self._parts.now(),
            shared=new.shared,
            is_default=new.is_default or all(it.about.source != new.source for it in mine),
            expires_at=new.expires_at,
        )
        secret = _read_secret(new.kind, new.value, new.username)
        about, secret = await self._get_first_token(target, about, secret)
        stored = StoredCredential(about=about, sealed=self._parts.seal(secret, about))
        async with self._parts.record("add", about, principal, shared=about.shared):
            await self._parts.store.add(stored)
        await self._settle(about.source, None if about.shared else principal)
        return about

    async def change(
        self,
        id: str,  # noqa: A002 - it is known by its id
        wanted: CredentialChange,
        *,
        principal: Principal,
    ) -> Credential:
        """Rename a credential, share it, make it the default, or give it a new value.

        Raises:
            CredentialNotFound: The caller has none of this id.
            InvalidRequest: The name is taken, or the value cannot be sent.
            AccessDenied: The caller may not share it.
        """
        stored = await self._own(id, principal)
        about = stored.about
        changes: dict[str, Any] = {}
        if wanted.name is not None:
            changes["name"] = check_name(wanted.name)
        if wanted.shared is not None:
            if wanted.shared:
                check_may_share(
                    check_target(self._parts, about.source, principal=principal), principal
                )
            changes["shared"] = wanted.shared
        if wanted.is_default:
            changes["is_default"] = True
        sealed = None
        if wanted.value is not None:
            if about.kind == "oauth2":
                raise InvalidRequest("Connect the account again instead of giving a value.")
            username = wanted.username
            known = self._parts.open(stored).username if username is None else username
            secret = _read_secret(about.kind, wanted.value, known)
            target = check_target(self._parts, about.source, principal=principal)
            renewed, secret = await self._get_first_token(target, about, secret)
            sealed = self._parts.seal(secret, about)
            changes |= {"state": "ok", "reason": "", "expires_at": renewed.expires_at}
            changes["given_at"] = self._parts.now()
            if about.kind != "oauth2_client":
                changes["expires_at"] = None
        async with self._parts.record("change", about, principal, changed=sorted(changes)):
            changed = await self._parts.store.update(id, changes, sealed=sealed)
        if changed is None:
            raise _not_found(id)
        if sealed is not None or changes.get("shared"):
            await self._settle(about.source, None if changed.shared else principal)
        return changed

    async def remove(self, id: str, *, principal: Principal) -> Credential:  # noqa: A002 - it is known by its id
        """Remove a credential: the next call acts without it, on every server.

        Raises:
            CredentialNotFound: The caller has none of this id.
        """
        stored = await self._own(id, principal)
        async with self._parts.record("remove", stored.about, principal):
            await self._parts.store.remove(id)
        self._forget(stored.about.source)
        return stored.about

    async def rotate(self, *, principal: Principal) -> int:
        """Encrypt all credentials with the newest master key; how many had an older one.

        Raises:
            AccessDenied: The caller is no operator.
            Unavailable: A master key is missing.
        """
        if not principal.is_operator:
            raise AccessDenied("the master key", "only an operator rotates it")
        count = 0
        for stored in await self._parts.store.credentials():
            sealed = self._parts.sealer.reseal(stored.sealed, context=context_of(stored.about))
            if sealed is not None:
                changed = await self._parts.store.update(
                    stored.about.id, {}, sealed=sealed, version=stored.about.version
                )
                count += changed is not None  # else it has a newer value, with the newest key
        return count

    async def close(self) -> None:
        """Wait for tokens that are being refreshed."""
        await self._resolver.close()

    async def _own(self, id: str, principal: Principal) -> StoredCredential:  # noqa: A002 - as above
        found = await self._parts.store.credential(id)
        if found is None or found.about.owner != owner_of(principal):
            raise _not_found(id)
        return found

    async def _get_first_token(
        self, target: CredentialTarget, about: Credential, secret: Secret
    ) -> tuple[Credential, Secret]:
        """Ask for the first token of a client, which also tells whether the client is right."""
        settings: OAuthSettings | None = None if target.auth is None else target.auth.oauth
        if about.kind != "oauth2_client" or settings is None:
            return about, secret
        answer = await self._parts.endpoint.request_for_client(
            settings, client_id=secret.username, client_secret=secret.value
        )
        if isinstance(answer, TokenRefusal):
            raise InvalidRequest(f"The authorization server refuses the client: {answer.error}.")
        expires_at = expiry_of(answer, self._parts.now(), can_renew=True)
        token = replace(secret, access_token=answer.access_token)
        return structs.replace(about, expires_at=expires_at), token


def _read_secret(kind: CredentialKind, value: str, username: str) -> Secret:
    """Check a value.

    Raises:
        InvalidRequest: It cannot be sent; the value is not repeated.
    """
    if not value or len(value) > _MAX_VALUE or len(username) > _MAX_VALUE:
        raise InvalidRequest("A value is needed, of a usual length.", parameter="value")
    if not (value.isprintable() and username.isprintable()):
        raise InvalidRequest(
            "The value has a line break or control character, perhaps at its end.",
            parameter="value",
        )
    if kind in ("bearer", "api_key") and not value.isascii():
        raise InvalidRequest("The value has a character that no header can carry.")
    needs_username = kind in ("basic", "oauth2_client")
    if needs_username != bool(username):
        what = "needs a" if needs_username else "has no"
        raise InvalidRequest(f"A credential of kind {kind} {what} username.", parameter="username")
    if kind == "basic" and ":" in username:
        raise InvalidRequest("A username has no colon.", parameter="username")
    return Secret(value=value, username=username)


def _not_found(id: str) -> CredentialNotFound:  # noqa: A002 - as above
    return CredentialNotFound(f"There is no credential '{id[:40]}'.")
