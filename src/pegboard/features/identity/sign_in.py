"""Signing in with a name and a password, and the sessions of browsers."""

from msgspec import structs

from pegboard.core.ports.accounts.identity_store import (
    UNKNOWN_CLIENT,
    BrowserClient,
    User,
    UserSession,
)
from pegboard.core.ports.authenticator import BrowserSession
from pegboard.core.principal import Principal
from pegboard.errors import AccountNotFound, SignInRefused
from pegboard.features.identity.callers import AccountCallers
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.passwords import Passwords
from pegboard.features.identity.secrets import create_secret, csrf_of, digest_of
from pegboard.features.identity.sign_in_limits import SignInLimits

SESSION_LIFETIME = 7 * 24 * 3600.0
"""Seconds from sign-in until a session expires."""

ROTATE_AFTER = 4 * 3600.0
"""Seconds after which a session gets a new cookie, with its next request for the session."""

OVERLAP = 60.0
"""Seconds for which a replaced cookie is still valid."""
_WRONG = "The name or the password is wrong."


class SignIns:
    """Signs people in and out.

    Args:
        parts: The store, the clock and the audit trail.
        callers: Forgets what it knows when a session ends.
        passwords: Verifies passwords.
    """

    def __init__(self, parts: IdentityParts, callers: AccountCallers, passwords: Passwords) -> None:
        self._parts = parts
        self._callers = callers
        self._passwords = passwords
        self._limits = SignInLimits(parts)

    async def sign_in(
        self,
        login: str,
        password: str,
        *,
        address: str,
        client: BrowserClient = UNKNOWN_CLIENT,
    ) -> BrowserSession:
        """Begin a session.

        A person who does not exist, or may not sign in, is refused like a wrong password, after
        the same time.

        Args:
            login: A handle or an e-mail address.
            password: The password.
            address: Where the request comes from, for the limit.
            client: The same, for the person to see.

        Raises:
            SignInRefused: The name or the password is wrong.
            RateLimited: There were too many attempts; says when the next one is possible.
        """
        await self._limits.begin(login, address)
        user = await self._parts.store.find_user(login)
        is_right = await self._passwords.verify(password, "" if user is None else user.password)
        if user is None or not is_right or user.disabled_at is not None:
            raise SignInRefused(_WRONG)
        await self._limits.succeed(login, address)
        if self._passwords.needs_new_hash(user.password):
            hashed = await self._passwords.create_hash(password)
            user = await self._replace_hash(user, hashed)
        return await self.begin(user, client=client)

    async def check_address(self, address: str) -> None:
        """Count a sign-in that begins elsewhere as an attempt of this address.

        Raises:
            RateLimited: There were too many.
        """
        await self._limits.begin_elsewhere(address)

    async def begin(self, user: User, *, client: BrowserClient = UNKNOWN_CLIENT) -> BrowserSession:
        """Begin a session of a person whose password or link was checked.

        Raises:
            SignInRefused: The account was disabled, or its password changed, since it was read.
        """
        cookie, now = create_secret(), self._parts.now()
        expires = now + SESSION_LIFETIME
        by = Principal(id=user.id, tenant=user.organisation, user=user.id)
        digest = digest_of(cookie)
        async with self._parts.record("sign_in", user.handle, by):
            await self._parts.store.put_session(
                UserSession(
                    digest=digest,
                    user=user.id,
                    created_at=now,
                    expires_at=expires,
                    id=digest,
                    signed_in_from=client,
                    used_at=now,
                    used_from=client,
                )
            )
            # a change of the account that was made meanwhile has ended the sessions before this one
            if not _is_unchanged(user, await self._parts.store.user(user.id)):
                await self._parts.store.end_sessions(digest=digest)
                raise SignInRefused(_WRONG)
        return BrowserSession(cookie=cookie, csrf=csrf_of(cookie), expires=expires)

    async def _replace_hash(self, user: User, hashed: str) -> User:
        """Store a stronger hash of the same password, unless another was set meanwhile."""
        known = await self._parts.store.user(user.id)
        if not _is_unchanged(user, known):
            raise SignInRefused(_WRONG)
        return await self._parts.store.update_user(user.id, {"password": hashed}) or user

    async def is_open(self, credential: str) -> bool:
        """Whether the session of a caller has neither ended nor expired."""
        return await self._callers.identify_again(credential) is not None

    async def rotate(self, session: BrowserSession) -> BrowserSession | None:
        """Replace the cookie of a session that is some hours old.

        The old one is valid for a minute, for requests that the browser has sent with it.

        Returns:
            The session with its new cookie; None if it has a young one, or was just replaced.
        """
        known, now = await self._parts.store.session(digest_of(session.cookie)), self._parts.now()
        if known is None or known.replaced or known.created_at > now - ROTATE_AFTER:
            return None
        cookie = create_secret()
        new = structs.replace(known, digest=digest_of(cookie), created_at=now, id=known.name)
        old_until = now + OVERLAP
        if not await self._parts.store.replace_session(known.digest, new, until=old_until):
            return None
        self._callers.forget()
        return BrowserSession(cookie=cookie, csrf=csrf_of(cookie), expires=known.expires_at)

    async def act_for(
        self, session: BrowserSession, organisation: str, *, principal: Principal
    ) -> None:
        """Choose the organisation that a session acts for; it gives the caller no further right.

        Raises:
            AccountNotFound: The caller is no member of it.
        """
        if organisation and organisation not in principal.organisations:
            raise AccountNotFound(f"There is no organisation '{organisation[:40]}'.")
        async with self._parts.record("act_for", organisation, principal):
            await self._parts.store.update_session(
                digest_of(session.cookie), {"organisation": organisation}
            )
        self._callers.forget()

    async def end(self, session: BrowserSession) -> None:
        """End a session with all its cookies, on every server."""
        known = await self._parts.store.session(digest_of(session.cookie))
        if known is not None:
            await self._parts.store.end_sessions(user=known.user, id=known.name)
        self._callers.forget()


def _is_unchanged(user: User, now: User | None) -> bool:
    """Whether an account may still sign in with what was checked."""
    return now is not None and now.disabled_at is None and now.password == user.password
