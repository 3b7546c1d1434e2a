"""Service accounts: what programs of an organisation are, beside its people."""

import secrets
from collections.abc import Sequence

from pegboard.access.roles import APPROVER
from pegboard.core.ports.accounts.identity_store import ApiKey, Membership, NewIdentity, User
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, AccountNotFound, InvalidRequest
from pegboard.features.display_text import check_display_text
from pegboard.features.identity.api_keys import ApiKeys, NewKey
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.rules import check_handle, check_key_scopes, check_roles
from pegboard.features.identity.sign_in_limits import SignInLimits
from pegboard.features.permissions import PEOPLE_SCOPE


class ServiceAccounts:
    """Makes the service accounts of an organisation, and their keys.

    A service account has roles as a member has, keys that its administrators make, and no password.
    It decides no approvals. It is given other roles, and removed, as a member.

    Args:
        parts: The store, the clock and the audit trail.
        keys: Makes and revokes keys.
    """

    def __init__(self, parts: IdentityParts, keys: ApiKeys) -> None:
        self._parts = parts
        self._keys = keys

    async def make(
        self,
        organisation: str,
        handle: str,
        *,
        name: str = "",
        roles: Sequence[str] = ("member",),
        principal: Principal,
    ) -> User:
        """Make a service account.

        Raises:
            AccountNotFound: There is no such organisation for this caller.
            AccessDenied: The caller is no administrator of it.
            InvalidRequest: The handle is taken or breaks the rule, or a role does not exist.
            RateLimited: The caller or the organisation has asked for too many names.
        """
        await self._check_administers(organisation, principal)
        given = check_roles(roles, await self._parts.list_role_names(organisation))
        now, id_ = self._parts.now(), f"u_{secrets.token_hex(8)}"
        if APPROVER in given:
            raise InvalidRequest("A service account decides no approvals.")
        user = User(
            id=id_,
            handle=check_handle(handle),
            name=check_display_text(name, "name") or handle,
            organisation=organisation,
            created_at=now,
            is_service=True,
        )
        member = Membership(
            organisation=organisation,
            user=id_,
            created_at=now,
            roles=given,
            state="approved",
            decided_by=principal.id,
        )
        limits = SignInLimits(self._parts)
        await limits.begin_claim(principal.user, organisation)
        async with self._parts.record(
            "make_service", handle, principal, organisation=organisation, roles=given
        ):
            await self._parts.store.add(NewIdentity(at=now, user=user, memberships=(member,)))
        await limits.succeed_claim(principal.user, organisation)
        return user

    async def list_keys(
        self, organisation: str, handle: str, *, principal: Principal
    ) -> Sequence[ApiKey]:
        """The keys of a service account; raises the errors of `make`."""
        service = await self._find(organisation, handle, principal)
        return await self._parts.store.keys(service.id)

    async def make_key(
        self,
        organisation: str,
        handle: str,
        name: str,
        *,
        scopes: Sequence[str] = ("*",),
        lifetime: float | None = None,
        principal: Principal,
    ) -> NewKey:
        """Make a key of a service account; raises the errors of `make`.

        Raises:
            InvalidRequest: There is no such scope, or the account has too many keys.
        """
        service = await self._find(organisation, handle, principal)
        check_key_scopes(scopes, (organisation,), is_operator=False)
        return await self._keys.make_for(
            service.id, name, scopes=scopes, lifetime=lifetime, principal=principal
        )

    async def revoke_key(
        self,
        organisation: str,
        handle: str,
        id: str,  # noqa: A002 - it is known by its id
        *,
        principal: Principal,
    ) -> ApiKey:
        """Revoke a key of a service account.

        Raises:
            AccountNotFound: There is no such organisation, service account or key for the caller.
            AccessDenied: The caller is no administrator of the organisation.
        """
        service = await self._find(organisation, handle, principal)
        return await self._keys.revoke_of(service.id, id, principal=principal)

    async def _find(self, organisation: str, handle: str, principal: Principal) -> User:
        await self._check_administers(organisation, principal)
        found = await self._parts.store.find_user(handle)
        if found is None or not found.is_service or found.organisation != organisation:
            raise AccountNotFound(f"There is no service account '{handle[:80]}'.")
        return found

    async def _check_administers(self, organisation: str, principal: Principal) -> None:
        is_seen = organisation in principal.organisations or (
            principal.is_operator and await self._parts.store.organisation(organisation) is not None
        )
        if not is_seen:
            raise AccountNotFound(f"There is no organisation '{organisation[:40]}'.")
        may = principal.kind == "user" and principal.has_scope_in(organisation, PEOPLE_SCOPE)
        if not may:
            raise AccessDenied(organisation, "the caller is no administrator who has signed in")
