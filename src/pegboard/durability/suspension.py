"""Whether a run goes on by itself."""

from pegboard.core.graph import NodeState
from pegboard.core.ports.run_store import RunQuery, RunStore, StoredRun

_PAGE = 500


def is_due(run: StoredRun, *, now: float) -> bool:
    """Whether there is something to do in a run now."""
    is_resting = run.state in {NodeState.WAITING, NodeState.PAUSED}
    return not is_resting or (run.wake_at is not None and run.wake_at <= now)


def is_settled(run: StoredRun, *, now: float) -> bool:
    """Whether a run has ended, or waits for what time alone does not bring."""
    if run.finished_at is not None:
        return True
    if run.lease_owner or run.result is None or is_due(run, now=now):
        return False
    kinds = {item.kind for item in run.result.pending}
    return kinds != {"time"}


async def ids_in(store: RunStore, state: NodeState) -> list[str]:
    """The runs in a state, oldest first."""
    ids: list[str] = []
    cursor = ""
    while True:
        page = await store.runs(RunQuery(state=state, limit=_PAGE, cursor=cursor))
        ids += [run.start.run_id for run in page.runs]
        if not (cursor := page.next_cursor):
            return ids[::-1]
