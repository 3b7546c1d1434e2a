"""Signing in with a name and a password, and the sessions of browsers."""

from pegboard.core.ports.authenticator import BrowserSession
from pegboard.core.ports.identity_store import User, UserSession
from pegboard.core.principal import Principal
from pegboard.errors import SignInRefused
from pegboard.features.identity.callers import AccountCallers
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.passwords import Passwords
from pegboard.features.identity.secrets import create_secret, csrf_of, digest_of
from pegboard.features.identity.sign_in_limits import SignInLimits

SESSION_LIFETIME = 7 * 24 * 3600.0
"""Seconds from sign-in until a session expires."""


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

    async def sign_in(self, login: str, password: str, *, address: str) -> BrowserSession:
        """Begin a session.

        A person who does not exist, or may not sign in, is refused like a wrong password, after
        the same time.

        Args:
            login: A handle or an e-mail address.
            password: The password.
            address: Where the request comes from, for the limit.

        Raises:
            SignInRefused: The name or the password is wrong.
            RateLimited: There were too many attempts; says when the next one is possible.
        """
        await self._limits.begin(login, address)
        user = await self._parts.store.find_user(login)
        is_right = await self._passwords.verify(password, "" if user is None else user.password)
        if user is None or not is_right or user.disabled_at is not None:
            raise SignInRefused("The name or the password is wrong.")
        await self._limits.succeed(login, address)
        if self._passwords.needs_new_hash(user.password):
            hashed = await self._passwords.create_hash(password)
            await self._parts.store.update_user(user.id, {"password": hashed})
        return await self.begin(user)

    async def begin(self, user: User) -> BrowserSession:
        """Begin a session of a person whose password or link was checked."""
        cookie, now = create_secret(), self._parts.now()
        expires = now + SESSION_LIFETIME
        by = Principal(id=user.id, tenant=user.organisation, user=user.id)
        async with self._parts.record("sign_in", user.handle, by):
            await self._parts.store.put_session(
                UserSession(
                    digest=digest_of(cookie), user=user.id, created_at=now, expires_at=expires
                )
            )
        return BrowserSession(cookie=cookie, csrf=csrf_of(cookie), expires=expires)

    async def end(self, session: BrowserSession) -> None:
        """End a session, on every server."""
        await self._parts.store.end_sessions(digest=digest_of(session.cookie))
        self._callers.forget()
