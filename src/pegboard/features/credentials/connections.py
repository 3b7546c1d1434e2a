"""`Connections`: accounts that a person connects by OAuth 2 consent, with PKCE."""

import json
import secrets
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from hmac import compare_digest
from typing import Any
from urllib.parse import urlencode, urlsplit

from msgspec import Struct, msgpack, structs
from msgspec import json as fast

from pegboard.core.credential import DEFAULT_NAME, Credential, Secret
from pegboard.core.ports.accounts.credential_store import SealedSecret, StoredCredential
from pegboard.core.ports.accounts.credentials import OAuthSettings, TokenAnswer, TokenRefusal
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, InvalidRequest, PegboardError, Unavailable
from pegboard.features.credentials.parts import (
    CredentialParts,
    CredentialTarget,
    new_id,
    owner_of,
    settings_in,
)
from pegboard.features.credentials.resolver import FORGOTTEN, expiry_of
from pegboard.features.credentials.targets import (
    check_kind,
    check_may_share,
    check_name,
    check_target,
)
from pegboard.features.key_limits import limit_keys

CALLBACK = "/v1/credentials/oauth/callback"
DOCUMENT = "/v1/credentials/oauth/client"
CONNECT = "/v1/credentials/oauth/connect"
LIFETIME = 600.0
"""Seconds that a person has for the consent."""
_CONTEXT = "oauth state"
_MAX_STATE = 3_900


class StartedConnection(Struct, frozen=True, kw_only=True):
    """A consent that is to be given.

    Attributes:
        url: Where the person consents.
        state: What the browser brings back in a cookie; opaque.
        nonce: The `state` of the answer, which tells this consent from others of the browser.
    """

    url: str
    state: str
    nonce: str


class _State(Struct, frozen=True, kw_only=True):
    """What a consent is for; sealed, and kept by the browser that began it."""

    nonce: str
    verifier: str
    owner: str
    session: str
    source: str
    name: str
    shared: bool
    redirect_uri: str
    settings: str
    expires_at: float
    found: str = ""
    """The settings themselves, where they were found by discovery."""


