"""Whether a run goes on by itself, and whether somebody need wait for it."""

import pytest

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.run_store import StoredRun
from pegboard.core.principal import LOCAL
from pegboard.core.run import PendingKind, PendingStep, RunResult
from pegboard.durability.scheduling import is_due, is_settled, list_run_ids
from pegboard.storage import MemoryStorage

START = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=1.0)


def stored(state: NodeState, *kinds: PendingKind, **more: float | str | None) -> StoredRun:
    pending = tuple(PendingStep(id=kind, step=kind, kind=kind) for kind in kinds)
    result = RunResult(run_id="r", state=state, pending=pending)
    return StoredRun(start=START, state=state, result=result, **more)  # type: ignore[arg-type]  # its times and names


@pytest.mark.parametrize(
    ("run", "due"),
    [
        (stored(NodeState.IN_PROGRESS), True),
        (stored(NodeState.WAITING), False),
        (stored(NodeState.WAITING, wake_at=9.0), False),
        (stored(NodeState.PAUSED, wake_at=5.0), True),
    ],
    ids=["played", "waits", "not yet", "it is time"],
)
def test_what_rests_is_due_when_it_is_time(run: StoredRun, due: bool) -> None:
    assert is_due(run, now=5.0) is due


@pytest.mark.parametrize(
    ("run", "settled"),
    [
        (stored(NodeState.COMPLETED, finished_at=2.0), True),
        (stored(NodeState.WAITING, "person"), True),
        (stored(NodeState.WAITING, "time", "person"), True),
        (stored(NodeState.WAITING, "time", wake_at=9.0), False),
        (stored(NodeState.WAITING, "person", lease_owner="us"), False),
        (StoredRun(start=START, state=NodeState.WAITING), False),
    ],
    ids=["ended", "a person", "both", "time alone", "played", "never rested"],
)
def test_what_only_time_brings_is_worth_waiting_for(run: StoredRun, settled: bool) -> None:
    assert is_settled(run, now=5.0) is settled


async def test_the_runs_of_a_state_are_found_page_by_page_oldest_first() -> None:
    ids = [f"r{number:03}" for number in range(501)]
    async with MemoryStorage() as storage:
        for id_ in ids:
            await storage.runs.create(
                RunStart(run_id=id_, graph={}, params={}, principal=LOCAL, created_at=1.0)
            )

        assert await list_run_ids(storage.runs, NodeState.PENDING) == ids
        assert await list_run_ids(storage.runs, NodeState.WAITING) == []
