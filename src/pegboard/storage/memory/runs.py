"""Plans and runs in memory, and their leases."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from msgspec import structs

from pegboard.core.graph import NodeState
from pegboard.core.pagination import check_page_size, decode_position, encode_cursor
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.run_store import LEASE, RunPage, RunQuery, StoredPlan, StoredRun
from pegboard.errors import InvalidRequest
from pegboard.storage.brief_runs import shorten_run
from pegboard.storage.json_text import copy_json
from pegboard.storage.memory.run_journal import MemoryRunJournal, StoredJournal
from pegboard.storage.port import GOES_ON


class MemoryRuns(MemoryRunJournal):
    """A `RunStore` in memory. Safe for several threads."""

    async def put_plan(self, plan: StoredPlan) -> None:
        new = copy_json(plan)
        with self._gate:
            if self._plans.setdefault(plan.id, new) != new:
                raise InvalidRequest(
                    f"another plan has the id '{plan.id}': give this one a different id"
                )
            if len(self._plans) > self._bound:  # the first made goes first, unless it has runs
                used = self._plans_in_use() | {plan.id}
                del self._plans[next((id_ for id_ in self._plans if id_ not in used), plan.id)]

    async def plan(self, id: str) -> StoredPlan | None:  # noqa: A002 - it is known by its id
        with self._gate:
            known = self._plans.get(id)
            return None if known is None else copy_json(known)

    async def create(
        self, start: RunStart, *, plan_id: str = "", owner: str = "", seconds: float = LEASE
    ) -> bool:
        run = StoredRun(
            start=copy_json(start),
            plan_id=plan_id,
            state=NodeState.IN_PROGRESS if owner else NodeState.PENDING,
            lease_owner=owner,
            lease_until=self._clock.time() + seconds if owner else None,
        )
        with self._gate:
            if start.run_id in self._runs:
                return False
            self._make_room()
            self._number += 1
            self._runs[start.run_id] = StoredJournal(number=self._number, run=run)
            return True

    async def get(self, id: str) -> StoredRun | None:  # noqa: A002 - it is known by its id
        with self._gate:
            entry = self._runs.get(id)
            return None if entry is None else copy_json(entry.run)

    async def get_all(self, ids: Collection[str]) -> Mapping[str, StoredRun]:
        with self._gate:
            known = [(id_, self._runs[id_]) for id_ in ids if id_ in self._runs]
            return {id_: copy_json(entry.run) for id_, entry in known}

    async def find_unfinished(self, ids: Collection[str]) -> frozenset[str]:
        with self._gate:
            known = {id_: self._runs[id_].run for id_ in ids if id_ in self._runs}
        return frozenset(id_ for id_, run in known.items() if run.finished_at is None)

    async def runs(self, query: RunQuery) -> RunPage:
        limit, before = check_page_size(query.limit), decode_position(query.cursor)
        with self._gate:
            found = [
                ((entry.run.start.created_at, entry.number), entry.run)
                for entry in self._runs.values()
                if _matches(query, entry.run)
            ]
            wanted = [item for item in found if before is None or item[0] < before]
            wanted.sort(key=lambda item: item[0], reverse=True)
            return RunPage(
                runs=[shorten_run(run) for _, run in wanted[:limit]],
                next_cursor=encode_cursor(*wanted[limit - 1][0]) if len(wanted) > limit else "",
            )

    async def take(self, owner: str, *, seconds: float = LEASE) -> StoredRun | None:
        with self._gate:
            now = self._clock.time()
            for entry in self._runs.values():
                run = entry.run
                is_due = run.state in GOES_ON or (run.wake_at is not None and run.wake_at <= now)
                if run.finished_at is None and _is_free(run, "", now) and is_due:
                    return _lease(entry, owner, now + seconds)
            return None

    async def lease(
        self,
        id: str,  # noqa: A002 - it is known by its id
        owner: str,
        *,
        seconds: float = LEASE,
    ) -> StoredRun | None:
        with self._gate:
            now, entry = self._clock.time(), self._runs.get(id)
            if entry is None or entry.run.finished_at is not None:
                return None
            if not _is_free(entry.run, owner, now):
                return None
            return _lease(entry, owner, now + seconds)

    async def renew(
        self, ids: Collection[str], owner: str, *, seconds: float = LEASE
    ) -> frozenset[str]:
        with self._gate:
            until = self._clock.time() + seconds
            known = {id_: self._runs[id_] for id_ in ids if id_ in self._runs}
            held = {id_: entry for id_, entry in known.items() if entry.run.lease_owner == owner}
            for entry in held.values():
                entry.run = structs.replace(entry.run, lease_until=until)
            return frozenset(held)

    async def release(self, id: str, owner: str) -> None:  # noqa: A002 - it is known by its id
        with self._gate:
            entry = self._runs.get(id)
            if entry is not None and entry.run.lease_owner == owner:
                entry.run = structs.replace(entry.run, lease_owner="", lease_until=None)

    def holds(self, run_id: str) -> bool:
        """Whether there is a run of this id; asked while the gate is held."""
        return run_id in self._runs

    async def forget_runs(self, ids: Collection[str]) -> int:
        with self._gate:
            return self.delete_ended(ids)

    def delete_ended(self, ids: Collection[str]) -> int:
        """Delete those of these runs that have ended; called while the gate is held."""
        known = [(id_, self._runs[id_]) for id_ in ids if id_ in self._runs]
        ended = [id_ for id_, entry in known if entry.run.finished_at is not None]
        for id_ in ended:
            del self._runs[id_]
        return len(ended)

    def describe(self, run_id: str) -> str:
        """All that is stored of a run, as text; empty for none."""
        with self._gate:
            entry = self._runs.get(run_id)
            return "" if entry is None else repr(entry)

    def find_containing(self, text: str, *, since: float = 0.0) -> tuple[str, ...]:
        """The ids of runs that have not ended before, and in which a text stands."""
        with self._gate:
            return tuple(
                id_
                for id_, entry in self._runs.items()
                if (entry.run.finished_at is None or entry.run.finished_at >= since)
                and text in repr(entry)
            )

    def find_started_with(self, words: Sequence[str], *, since: float) -> tuple[str, ...]:
        """The ids of runs that were created since, and in whose input all these words stand."""
        with self._gate:
            return tuple(
                id_
                for id_, entry in self._runs.items()
                if entry.run.start.created_at >= since
                and all(word in repr(entry.run.start) for word in words)
            )

    async def forget(self, *, finished_before: float) -> int:
        with self._gate:
            old = [
                run_id
                for run_id, entry in self._runs.items()
                if entry.run.finished_at is not None and entry.run.finished_at < finished_before
            ]
            for run_id in old:
                del self._runs[run_id]
            return len(old)

    def forget_plans(self, before: float) -> int:
        """Delete plans created before this time that have no runs; return their number."""
        with self._gate:
            used = self._plans_in_use()
            old = [
                plan.id
                for plan in self._plans.values()
                if 0 < plan.created_at < before and plan.id not in used
            ]
            for plan_id in old:
                del self._plans[plan_id]
            return len(old)

    def _plans_in_use(self) -> set[str]:
        return {entry.run.plan_id for entry in self._runs.values()}

    def count_open(self) -> dict[str, int]:
        """How many have not ended, by state."""
        with self._gate:
            runs = [entry.run for entry in self._runs.values()]
        return dict(Counter(str(run.state) for run in runs if run.finished_at is None))

    def _make_room(self) -> None:
        """Forget the run that ended first, beyond the bound."""
        if len(self._runs) < self._bound:
            return
        ended = [
            (entry.run.finished_at, run_id)
            for run_id, entry in self._runs.items()
            if entry.run.finished_at is not None
        ]
        if ended:
            del self._runs[min(ended)[1]]


def _is_free(run: StoredRun, owner: str, now: float) -> bool:
    is_over = run.lease_until is not None and run.lease_until <= now
    return run.lease_owner in {"", owner} or is_over


def _lease(entry: StoredJournal, owner: str, until: float) -> StoredRun:
    was_left, before = bool(entry.run.lease_owner), entry.run.state
    entry.run = structs.replace(
        entry.run,
        state=NodeState.IN_PROGRESS,
        wake_at=None,
        lease_owner=owner,
        lease_until=until,
    )
    return structs.replace(
        copy_json(entry.run),
        was_left=was_left,
        was_in_progress=before is NodeState.IN_PROGRESS,
    )


def _matches(query: RunQuery, run: StoredRun) -> bool:
    principal = run.start.principal
    return (
        query.state in {"", run.state}
        and query.plan_id in {"", run.plan_id}
        and query.principal in {"", principal.id}
        and query.tenant in {None, principal.tenant}
        and (not query.assignees or _asks(run, query.assignees))
    )


def _asks(run: StoredRun, names: frozenset[str]) -> bool:
    pending = () if run.result is None else run.result.pending
    return run.finished_at is None and any(item.assignee in names for item in pending)
