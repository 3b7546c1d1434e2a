"""Plans and runs, in every storage."""

import asyncio
from pathlib import Path
from typing import Any

import psycopg
import pytest
from msgspec import structs
from tests.storage.made import NOON, a_storage, explain_query

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import RunStart, Signal
from pegboard.core.ports.run_store import (
    RunEvent,
    RunQuery,
    StoredPlan,
    StoredRun,
    StoredSignal,
    StoredStep,
)
from pegboard.core.principal import Principal
from pegboard.core.run import NodeRun, PendingStep, RunResult
from pegboard.errors import InvalidRequest, Unavailable
from pegboard.storage import Storage
from pegboard.storage.json_text import dump
from pegboard.storage.sql.runs import select_runs
from pegboard.testing import FakeClock

ADA = Principal(id="ada", tenant="acme", scopes=frozenset({"read"}))


def a_start(run_id: str = "r1", **changes: Any) -> RunStart:
    fields: dict[str, Any] = {
        "graph": {"nodes": [{"id": "fetch", "text": "é\x00\ud800"}]},
        "params": {"url": "x"},
        "principal": ADA,
        "created_at": NOON,
    }
    return RunStart(run_id=run_id, **(fields | changes))


def a_result(
    state: NodeState = NodeState.COMPLETED, run_id: str = "r1", **changes: Any
) -> RunResult:
    node = NodeRun(id="fetch", state=state, output=[1, None], started_at=NOON)
    return RunResult(run_id=run_id, state=state, nodes=(node,), started_at=NOON, **changes)


WAITING = a_result(
    NodeState.WAITING,
    pending=(PendingStep(id="ask", step="ask", kind="person", message="Really?"),),
)


async def ids(storage: Storage, **query: Any) -> list[str]:
    page = await storage.runs.runs(RunQuery(**query))
    return [run.start.run_id for run in page.runs]


async def test_runs_are_found_by_whom_they_ask(storage: Storage) -> None:
    for run_id, assignee in (("r1", "bob"), ("r2", "b%b"), ("r3", "bob"), ("r4", 'a"b@é.example')):
        await storage.runs.create(a_start(run_id), owner="one")
        asked = PendingStep(id="ask", step="ask", kind="person", assignee=assignee)
        await storage.runs.store_result(
            a_result(NodeState.WAITING, run_id, pending=(asked,)), "one"
        )
    assert await storage.runs.lease("r3", "one")
    await storage.runs.store_result(a_result(run_id="r3"), "one")
    await storage.runs.create(a_start("r5"))

    assert await ids(storage, assignees=frozenset({"bob"})) == ["r1"]
    assert await ids(storage, assignees=frozenset({"b%b"})) == ["r2"]
    assert await ids(storage, assignees=frozenset({"bob", 'a"b@é.example'})) == ["r4", "r1"]
    assert await ids(storage, assignees=frozenset({"bo"})) == []


async def test_a_plan_is_given_back_whole_and_never_changes(storage: Storage) -> None:
    plan = StoredPlan(id="p1", graph={"nodes": []}, created_at=NOON, task_id="t", created_by="ada")
    await storage.runs.put_plan(plan)
    await storage.runs.put_plan(plan)

    with pytest.raises(InvalidRequest, match="another plan has the id 'p1'"):
        await storage.runs.put_plan(StoredPlan(id="p1", graph={"nodes": [1]}, created_at=NOON))
    assert await storage.runs.plan("p1") == plan
    assert await storage.runs.plan("p2") is None


async def test_a_run_is_given_back_whole(storage: Storage) -> None:
    assert await storage.runs.create(a_start(parent_id="c1"), plan_id="p1")
    assert not await storage.runs.create(a_start())

    assert await storage.runs.get("r1") == StoredRun(start=a_start(parent_id="c1"), plan_id="p1")
    assert await storage.runs.get("r2") is None


async def test_of_runs_those_are_found_that_have_not_finished(storage: Storage) -> None:
    for name in ("r1", "r2", "r3"):
        await storage.runs.create(a_start(name), owner="w")
    await storage.runs.store_result(a_result(run_id="r1"), "w")
    await storage.runs.store_result(structs.replace(WAITING, run_id="r2"), "w")

    assert await storage.runs.find_unfinished(["r1", "r2", "r4"]) == {"r2"}
    assert await storage.runs.find_unfinished([]) == frozenset()


