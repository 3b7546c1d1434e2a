"""Runs that outlive their caller: waiting, pausing, cancelling, crashing, going on."""

import asyncio
from typing import Any

import pytest
from tests.execution.made import in_virtual_time
from tests.graphs.made import Bench, World, at_the_bench, call, states

from pegboard import ToolContext
from pegboard.core.event import NodeChanged, RunFinished
from pegboard.core.graph import Fallback, ForEach, Graph, Node, NodeState, Wait
from pegboard.core.ports.durability import RunStart
from pegboard.core.principal import Principal
from pegboard.core.run import RunResult
from pegboard.durability import MemoryJournal
from pegboard.errors import GraphInvalid, InvalidRequest, RunNotFound, Unavailable
from pegboard.graphs import GraphRunner
from pegboard.testing import FakeClock


def graph(*nodes: Node, **more: Any) -> Graph:
    return Graph(nodes=nodes, **more)


CHAIN = graph(call("a"), call("b", "read", "a"), call("c", "read", "b"))


def test_a_run_is_started_at_once_and_its_result_waited_for() -> None:
    async def work(bench: Bench) -> None:
        run_id = await bench.runner.start(CHAIN)
        early = await bench.runner.result(run_id, wait=False)
        done = await bench.runner.result(run_id)

        assert early.state is NodeState.IN_PROGRESS
        assert done.state is NodeState.COMPLETED
        assert await bench.runner.result(run_id, wait=False) == done

    at_the_bench(work)


def test_the_same_id_is_the_same_run() -> None:
    async def work(bench: Bench) -> int:
        await bench.runner.run(CHAIN, run_id="r1")
        await bench.runner.run(CHAIN, run_id="r1")
        return len(bench.world.began)

    assert at_the_bench(work) == 3


def test_what_there_is_not_is_not_found() -> None:
    async def work(bench: Bench) -> None:
        for wish in (bench.runner.result, bench.runner.pause, bench.runner.cancel):
            with pytest.raises(RunNotFound):
                await wish("nothing")

    at_the_bench(work)


def test_a_graph_with_faults_and_params_that_do_not_fit_start_nothing() -> None:
    params = {"type": "object", "properties": {"n": {"type": "integer"}}}

    async def work(bench: Bench) -> None:
        with pytest.raises(GraphInvalid):
            await bench.runner.start(graph(call("a", "nothing")))
        with pytest.raises(InvalidRequest):
            await bench.runner.start(graph(call("a"), params=params), {"n": "x"})
        assert bench.journal.runs == {}

    at_the_bench(work)


def test_a_paused_run_lets_what_runs_end_and_starts_nothing_until_it_is_resumed() -> None:
    async def work(bench: Bench) -> None:
        run_id = await bench.runner.start(CHAIN)
        await asyncio.sleep(0.15)
        await bench.runner.pause(run_id)
        paused = await bench.runner.result(run_id)

        assert paused.state is NodeState.PAUSED
        assert states(paused) == {"a": "completed", "b": "completed", "c": "ready"}

        await asyncio.sleep(100)
        assert len(bench.world.began) == 2
        await bench.runner.resume(run_id)
        assert (await bench.runner.result(run_id)).state is NodeState.COMPLETED

    at_the_bench(work)


def test_a_pause_does_not_stop_the_clock_of_a_run() -> None:
    async def work(bench: Bench) -> RunResult:
        run_id = await bench.runner.start(CHAIN.replace(timeout=5))
        await bench.runner.pause(run_id)
        await asyncio.sleep(6)
        return await bench.runner.result(run_id)

    result = at_the_bench(work)

    assert result.state is NodeState.FAILED
    assert result.error is not None
    assert result.error["code"] == "timeout"


def test_a_cancelled_run_cancels_what_runs_and_starts_nothing() -> None:
    async def work(bench: Bench) -> None:
        run_id = await bench.runner.start(
            graph(call("a"), call("slow", input={"seconds": 10}), call("b", "read", "slow"))
        )
        await asyncio.sleep(1)
        await bench.runner.cancel(run_id)
        result = await bench.runner.result(run_id)

        assert result.state is NodeState.CANCELLED
        assert states(result) == {"a": "completed", "slow": "cancelled", "b": "cancelled"}
        assert bench.world.running == 0
        finished = [event for event in bench.heard.events if isinstance(event, RunFinished)]
        assert [event.state for event in finished] == ["cancelled"]

    at_the_bench(work)


