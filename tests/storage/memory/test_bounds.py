"""What memory holds is bounded: what is over goes first, and what is open stays."""

from tests.storage.made import NOON, a_written
from tests.storage.test_audit import an_entry
from tests.storage.test_runs import a_result, a_start

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.run_store import StoredPlan
from pegboard.storage.history_rows import redact_nothing
from pegboard.storage.memory.audit import MemoryAudit
from pegboard.storage.memory.runs import MemoryRuns
from pegboard.testing import FakeClock


async def test_runs_that_ended_make_room_the_oldest_first(clock: FakeClock) -> None:
    runs = MemoryRuns(ClosableLock(), clock=clock, bound=3)
    for run_id in ("open", "second", "first"):
        await runs.create(a_start(run_id), owner="one")
    await runs.store_result(a_result(run_id="first"), "one")
    clock.advance(1)
    await runs.store_result(a_result(run_id="second"), "one")
    await runs.create(a_start("new"))

    assert await runs.get("first") is None
    assert await runs.get("second") is not None
    await runs.create(a_start("newer"))
    await runs.create(a_start("newest"))
    assert await runs.get("open") is not None


async def test_a_trail_that_is_closed_counts_what_still_comes(clock: FakeClock) -> None:
    gate = ClosableLock()
    audit = MemoryAudit(gate, clock=clock, redact=redact_nothing, reads="none")
    await audit.append([an_entry()])
    gate.close()
    audit.on_event(a_written("w1", started_at=NOON))

    assert audit.dropped == 1


async def test_plans_without_runs_make_room_the_oldest_first(clock: FakeClock) -> None:
    runs = MemoryRuns(ClosableLock(), clock=clock, bound=2)
    await runs.put_plan(StoredPlan(id="used", graph={}, created_at=NOON))
    await runs.create(a_start("r1"), plan_id="used")
    for name in ("first", "second"):
        await runs.put_plan(StoredPlan(id=name, graph={}, created_at=NOON))

    kept = [await runs.plan(name) is not None for name in ("used", "first", "second")]
    assert kept == [True, False, True]
