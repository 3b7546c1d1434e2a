"""Counts what accounts and organisations use, and refuses what is beyond their quotas.

Counters are in memory, and what was added to them is stored in batches. So a call costs no query;
servers that share a database learn of each other's calls with the next batch. Close to a limit,
each call is counted in the database before it runs.
"""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from pegboard.core.ports.accounts.quota_store import Measure, Quota, QuotaStore, QuotaUsage, Window
from pegboard.core.principal import Principal
from pegboard.errors import QuotaExceeded, Unavailable
from pegboard.execution.limits.quota_checks import (
    QuotaCheck,
    QuotaCounter,
    build_refusal,
    read_window,
    refuse_used_up,
)

Limits = Mapping[tuple[Measure, Window], float]
_MEASURES: tuple[Measure, ...] = ("calls", "cost")
_WINDOWS: tuple[Window, ...] = ("day", "month")


class QuotaDefaults(Struct, frozen=True, kw_only=True):
    """The quotas of those for whom operators have set none, as the board file says."""

    person: Limits = {}
    service: Limits = {}
    organisation: Limits = {}


NO_DEFAULTS = QuotaDefaults()

_MARGIN = 100.0
_MARGIN_SHARE = 0.01
_MAX_EXPECTED = 10_000
"""Where servers share the counters: the last calls or dollars of a quota, counted in the store."""


class QuotaState(Struct, frozen=True, kw_only=True):
    """A quota and what was used of it.

    Attributes:
        quota: As it was set.
        is_default: Whether it is that of the board file.
        resets_at: Unix seconds at which the next window begins.
    """

    quota: Quota
    is_default: bool
    used: float
    resets_at: float

    @property
    def is_used_up(self) -> bool:
        """Whether nothing is left in this window."""
        return self.quota.limit is not None and self.used >= self.quota.limit


class CostHold(Struct, frozen=True):
    """What an answer of a model counts for, while it is given.

    Attributes:
        reserved: US dollars that are counted already.
        is_stored: Whether they are counted in the store.
    """

    checks: tuple[QuotaCheck, ...]
    person: str
    reserved: float = 0.0
    is_stored: bool = False


_Checks = Mapping[Measure, tuple[QuotaCheck, ...]]


