"""Runs in the board's own database: what survives, who plays, and what is never done twice."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.durability.made import Process, graph, node, until, waiting
from tests.storage.made import a_storage

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import RunStart, RunSteps, Signal
from pegboard.core.ports.run_store import RunStore
from pegboard.core.principal import LOCAL
from pegboard.core.run import RunResult
from pegboard.errors import InvalidRequest, RunNotFound, Unavailable
from pegboard.storage import open_storage
from pegboard.testing import FakeClock

STEPS = graph(
    node("a", "write", input={"step": "a"}),
    node("b", "write", "a", input={"step": "b"}),
    node("c", "read", "b", input={"step": "c", "from": "$.steps.b.output.step"}),
)
HELD = graph(
    node("a", "write", input={"step": "a"}),
    node("b", "write", "a", input={"step": "b", "held": True}),
)
OWNER: dict[str, Any] = {"owner": "us"}


@pytest.fixture
async def timed(kind: str, tmp_path: Path, clock: FakeClock) -> AsyncIterator[RunStore]:
    """A store whose leases end on the test's clock; its processes go by that too."""
    async with a_storage(kind, tmp_path, clock) as storage:
        yield storage.runs


async def until_state(process: Process, run_id: str, state: NodeState) -> RunResult:
    while (result := await process.runner.result(run_id, wait=False)).state is not state:  # noqa: ASYNC110 - as above
        await asyncio.sleep(0.01)
    return result


async def until_renewed(store: RunStore, clock: FakeClock, lease: float) -> None:
    """Return once whoever plays the run has said now that they still do."""
    while True:
        run = await store.get("r")
        assert run is not None
        if (run.lease_until or 0.0) >= clock.time() + lease - 1e-6:
            return
        await asyncio.sleep(0.01)


async def test_a_run_is_played_to_its_end_and_kept(store: RunStore) -> None:
    process = Process(store, **OWNER)
    result = await process.runner.run(STEPS, run_id="r")
    await process.durability.close()

    kept = await store.get("r")
    assert kept is not None
    assert kept.result == result
    assert (kept.state, kept.lease_owner) == (NodeState.COMPLETED, "")
    assert result.output == {"c": {"step": "c", "from": "b"}}
    assert process.did == ["a", "b", "c"]


async def test_the_same_id_is_the_same_run(store: RunStore) -> None:
    process = Process(store, **OWNER)
    async with process.durability:
        await process.runner.run(STEPS, run_id="r")
        await process.runner.run(STEPS, run_id="r")

    assert process.did == ["a", "b", "c"]


async def test_of_two_that_begin_one_run_at_once_the_stored_one_is_played(store: RunStore) -> None:
    others = [graph(node("x", "write", input={"step": f"x{n}"})) for n in range(4)]
    process = Process(store, **OWNER)
    async with process.durability:
        starts = (process.runner.start(item, run_id="r") for item in others)
        assert await asyncio.gather(*starts) == ["r"] * 4
        result = await process.runner.result("r")
        kept = await store.get("r")

    assert kept is not None
    assert result.output == {"x": kept.start.graph["nodes"][0]["input"]}
    assert process.did == [result.output["x"]["step"]]


async def test_a_process_that_dies_leaves_its_run_to_the_next(store: RunStore) -> None:
    first = Process(store, **OWNER)
    graph_ = graph(
        node("a", "write", input={"step": "a"}),
        node("b", "read", "a", input={"step": "b", "held": True}),
        node("c", "write", "b", input={"step": "c"}),
    )
    await first.runner.start(graph_, run_id="r")
    await first.held.wait()
    await first.crash()

    second = Process(store, did=first.did, **OWNER)
    second.gate.set()
    assert await second.durability.follow() == ("r",)
    result = await second.runner.result("r")
    await second.durability.close()

    assert result.state is NodeState.COMPLETED
    assert second.did == ["a", "b", "c"]