def test_a_write_that_a_cancelled_run_cut_off_is_unknown() -> None:
    async def work(bench: Bench) -> RunResult:
        run_id = await bench.runner.start(graph(call("pay", "pay", input={"seconds": 10})))
        await asyncio.sleep(1)
        await bench.runner.cancel(run_id)
        return await bench.runner.result(run_id)

    result = at_the_bench(work)

    assert (result.state, states(result)) == (NodeState.CANCELLED, {"pay": "unknown"})


def test_a_run_that_waits_or_is_paused_can_be_cancelled() -> None:
    async def work(bench: Bench) -> list[str]:
        ids = [await bench.runner.start(graph(Node(id="w", kind="wait", wait=Wait(event="e"))))]
        ids.append(await bench.runner.start(CHAIN))
        await bench.runner.pause(ids[1])
        await asyncio.sleep(1)
        for run_id in ids:
            await bench.runner.cancel(run_id)
        return [(await bench.runner.result(run_id)).state.value for run_id in ids]

    assert at_the_bench(work) == ["cancelled", "cancelled"]


def test_a_waiting_run_keeps_no_task() -> None:
    async def work(bench: Bench) -> int:
        before = len(asyncio.all_tasks())
        for _ in range(20):
            await bench.runner.run(graph(Node(id="w", kind="wait", wait=Wait(question="Go?"))))
        return len(asyncio.all_tasks()) - before

    assert at_the_bench(work) == 0


# crashes: everything in memory is gone, the journal is there


def after_a_crash(first: Any, second: Any, *, at: float) -> Any:
    """Begin on one bench, kill it at a time, go on at another on the same journal and world."""

    async def work(clock: FakeClock) -> Any:
        world = World()
        before = Bench(clock, world)
        task = asyncio.ensure_future(first(before))
        await asyncio.sleep(at)
        left = before.journal.copy()
        task.cancel()
        await asyncio.wait([task])
        await before.durability.close()
        after = Bench(clock, world, journal=left)
        try:
            return await second(after)
        finally:
            await after.durability.close()

    return in_virtual_time(work)


async def recovered(bench: Bench) -> RunResult:
    (run_id,) = await bench.runner.recover()
    return await bench.runner.result(run_id)


def test_steps_that_ended_are_not_done_again_after_a_crash() -> None:
    async def again(bench: Bench) -> tuple[RunResult, list[str]]:
        return await recovered(bench), [str(a["n"]) for _, a, _ in bench.world.began]

    chain = graph(
        call("a", input={"n": 1}),
        call("b", "read", "a", input={"n": 2}),
        call("c", "read", "b", input={"n": "$.steps.b.output.n"}),
    )
    result, began = after_a_crash(lambda bench: bench.runner.run(chain), again, at=0.25)

    assert result.state is NodeState.COMPLETED
    assert began == ["1", "2", "2", "2"]
    assert result.output == {"c": {"n": 2}}


def test_what_may_be_repeated_is_done_again_under_the_same_key() -> None:
    async def again(bench: Bench) -> list[str]:
        assert (await recovered(bench)).state is NodeState.COMPLETED
        return bench.world.keys

    keys = after_a_crash(lambda bench: bench.runner.run(graph(call("a", "put"))), again, at=0.05)

    assert len(keys) == 2
    assert len(set(keys)) == 1


def pay_cut_off(second: Any) -> Any:
    pay = graph(call("pay", "pay"), call("b", "read", "pay", input={"x": "$.steps.pay.output.x"}))
    return after_a_crash(lambda bench: bench.runner.run(pay), second, at=0.05)


def test_what_may_not_be_repeated_is_shown_and_asked_about() -> None:
    async def again(bench: Bench) -> None:
        waiting = await recovered(bench)
        (asked,) = waiting.pending

        assert waiting.state is NodeState.WAITING
        assert states(waiting) == {"pay": "unknown", "b": "pending"}
        assert (asked.kind, asked.step) == ("unknown", "pay")
        assert asked.choices == ("happened", "did_not_happen", "cancel")
        assert bench.world.starts_of("pay") == 1

    pay_cut_off(again)


def test_what_happened_is_not_done_again_and_its_output_is_what_the_person_says() -> None:
    async def again(bench: Bench) -> tuple[RunResult, int]:
        waiting = await recovered(bench)
        answer = {"answer": "happened", "output": {"x": 3}}
        await bench.runner.answer(waiting.run_id, waiting.pending[0].id, answer)
        return await bench.runner.result(waiting.run_id), bench.world.starts_of("pay")

    result, paid = pay_cut_off(again)

    assert (result.output, paid) == ({"b": {"x": 3}}, 1)