class QuotaMeter:
    """Counts calls and costs. Safe for several threads.

    A quota is counted from the moment it is set. A process that is killed loses what it has not
    stored yet, which is what it has counted since the last `save`.

    Args:
        store: Stores quotas and what was used.
        now: Unix seconds.
        defaults: Those of the board file in force.
        is_shared: Whether other servers count in the same store.
    """

    def __init__(
        self,
        store: QuotaStore,
        *,
        is_shared: bool = False,
        now: Callable[[], float] = time.time,
        defaults: Callable[[], QuotaDefaults] = lambda: NO_DEFAULTS,
    ) -> None:
        self._store = store
        self._is_shared = is_shared
        self._now = now
        self._defaults = defaults
        self._lock = threading.Lock()
        self._turn = asyncio.Lock()
        self._quotas: Mapping[tuple[str, str], Sequence[Quota]] = {}
        self._stamp = ""
        self._counters: dict[str, QuotaCounter] = {}
        self._checks: dict[tuple[str, str, str], _Checks] = {}
        self._known_defaults = NO_DEFAULTS
        self._day_ends = 0.0
        self._expected: OrderedDict[str, float] = OrderedDict()

    def count_call(self, principal: Principal) -> bool:
        """Count a call of an account; a refused one does not count.

        Returns:
            Whether it is counted; else it is close to a limit that servers share, and
            `count_call_in_store` counts it.

        Raises:
            QuotaExceeded: The account, or its organisation, may make no more calls now.
        """
        checks = self._find_checks(principal)["calls"]
        if not checks:
            return True
        with self._lock:
            for check in checks:
                counter = check.counter
                if counter.stored + counter.waiting >= check.near:
                    refuse_used_up(checks, self._now())
                    return False  # only where servers share it; else the limit is reached
            for check in checks:
                check.counter.waiting += 1
                check.counter.touched = True
        return True

    async def count_call_in_store(self, principal: Principal) -> None:
        """Count a call in the store, so that no server counts one beyond the limit with it.

        Raises:
            QuotaExceeded: As of `count_call`.
            Unavailable: The store cannot be written; the call does not count.
        """
        checks = self._find_checks(principal)["calls"]
        totals = await self._add(checks, 1.0)
        with self._lock:
            is_within = all(
                totals[check.counter.id] + check.counter.waiting <= check.limit for check in checks
            )
            for check in checks:
                check.counter.touched = True
                check.counter.stored += is_within
        if is_within:
            return
        await self._add(checks, -1.0)
        with self._lock:
            for check in checks:
                check.counter.stored = max(check.counter.stored, totals[check.counter.id] - 1.0)
            refuse_used_up(checks, self._now())
        raise build_refusal(checks[0], self._now())  # taken by another server for a moment

    async def _add(self, checks: tuple[QuotaCheck, ...], used: float) -> dict[str, float]:
        return await self._store.add(
            [
                QuotaUsage(counter=item.counter.id, used=used, ends_at=item.counter.ends_at)
                for item in checks
            ]
        )

    def explain(self, principal: Principal) -> str:
        """Why the next call of a caller would be refused; empty if it would not."""
        if principal.user:
            try:
                refuse_used_up(self._find_checks(principal)["calls"], self._now())
            except QuotaExceeded as error:
                return str(error)
        return ""

    async def begin_cost(self, principal: Principal) -> CostHold:
        """Check that an account may ask a model, before it does.

        Close to a limit that servers share, what its last answer has cost is counted in the store
        at once, so that answers which are given at the same time count too.

        Returns:
            For `end_cost`, once the answer has come or has failed.

        Raises:
            QuotaExceeded: What it, or its organisation, may spend in a window is spent.
            Unavailable: The store cannot be written, close to a limit.
        """
        checks = self._find_checks(principal)["cost"] if principal.user else ()
        for check in checks:
            check.counter.touched = True  # also when refused: what others hold is given back
        refuse_used_up(checks, self._now())
        if not self._is_shared or all(check.counter.used < check.near for check in checks):
            return CostHold(checks, principal.user)
        expected = self._expected.get(principal.user, 0.0)
        totals = await self._add(checks, expected)
        with self._lock:
            # what is given back may be in the totals already
            spent = [
                check
                for check in checks
                if totals[check.counter.id] + max(check.counter.waiting, 0.0) - expected
                >= check.limit
            ]
            for check in checks:
                check.counter.stored += expected
        hold = CostHold(checks, principal.user, expected, is_stored=True)
        if not spent:
            return hold
        await self.end_cost(hold, 0.0)
        raise build_refusal(spent[0], self._now())

    async def end_cost(self, hold: CostHold, cost: float) -> None:
        """Count what the answer of a model has cost, in US dollars; 0 for none.

        What cannot be stored at once is stored with the next `save`.
        """
        self.add_cost(hold, cost)
        if hold.is_stored:
            with suppress(Unavailable):
                await self.save()

    def add_cost(self, hold: CostHold, cost: float) -> None:
        """Count what an answer has cost with the next `save`, as where its caller has gone."""
        with self._lock:
            if cost:
                self._expected[hold.person] = cost
            while len(self._expected) > _MAX_EXPECTED:
                self._expected.popitem(last=False)
        self._count(hold.checks, cost - hold.reserved)

    def count_cost(self, principal: Principal, cost: float) -> None:
        """Count what a model has cost beside an answer, as embeddings do, with the next `save`."""
        self._count(self._find_checks(principal)["cost"] if principal.user else (), cost)

    def _count(self, checks: tuple[QuotaCheck, ...], cost: float) -> None:
        with self._lock:
            for check in checks:
                check.counter.waiting += cost
                check.counter.touched = True

    def list_states(self, principal: Principal) -> list[QuotaState]:
        """The quotas that hold for a caller, the strictest of each counter."""
        checks = self._find_checks(principal)
        return [
            QuotaState(
                quota=check.quota,
                is_default=check.is_default,
                used=check.counter.used,
                resets_at=check.counter.ends_at,
            )
            for measure in _MEASURES
            for check in checks[measure]
        ]

    def read_state(self, quota: Quota) -> QuotaState:
        """What was used of a quota."""
        name, ends_at = self._name_counter(quota)
        counter = self._counters.get(name)
        used = 0.0 if counter is None else counter.used
        return QuotaState(quota=quota, is_default=False, used=used, resets_at=ends_at)

    def list_quotas(self) -> list[Quota]:
        """All quotas that are set, by key."""
        found = (quota for quotas in self._quotas.values() for quota in quotas)
        return sorted(found, key=lambda quota: quota.key)

    def use(self, quotas: Iterable[Quota]) -> None:
        """Use these quotas from now on."""
        found: dict[tuple[str, str], list[Quota]] = {}
        for quota in quotas:
            found.setdefault((quota.person, quota.organisation), []).append(quota)
        with self._lock:
            self._quotas = found
            self._checks.clear()

    async def load(self) -> None:
        """Read the quotas and what was used of them.

        Raises:
            Unavailable: The store cannot be read.
        """
        async with self._turn:
            await self._load()

    async def _load(self) -> None:
        self._stamp = await self._store.stamp()
        quotas, usages = await self._store.quotas(), await self._store.usage(at=self._now())
        with self._lock:
            for item in usages:
                self._count_stored(item.counter, item.ends_at).stored = item.used
        self.use(quotas)

    async def put(self, quota: Quota) -> None:
        """Set a quota, in place of that with the same key.

        Raises:
            Unavailable: It could not be stored, and does not hold.
        """
        await self._store.put(quota)
        await self.load()

    async def remove(self, key: str) -> None:
        """Remove a quota.

        Raises:
            Unavailable: It could not be removed, and still holds.
        """
        await self._store.remove(key)
        await self.load()

    async def save(self) -> None:
        """Store what was counted.

        Raises:
            Unavailable: It could not be stored, and is stored with the next call.
        """
        async with self._turn:
            await self._save()

    async def _save(self) -> None:
        with self._lock:
            waiting = [(it, it.waiting) for it in self._counters.values() if it.waiting]
        if not waiting:
            return
        await self._store.add(
            [QuotaUsage(counter=it.id, used=more, ends_at=it.ends_at) for it, more in waiting]
        )
        with self._lock:
            for counter, more in waiting:
                counter.stored += more
                counter.waiting -= more

    async def follow(self, *, all_counters: bool = False) -> None:
        """Take over what other servers have set, and have counted on counters in use here.

        Args:
            all_counters: Whether to read those as well that were not used here of late.

        Raises:
            Unavailable: The store cannot be read or written.
        """
        async with self._turn:
            if await self._store.stamp() != self._stamp:
                await self._load()
            await self._save()
            await self._read_counters(all_counters=all_counters)

    async def _read_counters(self, *, all_counters: bool) -> None:
        with self._lock:
            wanted = [it for it in self._counters.values() if it.touched or all_counters]
            for counter in wanted:
                counter.touched = False
        if wanted:
            used = await self._store.read_counters([counter.id for counter in wanted])
            with self._lock:
                for counter in wanted:
                    counter.stored = used.get(counter.id, 0.0)

    def _find_checks(self, principal: Principal) -> _Checks:
        defaults, now = self._defaults(), self._now()
        if now >= self._day_ends or defaults is not self._known_defaults:
            self._begin(defaults, now)
        key = (principal.user, _find_tenant(principal), principal.kind)
        found = self._checks.get(key)
        if found is None:
            with self._lock:
                found = self._checks[key] = self._compile(principal, defaults)
        return found

    def _begin(self, defaults: QuotaDefaults, now: float) -> None:
        """Begin a day, or with other defaults."""
        with self._lock:
            self._day_ends = read_window(now, "day")[1]
            self._known_defaults = defaults
            self._checks.clear()
            self._counters = {
                name: it for name, it in self._counters.items() if it.ends_at > now or it.waiting
            }

    def _compile(self, principal: Principal, defaults: QuotaDefaults) -> _Checks:
        user, tenant = principal.user, _find_tenant(principal)
        own = defaults.service if principal.kind == "service" else defaults.person
        subjects: list[tuple[str, str, Limits]] = [(user, "", own)]
        if tenant:
            subjects += [(user, tenant, {}), ("", tenant, defaults.organisation)]
        return {
            measure: tuple(
                check
                for person, organisation, limits in subjects
                for window in _WINDOWS
                for check in self._find_check(person, organisation, measure, window, limits)
            )
            for measure in _MEASURES
        }

    def _find_check(
        self, person: str, organisation: str, measure: Measure, window: Window, defaults: Limits
    ) -> Iterator[QuotaCheck]:
        """The strictest quota; that of operators stands in place of the board file's."""
        given = [
            quota
            for quota in self._quotas.get((person, organisation), ())
            if (quota.measure, quota.window) == (measure, window)
        ]
        limit = defaults.get((measure, window))
        is_replaced = any(quota.setter == "operator" for quota in given)
        default = Quota(
            measure=measure, window=window, limit=limit, person=person, organisation=organisation
        )
        known = [*given, *(() if is_replaced else (default,))]
        limited = [(quota.limit, quota) for quota in known if quota.limit is not None]
        if limited:
            strictest, quota = min(limited, key=lambda item: item[0])
            counter = self._count_stored(*self._name_counter(quota))
            margin = max(_MARGIN, strictest * _MARGIN_SHARE) if self._is_shared else 0.0
            yield QuotaCheck(counter, strictest, strictest - margin, quota, quota is default)

    def _count_stored(self, name: str, ends_at: float) -> QuotaCounter:
        return self._counters.setdefault(name, QuotaCounter(name, ends_at))

    def _name_counter(self, quota: Quota) -> tuple[str, float]:
        period, ends_at = read_window(self._now(), quota.window)
        return f"{quota.person} {quota.organisation} {quota.measure} {period}", ends_at


def _find_tenant(principal: Principal) -> str:
    # the organisation for which a call counts, also once the caller has left its usual one
    return principal.tenant or min(principal.organisations, default="")
