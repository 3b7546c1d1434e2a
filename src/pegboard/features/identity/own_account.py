"""What people change of their own account: their name, their password, and their sessions."""

from collections.abc import Sequence

from msgspec import Struct

from pegboard.core.ports.accounts.identity_store import BrowserClient, User, UserSession
from pegboard.core.ports.authenticator import BrowserSession
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, AccountNotFound, InvalidRequest
from pegboard.features.display_text import check_display_text
from pegboard.features.identity.callers import AccountCallers
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.passwords import Passwords
from pegboard.features.identity.rules import check_password
from pegboard.features.identity.secrets import digest_of
from pegboard.features.identity.sign_in import SESSION_LIFETIME
from pegboard.features.identity.sign_in_limits import SignInLimits
from pegboard.features.permissions import check_may_write

_SUBJECT = "your account"
_NO_AGENTS = "sign in for this, or use a key with the scope 'approvals:decide'"
_SHOWN = 16
"""Characters of the name of a session that tell it from the others of its person."""


class NewPassword(Struct, frozen=True, kw_only=True):
    """A password to change to, and the one that it replaces."""

    current: str
    new: str


class OpenSession(Struct, frozen=True, kw_only=True):
    """A browser in which the caller is signed in.

    Attributes:
        id: Tells it from the caller's others; no part of its cookie.
        signed_in_at: Unix seconds.
        expires_at: Unix seconds.
        is_current: Whether the request came with it.
        signed_in_from: Where the caller signed in.
        used_at: Unix seconds of its last use, exact to a minute; None where it is not known.
        used_from: Where its last use came from.
    """

    id: str
    signed_in_at: float
    expires_at: float
    is_current: bool
    signed_in_from: BrowserClient
    used_at: float | None
    used_from: BrowserClient


class OwnAccount:
    """Changes the account of the caller, who has to be signed in: a key changes nothing of it.

    A key that may decide approvals, which no agent holds, lists and ends sessions all the same.

    Args:
        parts: The store, the clock and the audit trail.
        callers: Forgets what it knows with each change.
        passwords: Verifies and hashes passwords.
    """

    def __init__(self, parts: IdentityParts, callers: AccountCallers, passwords: Passwords) -> None:
        self._parts = parts
        self._callers = callers
        self._passwords = passwords
        self._limits = SignInLimits(parts)

    async def show(self, *, principal: Principal) -> User:
        """The account of the caller.

        Raises:
            AccountNotFound: The caller has none.
        """
        user = await self._parts.store.user(principal.user) if principal.user else None
        if user is None:
            raise AccountNotFound("You have no account here.")
        return user

    async def rename(self, name: str, *, principal: Principal) -> User:
        """Change the name that others read; an empty one is the handle.

        Raises:
            AccessDenied: The caller is not signed in.
            InvalidRequest: It has a character that is not shown or reorders others.
        """
        user = await self._check_signed_in(principal)
        given = check_display_text(name, "name") or user.handle
        async with self._parts.record("change_account", user.handle, principal):
            changed = await self._parts.store.update_user(user.id, {"name": given})
        self._callers.forget()
        return changed or user

    async def change_password(
        self, wanted: NewPassword, *, session: BrowserSession, address: str, principal: Principal
    ) -> User:
        """Change the password, and end the other sessions.

        Args:
            wanted: The new password and the current one.
            session: The session of the caller, which goes on.
            address: Where the request comes from, for the limit.
            principal: The caller.

        Raises:
            AccessDenied: The caller is not signed in, or signs in elsewhere.
            InvalidRequest: The current password is wrong, or the new one breaks the rule.
            RateLimited: There were too many attempts.
        """
        user = await self._check_signed_in(principal)
        if not user.password:
            raise AccessDenied(_SUBJECT, "it has no password: you sign in elsewhere")
        check_password(wanted.new)
        await self._limits.begin(user.handle, address)
        if not await self._passwords.verify(wanted.current, user.password):
            raise InvalidRequest("The current password is wrong.")
        await self._limits.succeed(user.handle, address)
        hashed = await self._passwords.create_hash(wanted.new)
        async with self._parts.record("change_password", user.handle, principal):
            changed = await self._parts.store.update_user(user.id, {"password": hashed})
            await self._end_others(user.id, session)
        self._callers.forget()
        return changed or user

    async def list_sessions(
        self, *, session: BrowserSession | None, principal: Principal
    ) -> Sequence[OpenSession]:
        """The browsers in which the caller is signed in, the newest first.

        Raises:
            AccessDenied: The caller is neither signed in nor has sent a key of its own.
        """
        user = await self._check_sees_sessions(principal)
        stored = await self._parts.store.sessions(user.id)
        own, now = await self._name_of(session), self._parts.now()
        found = [
            OpenSession(
                id=item.name[:_SHOWN],
                signed_in_at=item.expires_at - SESSION_LIFETIME,
                expires_at=item.expires_at,
                is_current=item.name == own,
                signed_in_from=item.signed_in_from,
                used_at=item.used_at,
                used_from=item.used_from,
            )
            for item in stored
            if not item.replaced and item.expires_at > now
        ]
        return sorted(found, key=lambda item: item.signed_in_at, reverse=True)

    async def end_session(self, id: str, *, principal: Principal) -> None:  # noqa: A002 - as in the store
        """Sign the caller out of one browser.

        Raises:
            AccessDenied: The caller is neither signed in nor has sent a key of its own.
            AccountNotFound: The caller has no such session.
        """
        user = await self._check_sees_sessions(principal)
        stored = await self._parts.store.sessions(user.id)
        names = {item.name for item in stored if item.name[:_SHOWN] == id}
        if not names:
            raise AccountNotFound("You have no such session.")
        async with self._parts.record("end_session", user.handle, principal):
            for name in names:
                await self._parts.store.end_sessions(user=user.id, id=name)
        self._callers.forget()

    async def end_other_sessions(
        self, *, session: BrowserSession | None, principal: Principal
    ) -> None:
        """Sign the caller out of all other browsers; with a key, of all.

        Raises:
            AccessDenied: The caller is neither signed in nor has sent a key of its own.
        """
        user = await self._check_sees_sessions(principal)
        async with self._parts.record("end_session", user.handle, principal, others=True):
            await self._end_others(user.id, session)
        self._callers.forget()

    async def _end_others(self, user: str, session: BrowserSession | None) -> None:
        own = await self._name_of(session)
        for name in {item.name for item in await self._parts.store.sessions(user)} - {own}:
            await self._parts.store.end_sessions(user=user, id=name)

    async def _name_of(self, session: BrowserSession | None) -> str:
        if session is None:
            return ""
        known: UserSession | None = await self._parts.store.session(digest_of(session.cookie))
        return known.name if known is not None else ""

    async def _check_signed_in(self, principal: Principal) -> User:
        user = await self.show(principal=principal)
        if principal.kind != "user" or principal.key:
            raise AccessDenied(_SUBJECT, "sign in for this: a key changes no account")
        return user

    async def _check_sees_sessions(self, principal: Principal) -> User:
        user = await self.show(principal=principal)
        if principal.kind not in {"user", "key"}:
            raise AccessDenied("your sessions", _NO_AGENTS)
        check_may_write(principal, "your sessions")
        return user