def test_what_did_not_happen_is_done_again_under_a_new_key() -> None:
    async def again(bench: Bench) -> tuple[RunResult, list[str]]:
        waiting = await recovered(bench)
        with pytest.raises(InvalidRequest, match="one of happened"):
            await bench.runner.answer(waiting.run_id, waiting.pending[0].id, "perhaps")
        await bench.runner.answer(waiting.run_id, waiting.pending[0].id, "did_not_happen")
        result = await bench.runner.result(waiting.run_id)
        return result, [key.partition(":")[2] for key in bench.world.keys[:2]]

    result, keys = pay_cut_off(again)

    assert keys == ["pay:0", "pay:0:1"]
    assert states(result)["pay"] == "completed"


def test_a_run_whose_call_nobody_knows_of_can_be_cancelled_by_the_answer() -> None:
    async def again(bench: Bench) -> RunResult:
        waiting = await recovered(bench)
        await bench.runner.answer(waiting.run_id, waiting.pending[0].id, "cancel")
        return await bench.runner.result(waiting.run_id)

    result = pay_cut_off(again)

    assert result.state is NodeState.CANCELLED
    assert states(result) == {"pay": "unknown", "b": "cancelled"}


def test_a_wait_for_a_time_survives_a_crash_and_does_not_begin_anew() -> None:
    waiting = graph(Node(id="w", kind="wait", wait=Wait(seconds=10)))

    async def again(bench: Bench) -> RunResult:
        await asyncio.sleep(3)
        await bench.runner.recover()
        (run_id,) = bench.journal.runs
        return await bench.runner.result(run_id)

    result = after_a_crash(lambda bench: bench.runner.run(waiting), again, at=5)

    assert result.duration_ms == pytest.approx(10_000, abs=50)


def test_a_question_survives_a_crash_and_takes_its_answer() -> None:
    asking = graph(Node(id="w", kind="wait", wait=Wait(question="Go?")))

    async def again(bench: Bench) -> RunResult:
        (run_id,) = bench.journal.runs
        await bench.runner.answer(run_id, "w", 5)
        return await bench.runner.result(run_id)

    assert after_a_crash(lambda bench: bench.runner.run(asking), again, at=5).output == {"w": 5}


def test_a_message_that_was_taken_is_not_taken_again_after_a_crash() -> None:
    two = graph(
        Node(id="one", kind="wait", wait=Wait(event="e")),
        Node(id="two", kind="wait", wait=Wait(event="e")),
    )

    async def first(bench: Bench) -> None:
        waiting = await bench.runner.run(two)
        await bench.runner.send(waiting.run_id, "e", 1)

    async def again(bench: Bench) -> RunResult:
        return await recovered(bench)

    assert states(after_a_crash(first, again, at=5)) == {"one": "completed", "two": "waiting"}


def test_a_pause_survives_a_crash() -> None:
    async def first(bench: Bench) -> None:
        run_id = await bench.runner.start(CHAIN)
        await bench.runner.pause(run_id)

    async def again(bench: Bench) -> tuple[RunResult, int]:
        return await recovered(bench), len(bench.world.began)

    result, began = after_a_crash(first, again, at=5)

    assert (result.state, began) == (NodeState.PAUSED, 0)


def test_a_step_that_was_too_late_stays_so_after_a_crash() -> None:
    late = graph(
        call("slow", input={"seconds": 1}),
        call("late", "look", timeout=0.5, on_failure="skip"),
        call("then", "find", "slow", input={"seconds": 5}),
        concurrency=1,
    )

    async def again(bench: Bench) -> tuple[RunResult, int]:
        return await recovered(bench), bench.world.starts_of("look")

    result, looked = after_a_crash(lambda bench: bench.runner.run(late), again, at=3)

    assert (states(result)["late"], looked) == ("failed", 0)


def test_what_is_told_again_says_so() -> None:
    async def again(bench: Bench) -> list[tuple[str, str, bool]]:
        await recovered(bench)
        told = [event for event in bench.heard.events if isinstance(event, NodeChanged)]
        return [(e.node, e.state, e.replayed) for e in told if e.state == "completed"]

    told = after_a_crash(lambda bench: bench.runner.run(CHAIN), again, at=0.15)

    assert told == [
        ("a", "completed", True),
        ("b", "completed", False),
        ("c", "completed", False),
    ]