async def test_a_write_that_was_cut_off_is_asked_about_and_not_repeated(store: RunStore) -> None:
    first = Process(store, **OWNER)
    await first.runner.start(HELD, run_id="r")
    await first.held.wait()
    await first.crash()

    second = Process(store, did=first.did, **OWNER)
    second.gate.set()
    await second.durability.recover()
    result = await second.runner.result("r")
    assert [(item.kind, item.step) for item in result.pending] == [("unknown", "b")]
    assert second.did == ["a"]

    answer = {"answer": "happened", "output": {"step": "b"}}
    await second.runner.answer("r", result.pending[0].id, answer)
    ended = await second.runner.result("r")
    await second.durability.close()
    assert ended.state is NodeState.COMPLETED
    assert ended.output == {"b": {"step": "b"}}
    assert second.did == ["a"]


async def test_a_question_survives_the_process_and_holds_no_lease(store: RunStore) -> None:
    asking = graph(
        node("a", "write", input={"step": "a"}),
        waiting("ask", "a", question="Shall I?"),
        node("b", "write", "ask", input={"step": "$.steps.ask.output.word"}),
    )
    first = Process(store, **OWNER)
    waits = await first.runner.run(asking, run_id="r")
    kept = await store.get("r")
    await first.durability.close()
    assert waits.state is NodeState.WAITING
    assert kept is not None
    assert kept.lease_owner == ""

    second = Process(store, did=first.did, **OWNER)
    await second.runner.answer("r", waits.pending[0].id, {"word": "yes"})
    ended = await second.runner.result("r")
    await second.durability.close()

    assert ended.state is NodeState.COMPLETED
    assert second.did == ["a", "yes"]


async def test_a_wait_for_a_time_ends_by_itself(store: RunStore) -> None:
    process = Process(store, **OWNER)
    timed = graph(waiting("nap", seconds=0.1), node("a", "read", "nap", input={"step": "a"}))
    result = await process.runner.run(timed, run_id="r")
    await process.durability.close()

    assert result.state is NodeState.COMPLETED
    assert result.duration_ms >= 100


async def test_another_process_goes_on_when_the_time_has_come(
    timed: RunStore, clock: FakeClock
) -> None:
    napping = graph(waiting("nap", seconds=60), node("a", "read", "nap", input={"step": "a"}))
    first = Process(timed, now=clock.time, **OWNER)
    await first.runner.start(napping, run_id="r")
    await until_state(first, "r", NodeState.WAITING)
    await first.durability.close()

    second = Process(timed, now=clock.time, **OWNER)
    assert await second.durability.follow() == ()
    clock.advance(61)
    await until_state(second, "r", NodeState.COMPLETED)
    await second.durability.close()
    assert second.did == ["a"]


async def test_pause_resume_and_cancel_are_heard(store: RunStore) -> None:
    process = Process(store, **OWNER)
    await process.runner.start(HELD, run_id="r")
    await process.began.wait()
    await process.runner.pause("r")
    process.gate.set()
    paused = await process.runner.result("r")
    await process.runner.resume("r")
    ended = await process.runner.result("r")
    await process.runner.start(
        graph(node("x", input={"held": True, "step": "x"}), waiting("w", "x", event="never")),
        run_id="s",
    )
    await process.runner.cancel("s")
    cancelled = await process.runner.result("s")
    await process.durability.close()

    assert paused.state is NodeState.PAUSED
    assert ended.state is NodeState.COMPLETED
    assert cancelled.state is NodeState.CANCELLED


