"""What the graphs of one run share: pauses, messages, and whether anything goes on."""

import asyncio

import pytest
from tests.graphs.made import Bench, at_the_bench, call, states

from pegboard import ToolContext
from pegboard.core.graph import ForEach, Graph, Node, NodeState, Wait
from pegboard.core.ports.durability import CONTROL, RunStart, Signal
from pegboard.core.principal import LOCAL
from pegboard.core.run import RunResult
from pegboard.graphs import KINDS
from pegboard.graphs.engine.run_context import RunContext, RunTaskGroup
from pegboard.graphs.engine.steps import EphemeralSteps


def a_run_context(bench: Bench) -> RunContext:
    return RunContext(run_id="r", board=bench.registry, kinds=KINDS, ctx=ToolContext(), env={})


def test_a_pause_that_ends_before_what_runs_has_ended_goes_on_at_once() -> None:
    async def work(bench: Bench) -> RunResult:
        nodes = (call("a"), call("slow", input={"seconds": 2}), call("b", "read", "a"))
        run_id = await bench.runner.start(Graph(nodes=nodes))
        await bench.runner.pause(run_id)
        await asyncio.sleep(0.5)
        await bench.runner.resume(run_id)
        return await bench.runner.result(run_id)

    result = at_the_bench(work)

    assert result.state is NodeState.COMPLETED
    assert result.duration_ms == pytest.approx(2500)


def test_a_pause_holds_what_waits_for_a_place() -> None:
    async def work(bench: Bench) -> tuple[RunResult, int, RunResult]:
        nodes = (call("a", input={"seconds": 1}), call("b"))
        run_id = await bench.runner.start(Graph(nodes=nodes, concurrency=1))
        await asyncio.sleep(0.5)
        await bench.runner.pause(run_id)
        paused = await bench.runner.result(run_id)
        began = len(bench.world.began)
        await bench.runner.resume(run_id)
        return paused, began, await bench.runner.result(run_id)

    paused, began, result = at_the_bench(work)

    assert (paused.state, began, result.state) == (NodeState.PAUSED, 1, NodeState.COMPLETED)


def test_nothing_but_the_commands_that_there_are_is_obeyed() -> None:
    async def work(bench: Bench) -> tuple[bool, bool]:
        run = a_run_context(bench)
        run.deliver([Signal(id="1", topic=CONTROL, message="dance")])
        run.deliver([Signal(id="2", topic=CONTROL, message="cancel")])
        return run.paused, run.cancelled

    assert at_the_bench(work) == (False, True)


@pytest.mark.parametrize(("cancels", "expected"), [(1, ["a", "b"]), (2, [])])
def test_what_a_cancelled_group_was_doing_has_ended_when_it_is_left(
    cancels: int, expected: list[str]
) -> None:
    tidied: list[str] = []

    async def stubborn(name: str) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(1)
            tidied.append(name)

    async def work(bench: Bench) -> int:
        start = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=0)
        run = a_run_context(bench)

        async def leave() -> None:
            async with RunTaskGroup[None](run, EphemeralSteps(start)) as tasks:
                tasks.spawn("a", stubborn("a"))
                tasks.spawn("b", stubborn("b"))
                await tasks.next()

        task = asyncio.create_task(leave())
        for _ in range(cancels):  # the second comes while it waits for what it has cancelled
            await asyncio.sleep(0.5)
            task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        return len(asyncio.all_tasks())

    assert at_the_bench(work) == 1
    assert tidied == expected


def test_a_group_that_is_left_without_waiting_ends_what_it_does() -> None:
    async def work(bench: Bench) -> int:
        start = RunStart(run_id="r", graph={}, params={}, principal=LOCAL, created_at=0)
        async with RunTaskGroup[None](a_run_context(bench), EphemeralSteps(start)) as tasks:
            tasks.spawn("a", asyncio.sleep(60))
            assert len(tasks) == 1
        return len(asyncio.all_tasks())

    assert at_the_bench(work) == 1


def test_items_that_wait_for_approvals_and_messages_suspend_the_run_together() -> None:
    async def work(bench: Bench) -> tuple[RunResult, RunResult]:
        each = Node(id="each", kind="wait", wait=Wait(event="e"), for_each=ForEach(items=[1, 2]))
        waiting = await bench.runner.run(Graph(nodes=(each, call("a"))))
        for number in (1, 2):
            await bench.runner.send(waiting.run_id, "e", number)
        return waiting, await bench.runner.result(waiting.run_id)

    waiting, done = at_the_bench(work)

    assert [pending.step for pending in waiting.pending] == ["each[0]", "each[1]"]
    assert states(waiting) == {"each": "ready", "a": "completed"}
    assert done.output == {"each": [1, 2], "a": {}}


def test_a_cancelled_run_cancels_its_items() -> None:
    async def work(bench: Bench) -> RunResult:
        each = call("each", for_each=ForEach(items=[1, 2, 3], concurrency=1), input={"seconds": 1})
        run_id = await bench.runner.start(Graph(nodes=(each,)))
        await asyncio.sleep(1.5)
        await bench.runner.cancel(run_id)
        return await bench.runner.result(run_id)

    result = at_the_bench(work)

    assert states(result) == {"each": "cancelled"}
    assert [part.state.value for part in result.nodes[0].parts] == ["completed", "cancelled"]
