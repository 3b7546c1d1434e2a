"""Signing in at an identity provider: one flow, one callback, one account for each person there."""

import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from pegboard.core.ports.accounts.identity_store import (
    UNKNOWN_CLIENT,
    BrowserClient,
    LinkedIdentity,
    Membership,
    NewIdentity,
    TemporaryRecord,
    User,
)
from pegboard.core.ports.authenticator import BrowserSession
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest, SignInRefused
from pegboard.features.display_text import clean_display_text
from pegboard.features.identity.oidc_provider import OidcMetadata, OidcProvider, SignedInPerson
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.rules import check_email, check_handle
from pegboard.features.identity.secrets import create_secret, digest_of
from pegboard.features.identity.sign_in import SignIns

FLOW_LIFETIME = 600.0
"""Seconds that a person has at the provider."""

_KIND = "oidc"
_HANDLES = 20
_NOT_ASKED = "This sign-in was not begun in this browser, or took too long: try again."


class OidcFlow(Struct, frozen=True, kw_only=True):
    """A flow that has begun.

    Attributes:
        url: Where the browser goes.
        cookie: What it brings back, and nobody else can.
        state: The `state` of the answer, which tells this flow from others of the browser.
    """

    url: str
    cookie: str
    state: str


class OidcSignIns:
    """Signs people in who an identity provider knows.

    A person is known by issuer and subject alone: an e-mail address can be given to somebody else.

    Args:
        parts: The store and the clock.
        sign_ins: Begins sessions.
        provider: The identity provider.
    """

    def __init__(self, parts: IdentityParts, sign_ins: SignIns, provider: OidcProvider) -> None:
        self._parts = parts
        self._sign_ins = sign_ins
        self._provider = provider

    async def begin(
        self, redirect: str, *, principal: Principal | None = None, credential: str = ""
    ) -> OidcFlow:
        """Begin a flow.

        Args:
            redirect: The address of the callback.
            principal: A person who has signed in, to whose account the one at the provider is
                linked; None to sign in.
            credential: The session of that person: nothing is linked once it has ended.

        Raises:
            SignInRefused: There are no accounts yet.
            Unavailable: The provider cannot be reached.
        """
        if not self._parts.has_begun:
            raise SignInRefused("The first account is made with 'pegboard people link'.")
        metadata = await self._provider.read_metadata()
        cookie, state, nonce, verifier = (create_secret() for _ in range(4))
        body = {
            "state": state,
            "nonce": nonce,
            "verifier": verifier,
            "redirect": redirect,
            "user": principal.user if principal is not None else "",
            "credential": credential,
        }
        record = TemporaryRecord(
            kind=_KIND,
            id=digest_of(cookie),
            expires_at=self._parts.now() + FLOW_LIFETIME,
            body=body,
        )
        await self._parts.store.put_record(record)
        url = self._provider.authorization_url(
            metadata, redirect=redirect, state=state, nonce=nonce, verifier=verifier
        )
        return OidcFlow(url=url, cookie=cookie, state=state)

    async def finish(
        self,
        cookie: str,
        answer: Mapping[str, str],
        *,
        client: BrowserClient = UNKNOWN_CLIENT,
    ) -> BrowserSession:
        """End a flow with what the provider has sent the browser back with.

        Args:
            cookie: The cookie of the flow; it can be used once.
            answer: The query of the callback.
            client: Where the request comes from, for the person to see.

        Raises:
            SignInRefused: The flow, the answer or the person is not valid.
            Unavailable: The provider cannot be reached.
        """
        digest, now = digest_of(cookie), self._parts.now()
        found = await self._parts.store.take_record(_KIND, digest, at=now) if cookie else None
        state = answer.get("state", "").encode("utf-8", "surrogatepass")
        if found is None or not hmac.compare_digest(found.body["state"].encode(), state):
            raise SignInRefused(_NOT_ASKED)
        metadata = await self._provider.read_metadata()
        issuer = answer.get("iss", "")
        is_named = bool(issuer) or metadata.authorization_response_iss_parameter_supported
        if is_named and issuer != metadata.issuer:
            raise SignInRefused("Another identity provider has answered.")
        if found.body["user"] and not await self._sign_ins.is_open(found.body["credential"]):
            raise SignInRefused(_NOT_ASKED)
        if "code" not in answer:
            raise SignInRefused("The identity provider has not signed you in.")
        person = await self._provider.exchange(
            metadata,
            answer["code"],
            redirect=found.body["redirect"],
            verifier=found.body["verifier"],
            nonce=found.body["nonce"],
        )
        user = await self._find(metadata, person, user=found.body["user"])
        if user.disabled_at is not None:
            raise SignInRefused("This account is disabled.")
        return await self._sign_ins.begin(user, client=client)

    async def _find(self, metadata: OidcMetadata, person: SignedInPerson, *, user: str) -> User:
        issuer, subject, store = metadata.issuer, str(person.claims["sub"]), self._parts.store
        linked = await store.find_linked(issuer, subject)
        if linked is not None:
            known = await store.user(linked.user)
            if known is None or user not in {"", linked.user}:
                raise SignInRefused("This person is known here under another account.")
            return known
        now = self._parts.now()
        if user:
            own = await store.user(user)
            if own is None:
                raise SignInRefused(_NOT_ASKED)
            new = LinkedIdentity(issuer=issuer, subject=subject, user=user, created_at=now)
            by = Principal(id=user, tenant=own.organisation, user=user)
            async with self._parts.record("link_identity", own.handle, by, issuer=issuer):
                await store.add(NewIdentity(at=now, linked=new))
            return own
        claims = await self._provider.read_claims(metadata, person)
        return await self._create(issuer, subject, claims, now)

    async def _create(
        self, issuer: str, subject: str, claims: Mapping[str, Any], now: float
    ) -> User:
        """Make the account of a newcomer, who waits for an administrator.

        Raises:
            SignInRefused: Newcomers are not let in, or this one is not of an allowed domain.
        """
        settings = self._provider.settings
        email = _verified_email(claims)
        domain = email.rpartition("@")[2]
        if not settings.organisation:
            raise SignInRefused("You have no account here: ask an administrator for a link.")
        if settings.domains and domain not in settings.domains:
            raise SignInRefused(
                "The identity provider has verified no e-mail address of yours that may make an "
                "account here: ask an administrator for a link."
            )
        if await self._parts.store.organisation(settings.organisation) is None:
            raise SignInRefused("The organisation that newcomers join does not exist.")
        if email and await self._parts.store.find_user(email) is not None:
            email = ""  # whose it is here decides a person, not the provider
        base = _base_of(claims, email)
        for number in range(_HANDLES):
            suffix = "" if number == 0 else str(secrets.randbelow(10_000))
            user = User(
                id=f"u_{secrets.token_hex(8)}",
                handle=f"{base[: 12 - len(suffix)]}{suffix}",
                name=clean_display_text(str(claims.get("name") or ""))[:200] or base,
                email=email,
                created_at=now,
            )
            try:
                check_handle(user.handle)
                await self._add(user, issuer, subject, now)
            except InvalidRequest:
                continue
            return user
        raise SignInRefused("No handle is free for you: ask an administrator for a link.")

    async def _add(self, user: User, issuer: str, subject: str, now: float) -> None:
        organisation = self._provider.settings.organisation
        waiting = Membership(organisation=organisation, user=user.id, created_at=now)
        linked = LinkedIdentity(issuer=issuer, subject=subject, user=user.id, created_at=now)
        by = Principal(id=user.id, user=user.id)
        async with self._parts.record("join", user.handle, by, purpose="oidc", issuer=issuer):
            new = NewIdentity(at=now, user=user, memberships=(waiting,), linked=linked)
            await self._parts.store.add(new)


def _verified_email(claims: Mapping[str, Any]) -> str:
    """The e-mail address, if the provider has verified it; else empty."""
    email = claims.get("email")
    if claims.get("email_verified") is not True or not isinstance(email, str):
        return ""
    try:
        return check_email(email)
    except InvalidRequest:
        return ""


def _base_of(claims: Mapping[str, Any], email: str) -> str:
    """What a handle is made of."""
    wanted = str(claims.get("preferred_username") or email.partition("@")[0]).lower()
    letters = re.sub(r"[^a-z0-9]", "", wanted).lstrip("0123456789")
    return letters if len(letters) > 1 else "person"
