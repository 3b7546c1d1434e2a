"""Roles that an organisation defines itself, as levels by source or pattern."""

import re
from collections.abc import Mapping, Sequence

from pegboard.access.roles import LEVELS, ROLES
from pegboard.core.ports.accounts.role_store import Level, OwnRole
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, AccountNotFound, InvalidRequest
from pegboard.features.display_text import check_display_text
from pegboard.features.identity.callers import AccountCallers
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.permissions import PEOPLE_SCOPE, check_is_person

ROLE_NAME = re.compile(r"[a-z][a-z0-9_-]{1,30}")
MAX_LEVELS = 200
_MAX_PATTERN = 64
_MAX_ROLES = 100


class OwnRoles:
    """The roles of organisations beside the shipped ones.

    Args:
        parts: The stores, the clock and the audit trail.
        callers: Forgets what it knows when rights change.
    """

    def __init__(self, parts: IdentityParts, callers: AccountCallers) -> None:
        self._parts = parts
        self._callers = callers

    async def list(self, organisation: str, *, principal: Principal) -> Sequence[OwnRole]:
        """The roles that an organisation has defined, by name.

        Raises:
            AccountNotFound: There is no such organisation for this caller.
        """
        await self._check_may_see(organisation, principal)
        return await self._parts.roles.roles([organisation])

    async def put(
        self,
        organisation: str,
        name: str,
        levels: Mapping[str, Level],
        *,
        title: str = "",
        principal: Principal,
    ) -> OwnRole:
        """Define a role, or define it anew; its members have the new rights at once.

        Raises:
            AccountNotFound: There is no such organisation for this caller.
            AccessDenied: The caller is no administrator of it.
            InvalidRequest: The name or a pattern is not allowed, or there are too many.
        """
        await self._check_may_change(organisation, principal)
        known = await self._parts.roles.roles([organisation])
        _check(name, levels, is_full=len(known) >= _MAX_ROLES, known={it.name for it in known})
        role = OwnRole(
            organisation=organisation,
            name=name,
            levels=dict(levels),
            title=check_display_text(title, "title"),
            changed_at=self._parts.now(),
            changed_by=principal.id,
        )
        async with self._parts.record(
            "define_role", name, principal, organisation=organisation, levels=dict(levels)
        ):
            await self._parts.roles.put(role)
        self._callers.forget()
        return role

    async def remove(self, organisation: str, name: str, *, principal: Principal) -> None:
        """Remove a role; its members keep its name, which gives them nothing.

        Raises:
            AccountNotFound: There is no such organisation or role for this caller.
            AccessDenied: The caller is no administrator of the organisation.
        """
        await self._check_may_change(organisation, principal)
        if name not in {it.name for it in await self._parts.roles.roles([organisation])}:
            raise AccountNotFound(f"There is no role '{name[:40]}'.")
        async with self._parts.record("remove_role", name, principal, organisation=organisation):
            await self._parts.roles.remove(organisation, name)
        self._callers.forget()

    async def _check_may_see(self, organisation: str, principal: Principal) -> None:
        is_there = await self._parts.store.organisation(organisation) is not None
        if not is_there or not (principal.is_operator or organisation in principal.organisations):
            raise AccountNotFound(f"There is no organisation '{organisation[:40]}'.")

    async def _check_may_change(self, organisation: str, principal: Principal) -> None:
        await self._check_may_see(organisation, principal)
        if not principal.has_scope_in(organisation, PEOPLE_SCOPE):
            raise AccessDenied(organisation, "the caller is no administrator")
        check_is_person(principal, organisation)


def _check(name: str, levels: Mapping[str, Level], *, is_full: bool, known: set[str]) -> None:
    if ROLE_NAME.fullmatch(name) is None:
        raise InvalidRequest(
            f"'{name[:40]}' cannot be a role: it has 2 to 31 characters of a-z, 0-9, '_' and '-', "
            "and starts with a letter."
        )
    if name in ROLES:
        raise InvalidRequest(f"'{name}' is a role that every organisation has.")
    if is_full and name not in known:
        raise InvalidRequest(f"An organisation defines at most {_MAX_ROLES} roles.")
    if not 1 <= len(levels) <= MAX_LEVELS:
        raise InvalidRequest(f"A role has levels for 1 to {MAX_LEVELS} sources or patterns.")
    for pattern, level in levels.items():
        if not 1 <= len(pattern) <= _MAX_PATTERN or level not in LEVELS:
            raise InvalidRequest(
                f"'{pattern[:80]}: {str(level)[:20]}' is no level: write a source or a pattern of "
                f"at most {_MAX_PATTERN} characters, and one of {', '.join(LEVELS)}."
            )