@limit_keys("credentials", reads=())
class Connections:
    """Connects accounts of callers.

    Args:
        parts: The store, the keys and the sources.
        address: Where browsers reach the server, with its path; empty where it is unknown.
        settle: Lets the calls go on that wait for a credential.
    """

    def __init__(
        self,
        parts: CredentialParts,
        *,
        address: str,
        settle: Callable[[str, Principal | None], Awaitable[None]],
    ) -> None:
        self._parts = parts
        self._address = address
        self._settle = settle
        self._is_served = False

    def serve(self) -> None:
        """Give links from now on: a server answers at the address."""
        self._is_served = True

    def link_for(self, target: CredentialTarget, owner: str, name: str = "") -> str:
        """Where this owner connects an account of a name; empty where that takes no page."""
        if (
            not (self._is_served and self._address)
            or target.auth is None
            or "oauth2" not in target.auth.kinds
        ):
            return ""
        query = {"source": target.source, "for": owner}
        if name not in ("", DEFAULT_NAME):
            query["name"] = name
        return f"{self._address}{CONNECT}?{urlencode(query)}"

    def link_to(self, source: str, owner: str, *, name: str = "") -> str:
        """The same for a source by its name; empty where there is no such source."""
        target = self._parts.find_target(source)
        return "" if target is None else self.link_for(target, owner, name)

    async def start(
        self,
        source: str,
        *,
        name: str = DEFAULT_NAME,
        shared: bool = False,
        owner: str = "",
        session: str = "",
        principal: Principal,
    ) -> StartedConnection:
        """Begin a consent.

        Args:
            source: The source whose system is to be connected.
            name: The name of the account; one that exists is connected again.
            shared: Whether it is for all callers of the source.
            owner: Who the link was made for; empty for the caller.
            session: The session of the browser; the same one must finish it.
            principal: The caller.

        Raises:
            InvalidRequest: The source takes no consent, or the server's address is unknown.
            AccessDenied: The link is somebody else's, or the caller may not share the account.
            Unavailable: There is no master key, or the authorization server cannot be found.
        """
        if owner and owner != owner_of(principal):
            raise AccessDenied(source, "this link was made for another caller")
        target = check_target(self._parts, source, principal=principal)
        check_kind(target, "oauth2")
        if shared:
            check_may_share(target, principal)
        settings = _settings_of(target)
        if not self._address:
            raise InvalidRequest("Set PEGBOARD_PUBLIC_URL to the address that browsers use.")
        known = await self._find_known(source, owner_of(principal), check_name(name))
        lacking = await self._find_lacking(known)
        if settings.server:
            self._forget_client(known)
        state = _State(
            nonce=secrets.token_urlsafe(24),
            verifier=secrets.token_urlsafe(48),
            owner=owner_of(principal),
            session=_digest(session),
            source=source,
            name=check_name(name),
            shared=shared,
            redirect_uri=self._address + callback_of(target),
            settings="",
            expires_at=self._parts.now() + LIFETIME,
        )
        try:
            started = await self._begin(target, settings, state, lacking)
        except InvalidRequest:
            if not lacking:
                raise
            started = await self._begin(target, settings, state, ())
        if known is not None and lacking and not known.about.asked_at:
            await self._parts.store.update(known.about.id, {"asked_at": self._parts.now()})
        return started

    async def _find_lacking(self, known: StoredCredential | None) -> tuple[str, ...]:
        """The scopes to ask for since a call has lacked them.

        They are forgotten where a consent that asked for them was not finished in time: the system
        may show an error to a person who asks for scopes that it does not know.
        """
        if known is None:
            return ()
        about = known.about
        if about.asked_at and about.asked_at + LIFETIME <= self._parts.now():
            await self._parts.store.update(about.id, {"scopes": (), "asked_at": 0.0})
            return ()
        return about.scopes

    async def _begin(
        self,
        target: CredentialTarget,
        settings: OAuthSettings,
        state: _State,
        lacking: tuple[str, ...],
    ) -> StartedConnection:
        """Ask for the usual scopes and for those that a call has lacked.

        Raises:
            InvalidRequest: They are too many.
            Unavailable: The authorization server cannot be found.
        """
        if settings.server:
            settings = await self._discover(target, settings, lacking)
        else:
            scopes = tuple(dict.fromkeys((*settings.scopes, *lacking)))
            settings = replace(settings, scopes=scopes)
        state = structs.replace(
            state,
            settings=_digest_settings(settings),
            found=fast.encode(settings).decode() if settings.server else "",
        )
        return StartedConnection(
            url=_consent_url(settings, state), state=self._write_state(state), nonce=state.nonce
        )

    async def finish(
        self,
        answer: Mapping[str, str],
        *,
        state: str,
        session: str = "",
        principal: Principal,
    ) -> Credential:
        """Store the account of a consent, and let the calls go on that wait for it.

        Args:
            answer: The query of the callback.
            state: What `start` gave to the browser.
            session: The session of the browser.
            principal: The caller.

        Raises:
            InvalidRequest: The answer does not belong to a consent of this browser, or it was
                refused.
            AccessDenied: Another caller has begun it.
            Unavailable: The tokens cannot be had, or not be stored.
        """
        known = self._read_state(state)
        if known.owner != owner_of(principal) or not compare_digest(
            known.session, _digest(session)
        ):
            raise AccessDenied(known.source, "another caller has begun to connect this account")
        if not compare_digest(known.nonce.encode(), answer.get("state", "").encode()):
            raise InvalidRequest("This answer belongs to another consent: begin again.")
        target = check_target(self._parts, known.source, principal=principal)
        settings = _settings_of(target)
        if known.found:
            found = fast.decode(known.found, type=OAuthSettings)
            if found.server != settings.server:
                raise InvalidRequest(f"'{known.source}' was changed meanwhile: begin again.")
            settings = found
        if not _is_of_issuer(settings, answer.get("iss", "")):
            raise InvalidRequest("Another authorization server has answered: nothing was stored.")
        if not compare_digest(known.settings, _digest_settings(settings)):
            raise InvalidRequest(f"'{known.source}' was changed meanwhile: begin again.")
        if "error" in answer or not answer.get("code"):
            await self._note_refusal(known, settings, answer.get("error", ""))
            raise InvalidRequest(f"'{known.source}' was not connected: {_error_of(answer)}.")
        if known.shared:
            check_may_share(target, principal)
        tokens = await self._parts.endpoint.exchange_code(
            settings,
            code=answer["code"],
            verifier=known.verifier,
            redirect_uri=known.redirect_uri,
        )
        if isinstance(tokens, TokenRefusal):
            await self._note_refusal(known, settings, tokens.error)
            raise InvalidRequest(f"'{known.source}' was not connected: {tokens.error}.")
        return await self._store(known, settings, tokens, principal)

    async def _find_known(self, source: str, owner: str, name: str) -> StoredCredential | None:
        """The account that is connected again; None for a new one."""
        mine = await self._parts.store.credentials(owner=owner, source=source)
        return next((item for item in mine if item.about.name == name), None)

    def _forget_client(self, known: StoredCredential | None) -> None:
        """Register another client for a connection that has ended: its server may not know it."""
        if known is None or known.about.state != "reconnect":
            return
        try:
            given = settings_in(self._parts.open(known))
        except Unavailable:  # as after the loss of the master key: what is new needs no old value
            return
        if given is not None and given.is_registered:
            self._parts.discovery.forget(given.client_id)

    async def _note_refusal(self, state: _State, settings: OAuthSettings, error: str) -> None:
        """Let the next consent ask without what the server does not know: scopes, or the client."""
        known = await self._find_known(state.source, state.owner, state.name)
        if error == "invalid_scope" and known is not None:
            changes = {"scopes": (), "granted": (), "asked_at": 0.0}
            await self._parts.store.update(known.about.id, changes)
        if settings.is_registered and error in FORGOTTEN:
            self._parts.discovery.forget(settings.client_id)

    async def _discover(
        self, target: CredentialTarget, settings: OAuthSettings, lacking: Sequence[str]
    ) -> OAuthSettings:
        """Find the authorization server of a source."""
        is_public = self._address.startswith("https://")
        return await self._parts.discovery.discover(
            settings,
            redirect_uri=self._address + callback_of(target),
            document=f"{self._address}{DOCUMENT}/{target.source}" if is_public else "",
            scopes=lacking,
        )

    def describe_client(self, source: str) -> dict[str, Any]:
        """The client document (CIMD) of a source, the same whether there is such a source or not.

        Raises:
            InvalidRequest: The address of the server is unknown.
        """
        if not self._address:
            raise InvalidRequest("Set PEGBOARD_PUBLIC_URL to the address that browsers use.")
        return {
            "client_id": f"{self._address}{DOCUMENT}/{source}",
            "client_name": "Pegboard",
            "client_uri": self._address,
            "redirect_uris": [f"{self._address}{CALLBACK}/{source}"],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
        }

    async def _store(
        self, known: _State, settings: OAuthSettings, tokens: TokenAnswer, principal: Principal
    ) -> Credential:
        store, now = self._parts.store, self._parts.now()
        secret = Secret(
            access_token=tokens.access_token,
            refresh_token=tokens.refresh_token,
            settings=known.found,
        )
        account = await self._parts.endpoint.identify(settings, access_token=tokens.access_token)
        mine = await store.credentials(owner=known.owner, source=known.source)
        before = next((item.about for item in mine if item.about.name == known.name), None)
        fields: dict[str, Any] = {
            "kind": "oauth2",
            "identity": account.name,
            "subject": account.subject,
            "state": "ok",
            "reason": "",
            "asked_at": 0.0,
            "granted": () if settings.scopes else tokens.scopes,
            "given_at": 0.0 if before is None else now,
            "shared": known.shared or (before is not None and before.shared),
            "expires_at": expiry_of(tokens, now, can_renew=bool(tokens.refresh_token)),
        }
        about = before or Credential(
            id=new_id(),
            owner=known.owner,
            source=known.source,
            name=known.name,
            created_at=now,
            is_default=not mine,
            **fields,
        )
        sealed = self._parts.seal(secret, about)
        async with self._parts.record("connect", about, principal, identity=account.name):
            if before is None:
                await store.add(StoredCredential(about=about, sealed=sealed))
            else:
                about = await store.update(about.id, fields, sealed=sealed) or about
        await self._settle(known.source, None if known.shared else principal)
        return about

    def _write_state(self, state: _State) -> str:
        """Seal a state; it is compressed, since browsers keep no cookie of more than 4096 bytes.

        Raises:
            InvalidRequest: It is still too long.
        """
        plain = zlib.compress(fast.encode(state))
        sealed = self._parts.sealer.seal(plain, context=_CONTEXT)
        text = urlsafe_b64encode(msgpack.encode(sealed)).decode()
        if len(text) > _MAX_STATE:
            raise InvalidRequest(
                f"'{state.source}' asks for too many scopes at once: name those that are needed as "
                "`scopes` in its `auth`."
            )
        return text

    def _read_state(self, state: str) -> _State:
        wrong = InvalidRequest(
            f"This browser has not begun to connect an account at {self._address}: open the "
            "console there, and begin again."
        )
        if not state or len(state) > _MAX_STATE:
            raise wrong
        try:
            sealed = msgpack.decode(urlsafe_b64decode(state), type=SealedSecret)
            plain = self._parts.sealer.open(sealed, context=_CONTEXT)
            known = fast.decode(zlib.decompress(plain), type=_State)
        except (ValueError, PegboardError) as error:
            raise wrong from error
        if known.expires_at <= self._parts.now():
            raise InvalidRequest("The consent took too long: begin again.")
        return known


