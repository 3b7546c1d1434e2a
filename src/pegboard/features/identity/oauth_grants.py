"""What people let OAuth clients do: requests, codes, and keys that are renewed.

An access token is a key with an audience and an hour; a refresh token renews it, once.
"""

from msgspec import Struct, convert, structs

from pegboard.access.key_scopes import READ_SCOPE, WRITE_SCOPE
from pegboard.core.ports.accounts.identity_store import ApiKey, TemporaryRecord
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, AccountNotFound
from pegboard.features.identity.api_keys import ApiKeys
from pegboard.features.identity.oauth_clients import OAuthClient, OAuthClients
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.secrets import create_secret, digest_of

SCOPES = (READ_SCOPE, WRITE_SCOPE)
"""What a client may ask for: to call tools, as far as the person may."""

ACCESS_LIFETIME = 3600.0
REFRESH_LIFETIME = 30 * 24 * 3600.0
REQUEST_LIFETIME = 600.0
CODE_LIFETIME = 60.0

_REQUEST, _CODE, _REFRESH, _USED = "oauth_request", "oauth_code", "oauth_refresh", "oauth_used"


class OAuthRequest(Struct, frozen=True, kw_only=True):
    """What a client asks a person for.

    Attributes:
        client: Its id.
        name: Its name.
        redirect: Where the person is sent back to.
        is_redirect_named: Whether the request names it.
        state: The client's own; empty for none.
        challenge: Of PKCE, S256.
        resource: The address of the MCP endpoint.
        user: Who has agreed; empty before.
    """

    client: str
    name: str
    redirect: str
    is_redirect_named: bool
    state: str
    challenge: str
    scopes: tuple[str, ...]
    resource: str
    user: str = ""


class OAuthRefresh(Struct, frozen=True, kw_only=True):
    """A refresh token: which key it renews."""

    client: str
    key: str
    scopes: tuple[str, ...]
    resource: str


class OAuthTokens(Struct, frozen=True, kw_only=True):
    """New tokens, told once."""

    access: str
    refresh: str
    scopes: tuple[str, ...]
    expires_in: float


