"""Accounts: one-time links that make them, who has one, and who may sign in."""

import secrets
from collections.abc import Iterable, Sequence

from msgspec import Struct

from pegboard.access.roles import ADMINISTRATOR, EDITOR, is_last_operator
from pegboard.core.ports.accounts.identity_store import (
    FIRST_USER,
    LinkPurpose,
    Membership,
    NewIdentity,
    OneTimeLink,
    Organisation,
    PersonChange,
    User,
)
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, AccountNotFound, InvalidRequest
from pegboard.features.display_text import check_display_text
from pegboard.features.identity.callers import AccountCallers
from pegboard.features.identity.parts import IdentityParts, find_by_login
from pegboard.features.identity.passwords import Passwords
from pegboard.features.identity.rules import (
    check_email,
    check_handle,
    check_password,
    check_roles,
)
from pegboard.features.identity.secrets import create_secret, digest_of
from pegboard.features.identity.sign_in_limits import SignInLimits
from pegboard.features.permissions import PEOPLE_SCOPE, check_is_person

LINK_LIFETIME = 24 * 3600.0
"""Seconds from the making of a link until it expires."""


class NewLink(Struct, frozen=True, kw_only=True):
    """A link that was made: its token is told once, and stored as a digest."""

    token: str
    link: OneTimeLink


class LinkRequest(Struct, frozen=True, kw_only=True):
    """A link to make.

    Attributes:
        person: The handle or e-mail address of the account that gets a new password; empty for a
            new account.
        organisation: That a new person joins; empty for none.
        roles: Roles there.
    """

    person: str = ""
    organisation: str = ""
    roles: Sequence[str] = ()


class NewAccount(Struct, frozen=True, kw_only=True):
    """What a person chooses who opens a link.

    Attributes:
        link: The token of the link.
        organisation: The handle of the organisation that the first account founds.
        organisation_title: For display; empty for the handle.
    """

    link: str
    handle: str
    password: str
    name: str = ""
    email: str = ""
    organisation: str = ""
    organisation_title: str = ""


