"""How the last look at each folder and address went, from which a base takes in documents."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct, ValidationError, convert

from pegboard.core.graph import NodeState
from pegboard.core.ports.run_store import RunQuery, StoredRun
from pegboard.core.principal import Principal
from pegboard.errors import RunNotFound
from pegboard.features.knowledge.bases import DocumentSource, KnowledgeBase, may_edit_base
from pegboard.features.knowledge.ingestion import INGESTER
from pegboard.features.permissions import may_see_run
from pegboard.features.runs import Runs

GATHER = "gather"
"""The node kind that takes documents in."""
_MAX_RUNS = 100
"""Of a base, how many of the last gatherings are looked at."""


def plan_of(base: str) -> str:
    """The plan of the runs that gather documents of a base, by which they are found again."""
    return f"{GATHER}:{base}"


def may_gather(principal: Principal, base: KnowledgeBase) -> bool:
    """Whether runs of this caller gather documents of the base."""
    return principal == INGESTER or may_edit_base(principal, base)


class SourceLook(Struct, frozen=True, kw_only=True):
    """How the last look at a folder or an address went.

    Attributes:
        wanted: The folder or address.
        run: The run that looks through it.
        failed: Files or pages that could not be taken in.
        faults: Of the first of these: `place`, `code` and `message`.
    """

    wanted: DocumentSource
    run: StoredRun
    failed: int = 0
    faults: tuple[Mapping[str, str], ...] = ()

    def to_dict(self, principal: Principal) -> dict[str, Any]:
        """A `GatheringAnswer`."""
        return {
            "source": self.wanted.url or self.wanted.folder,
            "run": self.run.start.run_id if may_see_run(principal, self.run) else "",
            "ended_at": self.run.finished_at,
            "failed": self.failed,
            "faults": [dict(fault) for fault in self.faults],
        }


async def list_gatherings(
    runs: Runs, base: KnowledgeBase, sources: Collection[str]
) -> list[SourceLook]:
    """The last look at each source of a base, and the last one of all, the newest first.

    An address that gave no document is no source of the base: why it gave none is told until
    another gathering has ended.

    Args:
        runs: Has the runs that gather.
        base: The base.
        sources: What its documents name as their sources.
    """
    query = RunQuery(plan_id=plan_of(base.id), limit=_MAX_RUNS)
    page = await runs.list(query, principal=INGESTER)
    newest: dict[str, SourceLook] = {}
    for view in page.runs:
        found = _read_gathering(view.run, base)
        if found is not None:
            newest.setdefault(found.wanted.source, found)
    ended = [it.run.finished_at for it in newest.values() if it.run.finished_at is not None]
    last = max(ended, default=0.0)
    return [
        await _read_whole(it, runs, base)
        for it in newest.values()
        if it.wanted.source in sources or it.run.finished_at in {None, last}
    ]


async def list_looks(runs: Runs, base: KnowledgeBase, wanted: DocumentSource) -> list[SourceLook]:
    """The last looks at one source of a base, the newest first.

    Args:
        runs: Has the runs that gather.
        base: The base.
        wanted: The source.
    """
    query = RunQuery(plan_id=plan_of(base.id), limit=_MAX_RUNS)
    page = await runs.list(query, principal=INGESTER)
    found = (_read_gathering(view.run, base) for view in page.runs)
    return [
        await _read_whole(it, runs, base)
        for it in found
        if it is not None and it.wanted.source == wanted.source
    ]


async def _read_whole(look: SourceLook, runs: Runs, base: KnowledgeBase) -> SourceLook:
    """A look with all its faults: a page of runs leaves a large output out."""
    if not look.run.is_brief:
        return look
    try:
        view = await runs.get(look.run.start.run_id, principal=INGESTER)
    except RunNotFound:  # deleted since the page was read
        return look
    return _read_gathering(view.run, base) or look


def _read_gathering(run: StoredRun, base: KnowledgeBase) -> SourceLook | None:
    """How a run went; None for one that gathers nothing for the base."""
    nodes: Sequence[Mapping[str, Any]] = run.start.graph.get("nodes", ())
    try:
        wanted = convert(nodes[0].get("config", {}) if nodes else {}, DocumentSource)
    except ValidationError:  # another graph that was given this id
        return None
    if wanted.base != base.id or not may_gather(run.start.principal, base):
        return None
    result = run.result
    if run.finished_at is None or result is None:
        return SourceLook(wanted=wanted, run=run)
    if run.state is NodeState.COMPLETED:
        output: Mapping[str, Any] = result.output or {}
        faults = tuple(output.get("faults", ()))
        return SourceLook(wanted=wanted, run=run, failed=output.get("failed", 0), faults=faults)
    error = result.error or {"code": run.state.value, "message": f"The run was {run.state}."}
    fault = {name: str(error.get(name, "")) for name in ("code", "message")}
    place = wanted.url or wanted.folder
    return SourceLook(wanted=wanted, run=run, failed=1, faults=({"place": place, **fault},))