async def test_a_run_can_be_leased_as_it_is_made(storage: Storage) -> None:
    await storage.runs.create(a_start(), owner="one", seconds=10)

    assert await storage.runs.take("two") is None
    run = await storage.runs.get("r1")
    assert run is not None
    assert (run.state, run.lease_owner, run.lease_until) == ("in_progress", "one", NOON + 10)


async def test_the_oldest_run_that_nobody_plays_is_taken_first(storage: Storage) -> None:
    for number in (1, 2):
        await storage.runs.create(a_start(f"r{number}"))

    taken = [await storage.runs.take("one", seconds=10) for _ in range(3)]
    assert [run and run.start.run_id for run in taken] == ["r1", "r2", None]
    assert taken[0] == StoredRun(
        start=a_start("r1"),
        state=NodeState.IN_PROGRESS,
        lease_owner="one",
        lease_until=NOON + 10,
    )


async def test_of_servers_that_take_at_once_none_gets_what_another_has(
    storage: Storage, other: Storage
) -> None:
    for number in range(10):
        await storage.runs.create(a_start(f"r{number}"))
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(server.runs.take(str(number)))
            for number, server in enumerate([storage, other] * 10)
        ]

    taken = [run.start.run_id for task in tasks if (run := task.result())]
    assert len(taken) == len(set(taken))
    while (run := await storage.runs.take("late")) is not None:  # skipped while others had a lock
        taken.append(run.start.run_id)
    assert sorted(taken) == sorted(f"r{number}" for number in range(10))


async def test_a_run_whose_owner_died_is_taken_over(storage: Storage, clock: FakeClock) -> None:
    await storage.runs.create(a_start(), owner="dead", seconds=10)
    await storage.runs.reserve("r1", "fetch", "dead")
    clock.advance(10)
    run = await storage.runs.take("alive")
    known = await storage.runs.reserve("r1", "fetch", "alive")

    assert run is not None
    assert run.lease_owner == "alive"
    assert known == StoredStep(path="fetch", started_at=NOON)


async def test_an_owner_that_comes_back_changes_nothing(storage: Storage, clock: FakeClock) -> None:
    await storage.runs.create(a_start(), owner="dead", seconds=10)
    clock.advance(10)
    await storage.runs.lease("r1", "alive")
    before = await storage.runs.get("r1")

    step = StoredStep(path="fetch", started_at=NOON, finished_at=NOON, value=1)
    for change in (
        storage.runs.reserve("r1", "fetch", "dead"),
        storage.runs.record("r1", step, "dead"),
        storage.runs.store_result(a_result(), "dead"),
        storage.runs.reserve("gone", "fetch", "dead"),
    ):
        with pytest.raises(Unavailable, match="now held by another worker") as caught:
            await change
        assert not caught.value.retryable
    await storage.runs.release("r1", "dead")

    assert await storage.runs.lease("r1", "dead") is None
    assert await storage.runs.get("r1") == before
    assert await storage.runs.steps("r1") == []
    assert await storage.runs.events("r1") == []


async def test_a_lease_is_renewed_by_its_owner(storage: Storage, clock: FakeClock) -> None:
    await storage.runs.create(a_start(), owner="one", seconds=10)
    clock.advance(9)
    renewed = await storage.runs.renew({"r1"}, "one", seconds=10)
    clock.advance(9)
    kept = await storage.runs.get("r1")

    assert renewed == {"r1"}
    assert kept is not None
    assert kept.lease_until == NOON + 19
    assert await storage.runs.take("two") is None
    assert await storage.runs.lease("r1", "two") is None
    assert await storage.runs.lease("r2", "two") is None


async def test_only_leases_of_the_owner_are_renewed(storage: Storage) -> None:
    await storage.runs.create(a_start("r1"), owner="one")
    await storage.runs.create(a_start("r2"), owner="two")
    await storage.runs.create(a_start("r3"))
    before = [await storage.runs.get(id_) for id_ in ("r2", "r3")]

    assert await storage.runs.renew({"r1", "r2", "r3", "gone"}, "one") == {"r1"}
    assert await storage.runs.renew((), "one") == frozenset()
    assert [await storage.runs.get(id_) for id_ in ("r2", "r3")] == before


