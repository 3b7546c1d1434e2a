"""Quotas: how many calls and how much model cost accounts and organisations may use."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from math import isfinite

from msgspec import Struct, structs

from pegboard.core.ports.accounts.quota_store import Measure, Quota, QuotaSetter, Window
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, AccountNotFound, InvalidRequest, Unavailable
from pegboard.execution.limits.quotas import QuotaMeter, QuotaState
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.permissions import PEOPLE_SCOPE, check_is_person

MAX_LIMIT = 1e12
_MAX_QUOTAS = 10_000


class QuotaSubject(Struct, frozen=True, kw_only=True):
    """What a quota limits.

    Attributes:
        person: A handle, of a service account too; empty for all of the organisation.
        organisation: A handle; empty for all that the person uses.
    """

    measure: Measure
    window: Window
    person: str = ""
    organisation: str = ""


class QuotaView(Struct, frozen=True, kw_only=True):
    """A quota, what was used of it, and the handle of its person."""

    state: QuotaState
    person: str


class Quotas:
    """The quotas of a board, set by operators and by administrators of organisations.

    What operators set for a person or an organisation stands in place of the default of the board
    file. Administrators limit their own organisation and what its members use on its behalf, beside
    that: the strictest quota holds.

    Args:
        parts: The stores, the clock and the audit trail.
    """

    def __init__(self, parts: IdentityParts) -> None:
        self._parts = parts

    async def list(self, *, principal: Principal) -> Sequence[QuotaView]:
        """The quotas that hold for the caller, and those that it may change.

        Raises:
            Unavailable: The store cannot be read.
        """
        meter = self._meter
        await meter.follow(all_counters=True)
        found: dict[str, QuotaState] = {}
        if principal.user:
            for tenant in sorted({principal.tenant, *principal.organisations}):
                acting = structs.replace(principal, tenant=tenant)
                found |= {item.quota.key: item for item in meter.list_states(acting)}
        for quota in meter.list_quotas():
            if quota.key not in found and _may_list(principal, quota):
                found[quota.key] = meter.read_state(quota)
        handles = await self._read_handles(item.quota.person for item in found.values())
        views = [
            QuotaView(state=item, person=handles[item.quota.person]) for item in found.values()
        ]
        return sorted(views, key=_order_of)

    async def put(
        self, subject: QuotaSubject, limit: float | None, *, principal: Principal
    ) -> QuotaView:
        """Set a quota; it holds from the next call on, and counts from now on.

        Args:
            subject: What it limits.
            limit: Calls, or US dollars; None for no limit, in place of the board file's default.
            principal: An operator, or an administrator of the organisation.

        Raises:
            AccountNotFound: There is no such person or organisation for this caller.
            AccessDenied: The caller may not set it.
            InvalidRequest: The subject or the limit is not allowed.
        """
        quota = await self._find(subject, principal)
        _check_limit(limit, quota)
        meter = self._meter
        await meter.follow()
        known = {item.key for item in meter.list_quotas()}
        if quota.key not in known and len(known) >= _MAX_QUOTAS:
            raise InvalidRequest(f"There are {_MAX_QUOTAS} quotas already: remove one.")
        quota = structs.replace(
            quota, limit=limit, changed_at=self._parts.now(), changed_by=principal.id
        )
        async with self._record("set_quota", subject, principal, limit=limit):
            await meter.put(quota)
        handles = await self._read_handles([quota.person])
        return QuotaView(state=meter.read_state(quota), person=handles[quota.person])

    async def remove(
        self, subject: QuotaSubject, *, principal: Principal, setter: QuotaSetter | None = None
    ) -> None:
        """Remove a quota; the default of the board file holds again.

        Operators remove those of administrators, too.

        Args:
            subject: What it limits.
            principal: An operator, or an administrator of the organisation.
            setter: By which right it was set. None for the right of the caller; for an operator who
                has set none, that of administrators.

        Raises:
            AccountNotFound: There is no such person, organisation or quota for this caller.
            AccessDenied: The caller may not remove it.
            InvalidRequest: The subject is not allowed.
        """
        own = await self._find(subject, principal)
        if setter == "operator" and not principal.is_operator:
            raise AccessDenied("quotas", "an operator has set it")
        of_administrators = structs.replace(own, setter="administrator")
        meter = self._meter
        await meter.follow()
        known = {item.key for item in meter.list_quotas()}
        wanted = {"operator": [own], "administrator": [of_administrators]}
        removable = [own, of_administrators] if setter is None else wanted[setter]
        key = next((item.key for item in removable if item.key in known), "")
        if not key:
            raise AccountNotFound("There is no such quota.")
        async with self._record("remove_quota", subject, principal):
            await meter.remove(key)

    @property
    def _meter(self) -> QuotaMeter:
        meter = self._parts.meter
        if meter is None:
            raise Unavailable("Nothing is counted here.", nothing_done=True)
        return meter

    def _record(
        self, action: str, subject: QuotaSubject, principal: Principal, **detail: object
    ) -> AbstractAsyncContextManager[None]:
        name = subject.person or subject.organisation
        return self._parts.record(action, name, principal, **structs.asdict(subject), **detail)

    async def _find(self, subject: QuotaSubject, principal: Principal) -> Quota:
        """The quota of a subject that the caller may change, without its limit."""
        check_is_person(principal, "quotas")
        person, organisation = subject.person, subject.organisation
        if not person and not organisation:
            raise InvalidRequest("A quota is of a person, of an organisation, or of both.")
        if organisation:
            await self._check_organisation(organisation, principal)
        elif not principal.is_operator:
            raise AccessDenied("quotas", "an administrator names an organisation")
        user = await self._find_user(person, organisation) if person else ""
        setter: QuotaSetter = "operator" if principal.is_operator else "administrator"
        return Quota(
            measure=subject.measure,
            window=subject.window,
            limit=None,
            person=user,
            organisation=organisation,
            setter=setter,
        )

    async def _check_organisation(self, organisation: str, principal: Principal) -> None:
        is_there = await self._parts.store.organisation(organisation) is not None
        if not is_there or not (principal.is_operator or organisation in principal.organisations):
            raise AccountNotFound(f"There is no organisation '{organisation[:40]}'.")
        if not principal.has_scope_in(organisation, PEOPLE_SCOPE):
            raise AccessDenied(organisation, "the caller is no administrator")

    async def _find_user(self, person: str, organisation: str) -> str:
        if organisation:
            user = await self._parts.find_member(person, [organisation])
        else:
            user = await self._parts.store.find_user(person)
        if user is None:
            where = f" in '{organisation}'" if organisation else ""
            raise AccountNotFound(f"There is no person '{person[:80]}'{where}.")
        return user.id

    async def _read_handles(self, users: Iterable[str]) -> dict[str, str]:
        wanted = set(users)
        found = await self._parts.read_people(wanted)
        return {id_: found[id_].handle if id_ in found else id_ for id_ in {"", *wanted}}


def _may_list(principal: Principal, quota: Quota) -> bool:
    """Whether a caller sees a quota that may not hold for itself."""
    if principal.is_operator:
        return True
    return bool(quota.organisation) and principal.has_scope_in(quota.organisation, PEOPLE_SCOPE)


def _check_limit(limit: float | None, quota: Quota) -> None:
    if limit is None:
        if quota.setter == "administrator":
            raise InvalidRequest("Remove the quota instead: the others hold in any case.")
        return
    if not isfinite(limit) or not 0 <= limit <= MAX_LIMIT:
        raise InvalidRequest("A limit is 0 or more.")
    if quota.measure == "calls" and limit != int(limit):
        raise InvalidRequest("A limit of calls is a whole number.")


def _order_of(view: QuotaView) -> tuple[str, ...]:
    quota = view.state.quota
    return (quota.organisation, view.person, quota.measure, quota.window, quota.setter)
