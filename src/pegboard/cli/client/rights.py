"""Quotas and the roles of organisations, of a board that the command has opened or of a server."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

from pegboard.core.ports.accounts.quota_store import Measure, Window
from pegboard.core.ports.accounts.role_store import Level
from pegboard.core.principal import Principal

if TYPE_CHECKING:
    from pegboard.features.identity import Identity

Answer = dict[str, Any]
Ask = Callable[..., Awaitable[tuple[int, Answer]]]
Check = Callable[[int, Answer], Answer]
_NO_CONTENT = 204


class QuotasClient(Protocol):
    """Quotas as commands use them."""

    async def list(self) -> Answer:
        """The quotas that hold for the caller, and those that it may change."""
        ...

    async def put(
        self,
        measure: Measure,
        window: Window,
        limit: float | None,
        *,
        person: str,
        organisation: str,
    ) -> Answer:
        """Set a quota."""
        ...

    async def remove(
        self, measure: Measure, window: Window, *, person: str, organisation: str
    ) -> None:
        """Remove a quota."""
        ...


class RolesClient(Protocol):
    """The roles of organisations as commands use them."""

    async def list(self, organisation: str) -> Answer:
        """The roles that an organisation has defined."""
        ...

    async def put(
        self, organisation: str, name: str, levels: Mapping[str, Level], *, title: str
    ) -> Answer:
        """Define a role, or define it anew."""
        ...

    async def remove(self, organisation: str, name: str) -> None:
        """Remove a role."""
        ...

    async def assign(self, organisation: str, person: str, roles: Sequence[str]) -> Answer:
        """Give a member these roles, in place of those it has."""
        ...


class LocalQuotas:
    """Implements `QuotasClient` on the stored data of this machine.

    Args:
        identity: The accounts.
        principal: The caller.
    """

    def __init__(self, identity: "Identity", principal: Principal) -> None:
        self._quotas = identity.quotas
        self._principal = principal

    async def list(self) -> Answer:
        """The quotas that hold for the caller, and those that it may change."""
        from pegboard.features.identity.quota_schemas import quotas_to_dict

        return quotas_to_dict(await self._quotas.list(principal=self._principal))

    async def put(
        self,
        measure: Measure,
        window: Window,
        limit: float | None,
        *,
        person: str,
        organisation: str,
    ) -> Answer:
        """Set a quota."""
        from pegboard.features.identity.quota_schemas import quota_to_dict
        from pegboard.features.identity.quotas import QuotaSubject

        subject = QuotaSubject(
            measure=measure, window=window, person=person, organisation=organisation
        )
        return quota_to_dict(await self._quotas.put(subject, limit, principal=self._principal))

    async def remove(
        self, measure: Measure, window: Window, *, person: str, organisation: str
    ) -> None:
        """Remove a quota."""
        from pegboard.features.identity.quotas import QuotaSubject

        subject = QuotaSubject(
            measure=measure, window=window, person=person, organisation=organisation
        )
        await self._quotas.remove(subject, principal=self._principal)


class RemoteQuotas:
    """Implements `QuotasClient` over the HTTP API.

    Args:
        ask: Sends a request; returns the status and the answer.
        check: Returns the answer, or raises the error that it describes.
    """

    def __init__(self, ask: Ask, check: Check) -> None:
        self._ask = ask
        self._check = check

    async def list(self) -> Answer:
        """The quotas that hold for the caller, and those that it may change."""
        return self._check(*await self._ask("GET", "/quotas"))

    async def put(
        self,
        measure: Measure,
        window: Window,
        limit: float | None,
        *,
        person: str,
        organisation: str,
    ) -> Answer:
        """Set a quota."""
        body = {
            "measure": measure,
            "window": window,
            "limit": limit,
            "person": person,
            "organisation": organisation,
        }
        return self._check(*await self._ask("PUT", "/quotas", body=body))

    async def remove(
        self, measure: Measure, window: Window, *, person: str, organisation: str
    ) -> None:
        """Remove a quota."""
        subject = {
            "measure": measure,
            "window": window,
            "person": person,
            "organisation": organisation,
        }
        _check_done(self._check, *await self._ask("DELETE", "/quotas", query=subject))


class LocalRoles:
    """Implements `RolesClient` on the stored data of this machine.

    Args:
        identity: The accounts.
        principal: The caller.
    """

    def __init__(self, identity: "Identity", principal: Principal) -> None:
        self._identity = identity
        self._principal = principal

    async def list(self, organisation: str) -> Answer:
        """The roles that an organisation has defined."""
        from pegboard.features.identity.schemas import role_to_dict

        found = await self._identity.roles.list(organisation, principal=self._principal)
        return {"roles": [role_to_dict(role) for role in found]}

    async def put(
        self, organisation: str, name: str, levels: Mapping[str, Level], *, title: str
    ) -> Answer:
        """Define a role, or define it anew."""
        from pegboard.features.identity.schemas import role_to_dict

        defined = await self._identity.roles.put(
            organisation, name, levels, title=title, principal=self._principal
        )
        return role_to_dict(defined)

    async def remove(self, organisation: str, name: str) -> None:
        """Remove a role."""
        await self._identity.roles.remove(organisation, name, principal=self._principal)

    async def assign(self, organisation: str, person: str, roles: Sequence[str]) -> Answer:
        """Give a member these roles, in place of those it has."""
        from pegboard.features.identity.schemas import member_to_dict

        member = await self._identity.organisations.approve(
            organisation, person, roles, principal=self._principal
        )
        return member_to_dict(member)


class RemoteRoles:
    """Implements `RolesClient` over the HTTP API.

    Args:
        ask: Sends a request; returns the status and the answer.
        check: Returns the answer, or raises the error that it describes.
    """

    def __init__(self, ask: Ask, check: Check) -> None:
        self._ask = ask
        self._check = check

    async def list(self, organisation: str) -> Answer:
        """The roles that an organisation has defined."""
        return self._check(*await self._ask("GET", f"{_path_of(organisation)}/roles"))

    async def put(
        self, organisation: str, name: str, levels: Mapping[str, Level], *, title: str
    ) -> Answer:
        """Define a role, or define it anew."""
        path = f"{_path_of(organisation)}/roles/{quote(name, safe='')}"
        body = {"levels": dict(levels), "title": title}
        return self._check(*await self._ask("PUT", path, body=body))

    async def remove(self, organisation: str, name: str) -> None:
        """Remove a role."""
        path = f"{_path_of(organisation)}/roles/{quote(name, safe='')}"
        _check_done(self._check, *await self._ask("DELETE", path))

    async def assign(self, organisation: str, person: str, roles: Sequence[str]) -> Answer:
        """Give a member these roles, in place of those it has."""
        path = f"{_path_of(organisation)}/members/{quote(person, safe='')}"
        return self._check(*await self._ask("PUT", path, body={"roles": [*roles]}))


def _check_done(check: Check, status: int, answer: Answer) -> None:
    if status != _NO_CONTENT:
        check(status, answer)


def _path_of(organisation: str) -> str:
    return f"/organisations/{quote(organisation, safe='')}"