async def test_a_released_run_is_free(storage: Storage) -> None:
    await storage.runs.create(a_start(), owner="one")
    await storage.runs.release("r1", "one")

    assert await storage.runs.take("two") is not None


async def test_a_step_starts_once_and_its_outcome_is_found(storage: Storage) -> None:
    await storage.runs.create(a_start(), owner="one")
    first = await storage.runs.reserve("r1", "b", "one")
    started = await storage.runs.reserve("r1", "b", "one")
    done = StoredStep(path="b", started_at=NOON, finished_at=NOON + 1, value={"x": ["é\x00", None]})
    await storage.runs.record("r1", done, "one")
    await storage.runs.record("r1", StoredStep(path="a", started_at=NOON, finished_at=NOON), "one")

    assert first is None
    assert started == StoredStep(path="b", started_at=NOON)
    assert await storage.runs.reserve("r1", "b", "one") == done
    steps = [StoredStep(path="a", started_at=NOON, finished_at=NOON), done]
    assert await storage.runs.steps("r1") == steps
    assert await storage.runs.steps("r2") == []


async def test_a_step_takes_its_signal_along(storage: Storage) -> None:
    await storage.runs.create(a_start(), owner="one")
    for name in ("s1", "s2"):
        await storage.runs.signal("r1", Signal(id=name, topic="event:paid"))
    await storage.runs.reserve("r1", "wait", "one", takes="s1")
    await storage.runs.record(
        "r1", StoredStep(path="ask", started_at=NOON, finished_at=NOON), "one", takes="s2"
    )

    assert [item.taken_by for item in await storage.runs.signals("r1")] == ["wait", "ask"]


async def test_signals_come_in_order_and_once(storage: Storage) -> None:
    await storage.runs.create(a_start())
    first = Signal(id="s1", topic="event:paid", message={"amount": 5})
    assert await storage.runs.signal("r1", first)
    assert await storage.runs.signal("r1", Signal(id="s2", topic="control", message="pause"))
    again = Signal(id="s1", topic="event:paid", message="again")
    assert await storage.runs.signal("r1", again) is False
    assert await storage.runs.signal("r2", first) is None

    signals = await storage.runs.signals("r1")
    assert [item.signal.id for item in signals] == ["s1", "s2"]
    assert signals[0] == StoredSignal(number=signals[0].number, signal=first)
    assert await storage.runs.signals("r1", after=signals[0].number) == signals[1:]


async def test_a_run_that_rests_is_taken_when_it_is_time(
    storage: Storage, clock: FakeClock
) -> None:
    await storage.runs.create(a_start(), owner="one")
    assert await storage.runs.store_result(WAITING, "one", wake_at=NOON + 60)
    resting = await storage.runs.get("r1")
    early = await storage.runs.take("two")
    clock.advance(60)
    taken = await storage.runs.take("two")

    assert resting == StoredRun(
        start=a_start(), state=NodeState.WAITING, result=WAITING, wake_at=NOON + 60
    )
    assert early is None
    assert taken is not None
    assert (taken.state, taken.wake_at, taken.result) == ("in_progress", None, WAITING)


async def test_a_run_that_rests_is_woken_by_a_signal(storage: Storage) -> None:
    await storage.runs.create(a_start(), owner="one")
    await storage.runs.store_result(WAITING, "one")
    before = await storage.runs.take("two")
    await storage.runs.signal("r1", Signal(id="s1", topic="answer:ask", message=True))

    assert before is None
    assert await storage.runs.take("two") is not None


async def test_a_run_does_not_rest_over_a_signal_that_it_did_not_hear(storage: Storage) -> None:
    await storage.runs.create(a_start(), owner="one")
    await storage.runs.signal("r1", Signal(id="s1", topic="control", message="pause"))
    (signal,) = await storage.runs.signals("r1")

    assert not await storage.runs.store_result(WAITING, "one")
    still = await storage.runs.get("r1")
    assert await storage.runs.store_result(WAITING, "one", last_signal=signal.number)

    assert still is not None
    assert (still.lease_owner, still.result) == ("one", WAITING)