def callback_of(target: CredentialTarget) -> str:
    """The path to which the authorization server of a source sends its answer.

    The source of a person has one of its own (RFC 9700, section 4.4.2): a client that was
    registered for another source does not accept it, so that nobody can consent to that client for
    this source.
    """
    oauth = None if target.auth is None else target.auth.oauth
    is_found = oauth is not None and bool(oauth.server)
    return f"{CALLBACK}/{target.source}" if target.owner or is_found else CALLBACK


def _settings_of(target: CredentialTarget) -> OAuthSettings:
    settings = None if target.auth is None else target.auth.oauth
    if settings is None or not (settings.authorization_url or settings.server):
        raise InvalidRequest(f"'{target.source}' is not connected by consent.")
    if not target.is_vetted and _server_of(settings.authorization_url) != _server_of(
        settings.token_url
    ):
        # the code of a consent at one server would go to another, which its owner has chosen
        raise InvalidRequest(
            f"'{target.source}' is not connected: its authorization_url and its token_url are at "
            "different servers. An operator can make the connector global, or write it into the "
            "board file."
        )
    return settings


def _server_of(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port


def _consent_url(settings: OAuthSettings, state: _State) -> str:
    challenge = urlsafe_b64encode(sha256(state.verifier.encode()).digest()).decode().rstrip("=")
    query = {
        "response_type": "code",
        "client_id": settings.client_id,
        "redirect_uri": state.redirect_uri,
        "state": state.nonce,
        "code_challenge": challenge,
        "code_challenge_method": "S256",
    }
    if settings.resource:
        query["resource"] = settings.resource
    if settings.scopes:
        query["scope"] = " ".join(settings.scopes)
    if "offline_access" in settings.scopes:  # OpenID Connect gives a refresh token only with it
        query["prompt"] = "consent"
    mark = "&" if urlsplit(settings.authorization_url).query else "?"
    return f"{settings.authorization_url}{mark}{urlencode(query)}"


def _is_of_issuer(settings: OAuthSettings, issuer: str) -> bool:
    """Whether the authorization server that was asked has answered (RFC 9207)."""
    if not settings.issuer or (not issuer and not settings.requires_issuer):
        return True
    return issuer == settings.issuer


def _digest_settings(settings: OAuthSettings) -> str:
    """What a consent is bound to, so that nobody changes meanwhile where its code goes."""
    parts = (settings.authorization_url, settings.token_url, settings.client_id)
    return sha256(json.dumps(parts).encode()).hexdigest()


def _digest(session: str) -> str:
    return sha256(b"oauth session:" + session.encode()).hexdigest()


def _error_of(answer: Mapping[str, str]) -> str:
    text = answer.get("error") or "there is no code"
    return text[:100] if text.isascii() and text.isprintable() else "it was refused"