async def test_two_processes_share_a_store_and_one_takes_over(
    timed: RunStore, clock: FakeClock
) -> None:
    first = Process(timed, lease=10, now=clock.time)
    second = Process(timed, did=first.did, lease=10, now=clock.time)
    second.gate.set()
    await second.durability.follow()
    await first.runner.start(
        graph(
            node("a", "write", input={"step": "a"}),
            node("b", "read", "a", input={"step": "b", "held": True}),
        ),
        run_id="r",
    )
    await first.held.wait()
    for _ in range(5):
        clock.advance(4)
        await until_renewed(timed, clock, 10)
    assert first.did == ["a"]  # the lease is renewed, and nobody else takes the run

    await first.crash()
    while first.did == ["a"]:  # what it said last may be written after this
        clock.advance(11)
        await asyncio.sleep(0.05)
    ended = await second.runner.result("r")
    await second.durability.close()
    assert ended.state is NodeState.COMPLETED
    assert first.did == ["a", "b"]


async def test_a_message_that_another_process_takes_is_heard_where_the_run_is_played(
    store: RunStore,
) -> None:
    first, second = Process(store), Process(store)
    await first.runner.start(HELD, run_id="r")
    await first.began.wait()
    await second.runner.cancel("r")
    ended = await second.runner.result("r")
    await first.durability.close()
    await second.durability.close()

    assert ended.state is NodeState.CANCELLED


async def test_in_a_shared_store_a_run_that_waits_is_parked(store: RunStore) -> None:
    process = Process(store)
    await process.runner.start(
        graph(node("a", input={"held": True, "step": "a"}), waiting("w", "a", question="?")),
        run_id="r",
    )
    await asyncio.sleep(0.1)  # it has looked for messages meanwhile
    process.gate.set()
    result = await process.runner.result("r")
    await process.durability.close()

    assert result.state is NodeState.WAITING
    assert result.pending[0].message == "?"


async def test_who_has_lost_the_lease_stops(store: RunStore) -> None:
    process = Process(store, **OWNER)
    await process.runner.start(HELD, run_id="r")
    await process.began.wait()
    await store.release("r", "us")
    assert await store.lease("r", "another", seconds=60) is not None
    await process.durability._renew()
    await until(lambda: not process.durability._workers)
    process.gate.set()
    await process.durability.close()

    assert "b" not in process.did


async def test_an_owner_that_comes_back_changes_nothing(store: RunStore) -> None:
    process = Process(store, **OWNER)
    await process.runner.start(HELD, run_id="r")
    await process.held.wait()
    await store.release("r", "us")
    assert await store.lease("r", "another", seconds=60) is not None
    process.gate.set()
    with pytest.raises(Unavailable, match="held by another worker"):
        await process.runner.result("r")
    await process.durability.close()

    assert [step.path for step in await store.steps("r") if step.finished_at is None] == ["b"]


async def test_a_closed_one_takes_nothing_more(store: RunStore) -> None:
    process = Process(store, **OWNER)
    await process.durability.close()

    with pytest.raises(Unavailable, match="closed"):
        await process.runner.start(STEPS)
    with pytest.raises(Unavailable, match="closed"):
        await process.durability.recover()
    with pytest.raises(Unavailable, match="closed"):
        await process.durability.follow()


async def test_what_there_is_not_is_not_found(store: RunStore) -> None:
    process = Process(store, **OWNER)
    with pytest.raises(RunNotFound):
        await process.durability.signal("none", Signal(id="s", topic="control"))
    with pytest.raises(RunNotFound):
        await process.durability.get_result("none")
    with pytest.raises(RunNotFound):
        await process.durability.wait_until_settled("none")
    assert await process.durability.get_start("none") is None


async def test_without_a_runner_nothing_is_played(store: RunStore) -> None:
    process = Process(store, **OWNER)
    process.durability._attempt = None
    with pytest.raises(Unavailable, match="No runner"):
        await process.runner.start(STEPS)


async def test_an_answer_to_nothing_is_refused(store: RunStore) -> None:
    process = Process(store, **OWNER)
    await process.runner.run(STEPS, run_id="r")
    with pytest.raises(InvalidRequest, match="does not ask"):
        await process.runner.answer("r", "b", {"answer": "happened"})
    await process.durability.close()