async def test_a_run_that_ended_goes_on_no_more(storage: Storage) -> None:
    await storage.runs.create(a_start(), owner="one")
    await storage.runs.signal("r1", Signal(id="s0", topic="control", message="cancel"))
    assert await storage.runs.store_result(a_result(), "one", wake_at=NOON)

    assert await storage.runs.get("r1") == StoredRun(
        start=a_start(), state=NodeState.COMPLETED, result=a_result(), finished_at=NOON
    )
    assert await storage.runs.signal("r1", Signal(id="s1", topic="control", message="cancel"))
    assert await storage.runs.take("two") is None
    assert await storage.runs.lease("r1", "two") is None


async def test_events_are_numbered_by_run_whoever_tells_them(storage: Storage) -> None:
    for run_id in ("r1", "r2"):
        await storage.runs.create(a_start(run_id), owner="one")
    one, two, three = (RunEvent(kind=kind, at=NOON, data={"k": kind}) for kind in "abc")
    first = await storage.runs.emit("r1", [one])
    last = await storage.runs.emit("r1", [two, three])
    await storage.runs.store_result(a_result(), "one")
    late = await storage.runs.emit("r1", [one])
    other = await storage.runs.emit("r2", [three])

    events = await storage.runs.events("r1")
    assert (first, last, late, other) == (1, 3, 4, 1)
    assert await storage.runs.emit("r3", [one]) == 0
    assert [(event.sequence, event.kind) for event in events] == [
        *((1, "a"), (2, "b"), (3, "c"), (4, "a"))
    ]
    assert events[0].data == {"k": "a"}
    assert await storage.runs.events("r1", after=1, limit=2) == events[1:3]
    assert await storage.runs.events("r3") == []


async def test_events_that_servers_tell_at_once_leave_no_gap(
    storage: Storage, other: Storage
) -> None:
    await storage.runs.create(a_start())
    async with asyncio.TaskGroup() as group:
        for server in (storage, other):
            for _ in range(20):
                group.create_task(server.runs.emit("r1", [RunEvent(kind="x", at=NOON)] * 2))

    events = await storage.runs.events("r1")
    assert [event.sequence for event in events] == list(range(1, 81))


