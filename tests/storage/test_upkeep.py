"""What is open is counted and what is old is forgotten, in every storage."""

import asyncio
from typing import Any

import pytest
from tests.storage.made import NOON, a_record, a_run_error, a_start, ids
from tests.storage.test_approvals import an_approval
from tests.storage.test_approvals import ids as approval_ids
from tests.storage.test_runs import WAITING
from tests.storage.test_runs import a_result as a_run_result
from tests.storage.test_runs import a_start as a_run_start

from pegboard.core.ports.maintenance import Counts
from pegboard.core.ports.run_store import RunQuery, StoredPlan
from pegboard.storage import Storage
from pegboard.testing import FakeClock


async def test_what_is_open_is_counted(storage: Storage, clock: FakeClock) -> None:
    assert await storage.upkeep.counts() == Counts()

    for name in ("r1", "r2", "r3", "r4"):
        await storage.runs.create(a_run_start(name), owner="one")
    await storage.runs.store_result(WAITING, "one")
    await storage.runs.store_result(a_run_result(run_id="r2"), "one")
    for name in ("a1", "a2", "a3"):
        await storage.approvals.ask(an_approval(name))
    await storage.approvals.ask(an_approval("late", expires_at=NOON + 1))
    await storage.approvals.decide("a1", "denied", by="bob")
    clock.advance(1)

    counts = await storage.upkeep.counts()
    assert counts == Counts(runs={"waiting": 1, "in_progress": 2}, approvals=2)


async def test_old_calls_are_forgotten_with_the_details_of_their_errors(storage: Storage) -> None:
    failed = {"status": "failed", "error_code": "tool_failed", "error_detail": "Traceback"}
    storage.listener.on_event(a_record("old", started_at=NOON - 5, error_id="e_old", **failed))
    storage.listener.on_event(a_record("new", error_id="e_new", **failed))
    for error_id, at in (("e_r_old", NOON - 5), ("e_r_new", NOON)):
        storage.listener.on_event(a_run_error(error_id, at=at))
    await storage.journal.record_start(a_start("unknown", started_at=NOON - 9))
    await storage.flush()

    assert await storage.upkeep.forget_calls(before=NOON) == 1
    assert await ids(storage) == ["new", "unknown"]
    assert await storage.history.detail("e_old") is None
    assert await storage.history.detail("e_new") is not None
    assert await storage.history.detail("e_r_old") is None
    assert await storage.history.detail("e_r_new") is not None
    assert await storage.upkeep.forget_calls(before=NOON) == 0


async def test_servers_that_forget_at_once_do_so_once(storage: Storage, other: Storage) -> None:
    for number in range(1_200):
        storage.listener.on_event(a_record(f"c{number}", started_at=NOON - 5))
    await storage.flush()

    forget = [each.upkeep.forget_calls(before=NOON) for each in (storage, other)]
    forgotten = await _both(*forget)
    assert sum(forgotten) == 1_200
    assert await ids(storage) == []


async def _both(first: Any, second: Any) -> list[int]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in (first, second)]
    return [task.result() for task in tasks]


@pytest.mark.slow
async def test_servers_that_forget_many_runs_at_once_leave_none(
    storage: Storage, other: Storage, clock: FakeClock
) -> None:
    for number in range(250):
        await storage.runs.create(a_run_start(f"r{number}"), owner="one")
        await storage.runs.store_result(a_run_result(run_id=f"r{number}"), "one")
    clock.advance(1)
    now = clock.time()

    forget = [each.runs.forget(finished_before=now) for each in (storage, other)]
    assert sum(await _both(*forget)) == 250
    assert (await storage.runs.runs(RunQuery())).runs == []


async def test_approvals_that_hold_no_more_are_forgotten(
    storage: Storage, clock: FakeClock
) -> None:
    for name in ("used", "denied", "pending", "for_ever", "denied_for_ever"):
        ends = None if name.endswith("for_ever") else NOON + 60
        await storage.approvals.ask(an_approval(name, created_at=NOON, expires_at=ends))
    await storage.approvals.decide("used", "approved", by="bob")
    await storage.approvals.use("used", digest="digest of used", call_id="c1")
    await storage.approvals.decide("denied", "denied", by="bob")
    await storage.approvals.decide("denied_for_ever", "denied", by="bob")

    assert await storage.upkeep.forget_approvals(before=NOON) == 0
    assert await storage.upkeep.forget_approvals(before=NOON + 1) == 1
    clock.advance(100)
    assert await storage.upkeep.forget_approvals(before=NOON + 90) == 2
    assert sorted(await approval_ids(storage)) == ["denied_for_ever", "for_ever"]
    assert await storage.upkeep.forget_approvals(before=NOON + 10_000) == 0


async def test_plans_are_forgotten_unless_runs_of_them_are_kept(storage: Storage) -> None:
    for name, made in (("old", NOON - 5), ("used", NOON - 5), ("new", NOON), ("unknown", 0)):
        await storage.runs.put_plan(StoredPlan(id=name, graph={}, created_at=made))
    await storage.runs.create(a_run_start("r1"), plan_id="used", owner="one")
    await storage.runs.create(a_run_start("r2"), owner="one")

    first = await storage.upkeep.forget_plans(before=NOON)
    left = [await storage.runs.plan(name) is not None for name in ("old", "used", "new")]
    await storage.runs.store_result(a_run_result(run_id="r1"), "one")
    await storage.runs.forget(finished_before=NOON + 1_000)

    assert first == 1
    assert left == [False, True, True]
    assert await storage.upkeep.forget_plans(before=NOON) == 1
    assert await storage.runs.plan("used") is None
    assert await storage.runs.plan("new") is not None


async def test_servers_that_forget_plans_at_once_do_so_once(
    storage: Storage, other: Storage
) -> None:
    for number in range(30):
        await storage.runs.put_plan(StoredPlan(id=f"p{number}", graph={}, created_at=NOON - 5))

    forget = [each.upkeep.forget_plans(before=NOON) for each in (storage, other)]
    assert sum(await _both(*forget)) == 30