async def test_a_store_that_does_not_answer_ends_no_tending(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    storage = open_storage(tmp_path)
    process = Process(storage.runs, lease=0.03, **OWNER)
    await process.runner.start(HELD, run_id="r")
    await process.held.wait()
    await storage.close()
    process.durability._wakeups.set("r", after=0)
    await until(lambda: "is unavailable" in caplog.text)
    await until(lambda: "could not be resumed" in caplog.text)
    await process.durability.close()

    assert "could not be released" in caplog.text


async def test_a_store_that_is_gone_is_told_and_the_run_stays(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    process = Process(storage.runs, **OWNER)
    await process.runner.start(HELD, run_id="r")
    await process.held.wait()
    await storage.close()
    waits = asyncio.create_task(process.runner.result("r"))
    process.gate.set()
    with pytest.raises(Unavailable):
        await waits
    await process.durability.close()

    async with open_storage(tmp_path) as again:
        left = await again.runs.get("r")
    assert left is not None
    assert left.state is NodeState.IN_PROGRESS


async def test_a_play_that_ends_in_an_error_is_tried_again_later_each_time(
    store: RunStore,
) -> None:
    process = Process(store, first_retry=0.1, **OWNER)
    plays: list[float] = []
    play = process.durability._attempt
    assert play is not None

    async def odd(steps: RunSteps) -> RunResult:
        plays.append(asyncio.get_running_loop().time())
        if len(plays) < 4:
            raise RuntimeError("odd")
        return await play(steps)

    process.durability.attach(odd)
    await process.runner.start(STEPS, run_id="r")
    await until(lambda: len(plays) == 2)
    with pytest.raises(RuntimeError, match="odd"):
        await process.runner.result("r")
    await until(lambda: process.did == ["a", "b", "c"])
    result = await process.runner.result("r")
    await process.durability.close()

    assert result.state is NodeState.COMPLETED
    pauses = [later - before for before, later in pairwise(plays)]
    assert all(pause > 0.09 * 2**number for number, pause in enumerate(pauses))
    assert process.durability._wakeups.retries == {}


async def test_a_run_that_can_never_be_played_fails_and_says_why(store: RunStore) -> None:
    process = Process(store, first_retry=0.001, **OWNER)
    start = RunStart(run_id="r", graph={"nodes": 1}, params={}, principal=LOCAL, created_at=1.0)
    await process.durability.start(start)
    result = await until_state(process, "r", NodeState.FAILED)
    await process.durability.close()

    kept = await store.get("r")
    assert result.error is not None
    assert result.error["code"] == "graph_invalid"
    assert kept is not None
    assert (kept.state, kept.lease_owner) == (NodeState.FAILED, "")
    assert await store.take("others") is None


async def test_a_run_that_is_tried_again_is_held_meanwhile_and_let_go_at_the_end(
    timed: RunStore, clock: FakeClock
) -> None:
    process = Process(timed, first_retry=60, lease=10, now=clock.time)
    process.durability._attempt = _fails
    await process.runner.start(STEPS, run_id="r")
    await until(lambda: bool(process.durability._wakeups.retries))
    for _ in range(5):
        clock.advance(4)
        await until_renewed(timed, clock, 10)
    assert await timed.take("others") is None
    assert not process.durability.is_elsewhere("r")
    await process.durability.close()

    assert await timed.take("others") is not None


async def test_a_run_that_was_set_back_and_taken_by_another_is_left_alone(
    store: RunStore,
) -> None:
    process = Process(store, first_retry=60)
    process.durability._attempt = _fails
    await process.runner.start(STEPS, run_id="r")
    await until(lambda: bool(process.durability._wakeups.retries))
    run = await store.get("r")
    assert run is not None
    await store.release("r", run.lease_owner)
    assert await store.lease("r", "another") is not None
    await process.durability._renew()
    await process.durability.close()

    assert process.durability._wakeups.retries == {}


async def _fails(steps: RunSteps) -> RunResult:
    raise RuntimeError("odd")