class OAuthGrants:
    """Lets clients in as far as people agree.

    Args:
        parts: The store and the clock.
        keys: Makes the keys.
        clients: Finds clients.
    """

    def __init__(self, parts: IdentityParts, keys: ApiKeys, clients: OAuthClients) -> None:
        self.clients = clients
        self._parts = parts
        self._keys = keys

    async def ask(self, request: OAuthRequest) -> str:
        """Store a request until a person decides; its id."""
        return await self._store(_REQUEST, request, REQUEST_LIFETIME)

    async def show(self, id: str, *, principal: Principal) -> tuple[OAuthRequest, OAuthClient]:  # noqa: A002 - it is known by its id
        """A request that a person is to decide.

        Raises:
            AccessDenied: The caller has not signed in.
            AccountNotFound: It was decided, has expired, or its client is gone.
        """
        _check_person(principal)
        return await self._check(await self._read(_REQUEST, id, take=False))

    async def decide(
        self,
        id: str,  # noqa: A002 - as above
        *,
        allow: bool,
        principal: Principal,
    ) -> tuple[OAuthRequest, str]:
        """Agree to a request, or not.

        Returns:
            The request, and the code for its client; empty if the person has not agreed.

        Raises:
            AccessDenied: The caller has not signed in.
            AccountNotFound: It was decided, has expired, or its client is gone.
        """
        _check_person(principal)
        request, _ = await self._check(await self._read(_REQUEST, id, take=True))
        if not allow:
            return request, ""
        async with self._parts.record(
            "let_in", request.client, principal, scopes=request.scopes, resource=request.resource
        ):
            agreed = structs.replace(request, user=principal.user)
            return request, await self._store(_CODE, agreed, CODE_LIFETIME)

    async def read_code(self, code: str, client: str) -> tuple[OAuthRequest, float] | None:
        """The request of a code of this client and when it expires; the code stays.

        One that was used before ends all that came of it (RFC 6749, 4.1.2).
        """
        found = await self._read(_CODE, code, take=False)
        if found is None:
            await self._end_used(code)
            return None
        request = convert(found.body, OAuthRequest)
        return (request, found.expires_at) if request.client == client else None

    async def redeem(self, code: str, client: str) -> OAuthTokens | None:
        """The tokens of a code, which is used up; None if it is not valid."""
        found = await self._read(_CODE, code, take=True)
        if found is None:
            return None
        request = convert(found.body, OAuthRequest)
        user = await self._parts.store.user(request.user)
        if request.client != client or user is None or user.disabled_at is not None:
            return None
        by = Principal(id=user.id, tenant=user.organisation, user=user.id)
        made = await self._keys.make_for(
            user.id,
            request.name[:100],
            scopes=request.scopes,
            lifetime=ACCESS_LIFETIME,
            principal=by,
            audience=request.resource,
            client=client,
        )
        await self._note_used(code, made.stored.id)
        refresh = OAuthRefresh(
            client=client, key=made.stored.id, scopes=request.scopes, resource=request.resource
        )
        return await self._to_tokens(made.key, refresh)

    async def read_refresh(self, token: str, client: str) -> OAuthRefresh | None:
        """A refresh token of this client.

        One that was used before ends all that came of it: of two who have it, one has stolen it.
        """
        found = await self._read(_REFRESH, token, take=False)
        if found is not None:
            refresh = convert(found.body, OAuthRefresh)
            return refresh if refresh.client == client else None
        await self._end_used(token)
        return None

    async def renew(self, token: str, client: str) -> OAuthTokens | None:
        """New tokens for a refresh token, which is used up; None if it is not valid."""
        found = await self._read(_REFRESH, token, take=True)
        if found is None:
            return None
        refresh = convert(found.body, OAuthRefresh)
        if refresh.client != client:
            return None
        await self._note_used(token, refresh.key)
        known = await self._parts.store.get_key(refresh.key)
        user = None if known is None else await self._parts.store.user(known.user)
        if user is None or user.disabled_at is not None:
            return None
        key = await self._keys.renew(refresh.key, lifetime=ACCESS_LIFETIME)
        return None if key is None else await self._to_tokens(key, refresh)

    async def read_access(self, token: str) -> ApiKey | None:
        """The key of an access token; None if it is none, or was revoked."""
        digest = digest_of(token)
        key = await self._parts.store.key(digest) if digest else None
        return key if key is not None and key.client and key.revoked_at is None else None

    async def revoke(self, token: str, client: str) -> None:
        """End what came of an access token or a refresh token of this client."""
        refresh = await self._read(_REFRESH, token, take=False)
        key = await self.read_access(token)
        if refresh is not None and refresh.body["client"] == client:
            await self._end(refresh.body["key"])
        elif key is not None and key.client == client:
            await self._end(key.id)

    async def _note_used(self, secret: str, key: str) -> None:
        """Note which key has come of a code or a refresh token."""
        await self._parts.store.put_record(
            TemporaryRecord(
                kind=_USED,
                id=digest_of(secret),
                expires_at=self._parts.now() + REFRESH_LIFETIME,
                body={"key": key},
            )
        )

    async def _end_used(self, secret: str) -> None:
        """End what has come of a code or a refresh token that is used again."""
        used = await self._read(_USED, secret, take=False)
        if used is not None:
            await self._end(used.body["key"])

    async def _end(self, key: str) -> None:
        known = await self._parts.store.get_key(key)
        if known is not None and known.revoked_at is None:
            by = Principal(id=known.user, user=known.user)
            await self._keys.revoke_of(known.user, key, principal=by)

    async def _to_tokens(self, key: str, refresh: OAuthRefresh) -> OAuthTokens:
        return OAuthTokens(
            access=key,
            refresh=await self._store(_REFRESH, refresh, REFRESH_LIFETIME),
            scopes=refresh.scopes,
            expires_in=ACCESS_LIFETIME,
        )

    async def _check(self, found: TemporaryRecord | None) -> tuple[OAuthRequest, OAuthClient]:
        request = None if found is None else convert(found.body, OAuthRequest)
        client = None if request is None else await self.clients.find(request.client)
        if request is None or client is None:
            raise AccountNotFound("This request was decided before or has expired: begin again.")
        return request, client

    async def _store(self, kind: str, value: OAuthRequest | OAuthRefresh, lifetime: float) -> str:
        secret = create_secret()
        await self._parts.store.put_record(
            TemporaryRecord(
                kind=kind,
                id=digest_of(secret),
                expires_at=self._parts.now() + lifetime,
                body=structs.asdict(value),
            )
        )
        return secret

    async def _read(self, kind: str, secret: str, *, take: bool) -> TemporaryRecord | None:
        digest, store = digest_of(secret), self._parts.store
        read = store.take_record if take else store.record
        return await read(kind, digest, at=self._parts.now()) if digest else None


def renewable_until(key: ApiKey) -> float | None:
    """When the client of a key can renew it no more; None for a key that no client has.

    A client that has not renewed its key for an hour still has its refresh token.
    """
    if not key.client or key.expires_at is None:
        return None
    return key.expires_at - ACCESS_LIFETIME + REFRESH_LIFETIME


def _check_person(principal: Principal) -> None:
    if not principal.user or principal.kind != "user":
        raise AccessDenied("the request", "only a person who has signed in decides it")