class Accounts:
    """Makes accounts by one-time links, and disables them.

    Args:
        parts: The store, the clock and the audit trail.
        callers: Forgets what it knows with each change.
        passwords: Hashes passwords.
    """

    def __init__(self, parts: IdentityParts, callers: AccountCallers, passwords: Passwords) -> None:
        self._parts = parts
        self._callers = callers
        self._passwords = passwords

    async def load(self) -> None:
        """Look whether there are accounts; once there are, the store is not asked again.

        Raises:
            Unavailable: The store cannot be read.
        """
        self._parts.has_begun = self._parts.has_begun or await self._parts.store.has_users()

    async def make_link(self, wanted: LinkRequest, *, principal: Principal) -> NewLink:
        """Make a one-time link: the first one, a new password for a person, or an invitation.

        Args:
            wanted: For whom.
            principal: An operator, or an administrator of the organisation. `local` makes the
                first link, and later a new password for a person who is locked out.

        Raises:
            AccessDenied: The caller may not make it.
            AccountNotFound: There is no such person or organisation.
            InvalidRequest: A role does not exist.
        """
        check_is_person(principal, "the accounts")
        purpose = self._purpose_of(wanted)
        user = await self._find_person(wanted.person, principal) if wanted.person else None
        if user is not None and user.is_service:
            raise InvalidRequest(
                f"'{user.handle}' is a service account: it signs in with keys alone."
            )
        roles = () if purpose != "invitation" else await self._check_invitation(wanted, principal)
        if purpose != "invitation" and not principal.is_operator:
            raise AccessDenied("the accounts", "the caller is no operator")
        token, now = create_secret(), self._parts.now()
        link = OneTimeLink(
            digest=digest_of(token),
            purpose=purpose,
            created_at=now,
            created_by=principal.owner,
            expires_at=now + LINK_LIFETIME,
            user=user.id if user else "",
            organisation=wanted.organisation,
            roles=roles,
            maker=principal.user,
        )
        action = "invite" if purpose == "invitation" else "link"
        subject = user.handle if user else wanted.organisation
        async with self._parts.record(action, subject, principal, purpose=purpose):
            await self._parts.store.put_link(link)
        return NewLink(token=token, link=link)

    async def read_link(self, token: str) -> tuple[OneTimeLink, User | None]:
        """A link that can be used, and the account of a new password.

        Raises:
            AccountNotFound: It was used, has expired, or is none.
        """
        link = await self._parts.store.link(digest_of(token))
        is_late = link is None or link.used_at is not None or link.expires_at <= self._parts.now()
        is_late = is_late or (
            link is not None and link.purpose == "first" and self._parts.has_begun
        )
        if link is None or is_late or not await self._may_still_make(link):
            raise AccountNotFound("The link was used before or has expired: ask for a new one.")
        return link, await self._parts.store.user(link.user) if link.user else None

    async def join(self, new: NewAccount) -> User:
        """Make the account of a link.

        Raises:
            AccountNotFound: The link was used, has expired, or is for an account that exists.
            InvalidRequest: The handle or the e-mail address is taken.
            InvalidRequest: A field breaks a rule.
            RateLimited: The link, its maker or the organisation has asked for too many names.
        """
        link, known = await self.read_link(new.link)
        if known is not None:
            raise AccountNotFound(
                "This link gives an account a new password, and makes no new one."
            )
        maker = link.maker or link.created_by
        limits = SignInLimits(self._parts)
        await limits.begin_claim(maker, link.organisation, link=link.digest)
        identity = await self._create(new, link)
        user = identity.user
        assert user is not None  # noqa: S101 - made in the line above
        by = Principal(id=user.id, tenant=user.organisation, user=user.id)
        async with self._parts.record("join", user.handle, by, purpose=link.purpose):
            await self._parts.store.add(identity)
        await limits.succeed_claim(maker, link.organisation)
        self._parts.has_begun = True
        self._callers.forget()
        return user

    async def set_password(self, token: str, password: str) -> User:
        """Give the account of a link a new password; its sessions end.

        Raises:
            AccountNotFound: The link was used, has expired, or is for no account.
            InvalidRequest: The password breaks the rule.
        """
        check_password(password)
        link, user = await self.read_link(token)
        if user is None or user.disabled_at is not None:
            raise AccountNotFound("The link is for no account that may sign in.")
        hashed = await self._passwords.create_hash(password)
        by = Principal(id=user.id, tenant=user.organisation, user=user.id)
        async with self._parts.record("link", user.handle, by, purpose="password"):
            await self._parts.store.use_link(link.digest, self._parts.now())
            changed = await self._parts.store.update_user(user.id, {"password": hashed})
            await self._parts.store.end_sessions(user=user.id)
        self._callers.forget()
        return changed or user

    async def find(self, principal: Principal) -> User | None:
        """The account of a caller; None for a caller without one."""
        return await self._parts.store.user(principal.user) if principal.user else None

    async def read_people(self, ids: Iterable[str]) -> dict[str, User]:
        """The accounts of callers by their ids, where they have one."""
        return await self._parts.read_people(ids)

    async def list(self, *, principal: Principal) -> Sequence[User]:
        """The accounts that the caller may see, by handle.

        Operators see all, others those of their organisations.
        """
        users = await self._parts.store.users()
        if principal.is_operator:
            return users
        known = {principal.user}
        for organisation in principal.organisations:
            members = await self._parts.store.memberships(organisation=organisation)
            known |= {member.user for member in members if member.state == "approved"}
        return [user for user in users if user.id in known]

    async def change(self, person: str, change: PersonChange, *, principal: Principal) -> User:
        """Keep a person out or let one in, and name an operator or take that back.

        Of a person who is kept out, sessions, keys, streams and runs end on every server within a
        second.

        Raises:
            AccountNotFound: There is no such person for this caller.
            AccessDenied: The caller is no operator who has signed in.
            InvalidRequest: It is the last operator, or a service account.
        """
        check_is_person(principal, "the accounts")
        user = await self._find_for_operator(person, principal)
        if change.operator is not None and change.operator != user.is_operator:
            user = await self._set_operator(user, principal, is_operator=change.operator)
        if change.disabled is None:
            return user
        return await (self._disable if change.disabled else self._enable)(user, principal)

    async def _set_operator(self, user: User, principal: Principal, *, is_operator: bool) -> User:
        if user.is_service:
            raise InvalidRequest(f"'{user.handle}' is a service account, and operates nothing.")
        if principal.kind != "user":
            raise AccessDenied("the accounts", "only an operator who has signed in names others")
        if not is_operator:
            await self._check_not_last(user)
        action = "name_operator" if is_operator else "dismiss_operator"
        async with self._parts.record(action, user.handle, principal):
            changed = await self._parts.store.update_user(
                user.id, {"is_operator": is_operator}, keeps_operator=not is_operator
            )
        self._callers.forget()
        return changed or user

    async def _disable(self, user: User, principal: Principal) -> User:
        await self._check_not_last(user)
        async with self._parts.record("disable", user.handle, principal):
            disabled_at = user.disabled_at or self._parts.now()
            changed = await self._parts.store.update_user(
                user.id, {"disabled_at": disabled_at}, keeps_operator=True
            )
            await self._parts.store.end_sessions(user=user.id)
        self._callers.forget()
        await self._parts.report_end(user.id, by=principal)
        return changed or user

    async def _enable(self, user: User, principal: Principal) -> User:
        async with self._parts.record("enable", user.handle, principal):
            changed = await self._parts.store.update_user(user.id, {"disabled_at": None})
        self._callers.forget()
        return changed or user

    async def _check_not_last(self, user: User) -> None:
        if is_last_operator(await self._parts.store.users(), user.id):
            raise InvalidRequest(f"'{user.handle}' is the last operator: name another one first.")

    async def _may_still_make(self, link: OneTimeLink) -> bool:
        """Whether the maker of a link could make it now, as it gives what the maker may give."""
        if not link.maker:
            return True
        try:
            maker = await self._callers.name_now(Principal(id=link.maker, user=link.maker))
        except AccessDenied:
            return False
        if maker.is_operator or link.purpose != "invitation":
            return maker.is_operator
        return maker.has_scope_in(link.organisation, PEOPLE_SCOPE)

    def _purpose_of(self, wanted: LinkRequest) -> LinkPurpose:
        if wanted.person:
            return "sign_in"
        if self._parts.has_begun:
            return "invitation"
        if wanted.organisation:
            raise AccountNotFound(f"There is no organisation '{wanted.organisation[:40]}'.")
        return "first"

    async def _check_invitation(self, wanted: LinkRequest, principal: Principal) -> tuple[str, ...]:
        if not principal.user:
            raise AccessDenied("the accounts", "this token may only make links to sign in again")
        organisation = wanted.organisation
        if not organisation and not principal.is_operator:
            raise AccessDenied("the accounts", "an organisation must be named")
        if organisation and not await self._may_see(organisation, principal):
            raise AccountNotFound(f"There is no organisation '{organisation[:40]}'.")
        if organisation and not principal.has_scope_in(organisation, PEOPLE_SCOPE):
            raise AccessDenied(organisation, "the caller is no administrator")
        if not organisation:
            return ()
        known = await self._parts.list_role_names(organisation)
        return check_roles(wanted.roles or ("member",), known)

    async def _may_see(self, organisation: str, principal: Principal) -> bool:
        if organisation in principal.organisations:
            return True
        is_there = await self._parts.store.organisation(organisation) is not None
        return is_there and principal.is_operator

    async def _find_for_operator(self, person: str, principal: Principal) -> User:
        user = await self._find_person(person, principal)
        if not principal.is_operator or not principal.user:
            raise AccessDenied("the accounts", "the caller is no operator")
        return user

    async def _find_person(self, person: str, principal: Principal) -> User:
        if principal.is_operator:
            user = await self._parts.store.find_user(person)
        else:  # the same work for a person who is not there as for one of others
            user = find_by_login(person, await self.list(principal=principal))
        if user is None:
            raise AccountNotFound(f"There is no person '{person[:80]}'.")
        return user

    async def _create(self, new: NewAccount, link: OneTimeLink) -> NewIdentity:
        is_first, now = link.purpose == "first", self._parts.now()
        handle, email = check_handle(new.handle), check_email(new.email)
        name = check_display_text(new.name, "name")
        title = check_display_text(new.organisation_title, "title of the organisation")
        check_password(new.password)
        if is_first:
            check_handle(new.organisation)
        elif new.organisation:
            raise InvalidRequest("An invited person founds no organisation with the account.")
        id_ = FIRST_USER if is_first else f"u_{secrets.token_hex(8)}"
        organisation = new.organisation if is_first else link.organisation
        founded = Organisation(
            handle=organisation,
            title=title or organisation,
            created_at=now,
            created_by=id_,
        )
        member = Membership(
            organisation=organisation,
            user=id_,
            created_at=now,
            roles=(ADMINISTRATOR, EDITOR) if is_first else link.roles,
            state="approved",
            decided_by=id_ if is_first else link.created_by.rpartition("/")[2],
        )
        user = User(
            id=id_,
            handle=handle,
            name=name or handle,
            email=email,
            password=await self._passwords.create_hash(new.password),
            is_operator=is_first,
            organisation=organisation,
            created_at=now,
        )
        return NewIdentity(
            at=now,
            link=link.digest,
            user=user,
            organisation=founded if is_first else None,
            memberships=(member,) if organisation else (),
        )