def test_a_try_that_failed_before_another_tool_answered_is_no_failure_of_its_step() -> None:
    tried = graph(
        call("a", input={"fail": "no"}, fallbacks=(Fallback(tool="look", input={}),)),
        call("b", "read", "a", input={"seconds": 5}),
    )

    async def again(bench: Bench) -> list[tuple[str, str]]:
        await recovered(bench)
        told = [event for event in bench.heard.events if isinstance(event, NodeChanged)]
        return [(e.node, e.state) for e in told if e.state in {"failed", "completed"}]

    told = after_a_crash(lambda bench: bench.runner.run(tried), again, at=1)

    assert told == [
        ("a~1", "failed"),
        ("a~2", "completed"),
        ("a", "completed"),
        ("b", "completed"),
    ]


def test_another_process_makes_calls_for_the_same_principal() -> None:
    ada = Principal(id="ada", scopes=frozenset({"x"}))

    async def again(bench: Bench) -> list[Principal]:
        await recovered(bench)
        return [ctx.principal for ctx in bench.world.contexts]

    made = after_a_crash(
        lambda bench: bench.runner.run(CHAIN, ctx=ToolContext(principal=ada)), again, at=0.15
    )

    assert made == [ada] * 4


def test_the_application_says_what_calls_of_another_process_are_made_with() -> None:
    async def again(bench: Bench) -> list[Any]:
        def context(start: RunStart) -> ToolContext[Any]:
            return ToolContext(principal=start.principal, deps="shop")

        bench.runner = GraphRunner(bench.registry, durability=bench.durability, context=context)
        await recovered(bench)
        return [ctx.deps for ctx in bench.world.contexts]

    assert after_a_crash(lambda bench: bench.runner.run(CHAIN), again, at=0.15) == [
        None,
        None,
        "shop",
        "shop",
    ]


class Broken(MemoryJournal):
    """A journal that fails at one of its writes, and works again later."""

    def __init__(self, *, at: int) -> None:
        super().__init__()
        self.left = at

    async def write(self, change: Any) -> None:
        self.left -= 1
        if self.left == 0:
            raise Unavailable("the disk is full")
        await super().write(change)


@pytest.mark.parametrize("at", range(2, 7))
def test_a_run_goes_on_when_its_store_is_back(at: int) -> None:
    async def work(clock: FakeClock) -> None:
        bench = Bench(clock, journal=Broken(at=at))
        nodes = (
            call("a"),
            call("pay", "pay", input={"seconds": 0.2}),
            call("c", "read", "a", "pay"),
        )
        run_id = await bench.runner.start(graph(*nodes))
        with pytest.raises(Unavailable, match="full"):
            await bench.runner.result(run_id)

        assert bench.world.running == 0
        await bench.runner.recover()
        result = await bench.runner.result(run_id)
        while result.state is NodeState.WAITING:
            assert result.pending[0].kind == "unknown"
            await bench.runner.answer(run_id, result.pending[0].id, "happened")
            result = await bench.runner.result(run_id)

        assert result.state is NodeState.COMPLETED
        assert bench.world.starts_of("pay") <= 1
        await bench.durability.close()

    in_virtual_time(work)


@pytest.mark.parametrize("at", range(2, 9))
def test_items_end_when_the_store_is_gone_and_go_on_when_it_is_back(at: int) -> None:
    async def work(clock: FakeClock) -> None:
        bench = Bench(clock, journal=Broken(at=at))
        waits = Graph(
            nodes=(
                Node(id="w", kind="wait", wait=Wait(event="e")),
                call("put", "put", edges=()),
            )
        )
        each = ForEach(items=[1, 2])
        run_id = await bench.runner.start(
            graph(
                Node(id="each", kind="graph", graph=waits, for_each=each),
                call("a", "put", for_each=each),
            )
        )
        with pytest.raises(Unavailable, match="full"):
            await bench.runner.result(run_id)

        assert bench.world.running == 0
        await bench.runner.recover()
        for number in (1, 2):
            await bench.runner.send(run_id, "e", number)
        assert (await bench.runner.result(run_id)).state is NodeState.COMPLETED
        await bench.durability.close()

    in_virtual_time(work)


def test_a_closed_durability_takes_nothing_new() -> None:
    async def work(bench: Bench) -> None:
        await bench.durability.close()
        with pytest.raises(Unavailable, match="closed"):
            await bench.runner.start(CHAIN)
        with pytest.raises(Unavailable, match="closed"):
            await bench.runner.recover()

    at_the_bench(work)
