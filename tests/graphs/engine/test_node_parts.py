"""A node that runs parts of its own, reports what happens, and takes messages on the way."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any

from tests.graphs.made import Bench, at_the_bench
from tests.graphs.test_runner import after_a_crash, recovered

from pegboard.access import Policy
from pegboard.core.event import NodeReported
from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.run import NodeRun, RunResult
from pegboard.graphs import KINDS, GraphRunner
from pegboard.graphs.kinds.tool import call_tool
from pegboard.graphs.node_kind import NodeContext, Part


class Parted:
    """Calls `read` once for each entry of its configuration, all at once, in each of two rounds."""

    name = "parted"
    fields = frozenset({"config"})

    def faults(self, node: Any) -> Any:
        return iter(())

    def output_schema(self, node: Any, schema_of: Any) -> Any:
        return None

    async def run(self, context: NodeContext) -> NodeRun:
        ended: list[list[Any]] = []
        for number in range(2):
            parts: dict[str, Part] = {
                f"r{number}-{name}": partial(_call, arguments)
                for name, arguments in context.node.config.items()
            }
            ended += [[run.id, run.state.value] for run in await context.run_parts(parts)]
        heard = await context.run_once(partial(_take, context), label="taken", acts=False)
        return NodeRun(id=context.step, state=NodeState.COMPLETED, output=[*ended, heard.output])


async def _call(arguments: Mapping[str, Any], context: NodeContext) -> NodeRun:
    tool = str(arguments.get("tool", "read"))
    return await call_tool(context, tool, arguments, observe=partial(_report, context))


def _report(context: NodeContext, run: NodeRun) -> None:
    context.emit("seen", {"state": run.state.value, "tool": run.tool})


async def _take(context: NodeContext, _key: str) -> NodeRun:
    messages = [signal.message for signal in context.take_signals("event:more")]
    return NodeRun(id=context.step, state=NodeState.COMPLETED, output=messages)


def runner_of(bench: Bench) -> GraphRunner:
    bench.runner = GraphRunner(
        bench.registry, durability=bench.durability, kinds={**KINDS, "parted": Parted()}
    )
    return bench.runner


def parted(**config: Mapping[str, Any]) -> Graph:
    return Graph(nodes=(Node(id="a", kind="parted", config=config),), output="$.steps.a.output")


def test_parts_run_at_once_and_one_that_fails_leaves_the_others() -> None:
    async def work(bench: Bench) -> tuple[RunResult, int]:
        graph = parted(x={"n": 1}, y={"fail": "no"}, z={"n": 2})
        return await runner_of(bench).run(graph), bench.world.most

    result, most = at_the_bench(work)

    assert most == 3
    assert result.output[:3] == [
        ["a/r0-x", "completed"],
        ["a/r0-y", "failed"],
        ["a/r0-z", "completed"],
    ]
    assert len(result.output) == 7


def test_parts_that_ended_before_a_crash_are_not_run_again_nor_reported_again() -> None:
    reported: list[list[tuple[str, str]]] = []

    async def first(bench: Bench) -> None:
        await runner_of(bench).run(parted(x={"n": 1}, y={"n": 2, "seconds": 5}))

    async def again(bench: Bench) -> tuple[RunResult, list[int]]:
        runner_of(bench)
        result = await recovered(bench)
        events = [e for e in bench.heard.events if isinstance(e, NodeReported)]
        reported.append([(event.node, event.data["state"]) for event in events])
        return result, [int(a["n"]) for _, a, _ in bench.world.began]

    result, began = after_a_crash(first, again, at=1)

    assert result.state is NodeState.COMPLETED
    assert began == [1, 2, 2, 1, 2]
    assert reported[0][:2] == [("a/r0-y", "in_progress"), ("a/r0-y", "completed")]


def test_a_part_waits_for_its_approval_while_another_goes_on() -> None:
    async def work(bench: Bench) -> tuple[RunResult, RunResult]:
        runner = runner_of(bench)
        waiting = await runner.run(parted(x={"n": 1}, y={"tool": "pay"}))
        await runner.answer(waiting.run_id, waiting.pending[0].id, {"answer": "deny"})
        return waiting, await runner.result(waiting.run_id)

    waiting, next_wait = at_the_bench(work, policy=Policy(ask=("pay",)))

    assert [item.step for item in waiting.pending] == ["a/r0-y"]
    assert [item.step for item in next_wait.pending] == ["a/r1-y"]


def test_a_message_that_arrived_is_taken_by_the_work_that_asks_for_it() -> None:
    async def work(bench: Bench) -> RunResult:
        runner = runner_of(bench)
        run_id = await runner.start(parted(x={"seconds": 1}))
        await asyncio.sleep(0.5)
        await runner.send(run_id, "more", "also this")
        return await runner.result(run_id)

    assert at_the_bench(work).output[-1] == ["also this"]