async def test_runs_are_shown_newest_first_page_by_page(storage: Storage) -> None:
    for number in range(5):
        await storage.runs.create(a_start(f"r{number}", created_at=NOON + number // 2))
    first = await storage.runs.runs(RunQuery(limit=2))
    second = await storage.runs.runs(RunQuery(limit=2, cursor=first.next_cursor))
    third = await storage.runs.runs(RunQuery(limit=2, cursor=second.next_cursor))

    pages = [[run.start.run_id for run in page.runs] for page in (first, second, third)]
    assert pages == [["r4", "r3"], ["r2", "r1"], ["r0"]]
    assert third.next_cursor == ""


async def test_runs_are_found(storage: Storage) -> None:
    bob = Principal(id="bob", tenant="other")
    await storage.runs.create(a_start("r1"), plan_id="p1")
    await storage.runs.create(a_start("r2", principal=bob), owner="one")

    assert await ids(storage, state="pending") == ["r1"]
    assert await ids(storage, plan_id="p1") == ["r1"]
    assert await ids(storage, principal="bob") == ["r2"]
    assert await ids(storage, tenant="other") == ["r2"]
    assert await ids(storage, tenant="") == []
    with pytest.raises(InvalidRequest, match="limit"):
        await storage.runs.runs(RunQuery(limit=0))


async def test_runs_that_ended_long_ago_are_forgotten_with_all_that_was_theirs(
    storage: Storage, clock: FakeClock
) -> None:
    for run_id in ("old", "new", "open"):
        await storage.runs.create(a_start(run_id), owner="one")
        await storage.runs.reserve(run_id, "fetch", "one")
        await storage.runs.signal(run_id, Signal(id="s", topic="event:x"))
        await storage.runs.emit(run_id, [RunEvent(kind="x", at=NOON)])
    await storage.runs.store_result(a_result(run_id="old"), "one")
    clock.advance(10)
    await storage.runs.store_result(a_result(run_id="new"), "one")

    assert await storage.runs.forget(finished_before=NOON + 5) == 1
    assert await ids(storage) == ["open", "new"]
    assert await storage.runs.steps("old") == []
    assert await storage.runs.signals("old") == []
    assert await storage.runs.events("old") == []
    assert len(await storage.runs.steps("new")) == 1


async def test_a_page_leaves_out_the_large_values_of_its_runs(storage: Storage) -> None:
    large = "x" * 100_000
    await storage.runs.create(a_start("r1", params={"url": "x", "rows": [large]}), owner="w")
    asks = PendingStep(id="q", step="b", kind="person", assignee="bob")
    done = NodeRun(id="a", state=NodeState.COMPLETED, output=large)
    waiting = a_result(NodeState.WAITING, output=[large], pending=(asks,))
    result = structs.replace(waiting, nodes=(done,))
    await storage.runs.store_result(result, "w")
    await storage.runs.create(a_start("r2", created_at=NOON - 1))

    page = (await storage.runs.runs(RunQuery())).runs
    asked = (await storage.runs.runs(RunQuery(assignees=frozenset({"bob"})))).runs
    whole = await storage.runs.get("r1")

    assert [(run.start.run_id, run.is_brief) for run in page] == [("r1", True), ("r2", False)]
    assert page[0].start.params == {"url": "x", "rows": None}
    assert page[0].result is not None
    assert (page[0].result.output, page[0].result.pending) == (None, (asks,))
    assert [run.start.run_id for run in asked] == ["r1"]
    assert whole is not None
    assert not whole.is_brief
    assert whole.result == result
    assert whole.start.params["rows"] == [large]


async def test_a_result_that_is_small_again_is_whole_in_a_page(storage: Storage) -> None:
    await storage.runs.create(a_start("r1"), owner="w")
    await storage.runs.store_result(a_result(NodeState.WAITING, output="x" * 100_000), "w")
    await storage.runs.lease("r1", "w")
    await storage.runs.store_result(a_result(output="done"), "w")

    [run] = (await storage.runs.runs(RunQuery())).runs
    assert run.result is not None
    assert (run.result.output, run.is_brief) == ("done", False)


async def test_a_page_has_the_end_of_a_run_that_an_older_server_has_stored(
    postgres: str, tmp_path: Path, clock: FakeClock
) -> None:
    """One that leaves what it does not know as it was."""
    end = a_result(output="done")
    async with a_storage(postgres, tmp_path, clock) as storage:
        await storage.runs.create(a_start("r1"), owner="w")
        await storage.runs.store_result(a_result(NodeState.WAITING, output="x" * 100_000), "w")
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(
                "UPDATE runs SET result = %s, state = 'completed', finished_at = %s",
                (dump(end), NOON),
            )
        [run] = (await storage.runs.runs(RunQuery())).runs

    assert (run.state, run.result, run.is_brief) == (NodeState.COMPLETED, end, False)


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (RunQuery(), "SCAN runs USING INDEX runs_by_time"),
        (RunQuery(principal="p"), "SEARCH runs USING INDEX runs_by_principal (principal=?)"),
        (RunQuery(state="waiting"), "SEARCH runs USING INDEX runs_by_state (state=?)"),
        (RunQuery(state="completed"), "SCAN runs USING INDEX runs_by_time"),
        (RunQuery(tenant="t"), "SEARCH runs USING INDEX runs_by_tenant (tenant=?)"),
        (RunQuery(tenant="t", state="completed"), "SEARCH runs USING INDEX runs_by_tenant"),
        (RunQuery(tenant="t", state="failed"), "SEARCH runs USING INDEX runs_by_state"),
        (RunQuery(tenant="t", principal="p"), "SEARCH runs USING INDEX runs_by_principal"),
    ],
    ids=[
        *("none", "principal", "state", "most common state", "tenant"),
        *("completed in a tenant", "state in a tenant", "principal of a tenant"),
    ],
)
async def test_each_filter_of_many_runs_uses_its_index(
    tmp_path: Path, clock: FakeClock, query: RunQuery, index: str
) -> None:
    async with a_storage("sqlite", tmp_path, clock):
        plan = explain_query(tmp_path, select_runs(query).limit(10))

    assert [step.startswith(index) for step in plan] == [True], plan
