"""Organisations and their members."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, structs

from pegboard.access.roles import ADMINISTRATOR, APPROVER, EDITOR, is_last_administrator
from pegboard.core.ports.accounts.identity_store import Membership, NewIdentity, Organisation, User
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, AccountNotFound, InvalidRequest
from pegboard.features.display_text import check_display_text
from pegboard.features.identity.callers import AccountCallers
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.rules import check_handle, check_roles
from pegboard.features.identity.sign_in_limits import SignInLimits
from pegboard.features.permissions import PEOPLE_SCOPE, check_is_person, check_may_write


class Member(Struct, frozen=True, kw_only=True):
    """A membership with its person."""

    membership: Membership
    user: User


class Organisations:
    """Founds organisations, and lets people in.

    Args:
        parts: The store, the clock and the audit trail.
        callers: Forgets what it knows when rights change.
    """

    def __init__(self, parts: IdentityParts, callers: AccountCallers) -> None:
        self._parts = parts
        self._callers = callers

    async def list(self, *, principal: Principal) -> Sequence[Organisation]:
        """The organisations of the caller; for operators, all."""
        found = await self._parts.store.organisations()
        if principal.is_operator:
            return found
        return [item for item in found if item.handle in principal.organisations]

    async def count_waiting(self, *, principal: Principal) -> Mapping[str, int]:
        """How many people wait in each organisation of the caller that it administers."""
        counts: dict[str, int] = {}
        for handle in principal.organisations:
            if principal.has_scope_in(handle, PEOPLE_SCOPE):
                found = await self._parts.store.memberships(organisation=handle)
                counts[handle] = sum(item.state == "waiting" for item in found)
        return counts

    async def create(self, handle: str, *, title: str = "", principal: Principal) -> Organisation:
        """Found an organisation, as its administrator and editor.

        Operators do, since its roles count for the tools of the whole board.

        Raises:
            AccessDenied: The caller is no operator who has signed in.
            InvalidRequest: The handle is taken.
            InvalidRequest: The handle breaks the rule.
        """
        if not principal.user or not principal.is_operator:
            raise AccessDenied("organisations", "the caller is no operator with an account")
        check_is_person(principal, "organisations")
        now = self._parts.now()
        organisation = Organisation(
            handle=check_handle(handle),
            title=check_display_text(title, "title") or handle,
            created_at=now,
            created_by=principal.user,
        )
        member = Membership(
            organisation=handle,
            user=principal.user,
            created_at=now,
            roles=(ADMINISTRATOR, EDITOR),
            state="approved",
            decided_by=principal.user,
        )
        async with self._parts.record("found", handle, principal):
            await self._parts.store.add(
                NewIdentity(at=now, organisation=organisation, memberships=(member,))
            )
        self._callers.forget()
        return organisation

    async def list_members(self, organisation: str, *, principal: Principal) -> Sequence[Member]:
        """The members, by handle; who waits is shown to administrators.

        Raises:
            AccountNotFound: There is no such organisation for this caller.
        """
        await self._check_may_see(organisation, principal)
        found = await self._parts.store.memberships(organisation=organisation)
        users = await self._parts.read_people(item.user for item in found)
        decides = principal.has_scope_in(organisation, PEOPLE_SCOPE)
        members = [
            Member(membership=item, user=users[item.user])
            for item in found
            if item.user in users and (decides or item.state == "approved")
        ]
        return sorted(members, key=lambda member: member.user.handle)

    async def ask_to_join(self, organisation: str, *, principal: Principal) -> None:
        """Ask to be let in; an organisation that does not exist is asked in vain.

        The store and the audit trail are asked for the same whether it exists or not, and each
        request is a write. Only the first one to an organisation that exists writes a row more.

        Raises:
            AccessDenied: The caller has no account, or its key may not write.
            RateLimited: The caller has asked too often.
        """
        if not principal.user:
            raise AccessDenied("organisations", "the caller has no account")
        check_may_write(principal, "organisations")
        await SignInLimits(self._parts).begin_join(principal.user)
        is_there = await self._parts.store.organisation(organisation) is not None
        known = await self._parts.store.memberships(user=principal.user, organisation=organisation)
        now = self._parts.now()
        waiting = Membership(organisation=organisation, user=principal.user, created_at=now)
        new = NewIdentity(at=now, memberships=(waiting,) if is_there and not known else ())
        async with self._parts.record("ask_to_join", organisation, principal):
            await self._parts.store.add(new)

    async def approve(
        self, organisation: str, person: str, roles: Sequence[str], *, principal: Principal
    ) -> Member:
        """Let a person in who waits, or give a member other roles.

        Raises:
            AccountNotFound: There is no such organisation or member for this caller.
            AccessDenied: The caller is no administrator of it.
            InvalidRequest: A role does not exist, or it would have no administrator left.
        """
        member = await self._find(organisation, person, principal)
        given = check_roles(roles, await self._parts.list_role_names(organisation))
        if member.user.is_service and APPROVER in given:
            raise InvalidRequest("A service account decides no approvals.")
        is_kept = ADMINISTRATOR in given
        if not is_kept:
            await self._check_not_last(organisation, member)
        changed = structs.replace(
            member.membership, roles=given, state="approved", decided_by=principal.id
        )
        async with self._parts.record(
            "approve", member.user.handle, principal, organisation=organisation, roles=given
        ):
            now = self._parts.now()
            await self._parts.store.add(
                NewIdentity(at=now, memberships=(changed,), keeps_administrator=not is_kept)
            )
        self._callers.forget()
        return Member(membership=changed, user=member.user)

    async def remove(self, organisation: str, person: str, *, principal: Principal) -> None:
        """Remove a member, or turn down a person who waits. Everybody may leave.

        Raises:
            AccountNotFound: There is no such organisation or member for this caller.
            AccessDenied: The caller is no administrator of it, and not the member.
            InvalidRequest: It would have no administrator left.
        """
        member = await self._find(organisation, person, principal, may_leave=True)
        await self._check_not_last(organisation, member)
        async with self._parts.record(
            "remove", member.user.handle, principal, organisation=organisation
        ):
            await self._parts.store.remove_membership(organisation, member.user.id)
        self._callers.forget()

    async def _find(
        self, organisation: str, person: str, principal: Principal, *, may_leave: bool = False
    ) -> Member:
        """A member of an organisation that the caller administers."""
        members = await self.list_members(organisation, principal=principal)
        found = [it for it in members if person.lower() in {it.user.handle, it.user.email} - {""}]
        check_is_person(principal, organisation)
        is_own = bool(found) and may_leave and found[0].user.id == principal.user
        if not principal.has_scope_in(organisation, PEOPLE_SCOPE):
            if not is_own:
                raise AccessDenied(organisation, "the caller is no administrator")
            check_may_write(principal, organisation)
        if not found:
            raise AccountNotFound(f"There is no member '{person[:80]}'.")
        return found[0]

    async def _check_may_see(self, organisation: str, principal: Principal) -> None:
        is_there = await self._parts.store.organisation(organisation) is not None
        if not is_there or not (principal.is_operator or organisation in principal.organisations):
            raise AccountNotFound(f"There is no organisation '{organisation[:40]}'.")

    async def _check_not_last(self, organisation: str, member: Member) -> None:
        found = await self._parts.store.memberships(organisation=organisation)
        if is_last_administrator(found, member.user.id):
            raise InvalidRequest(
                f"'{member.user.handle}' is the last administrator of '{organisation}'."
            )
