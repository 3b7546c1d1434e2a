"""What was tried of a chain of tools, in a later play of the same run."""

import asyncio
from typing import Any

from tests.graphs.kinds.test_tool_chains import without
from tests.graphs.made import Bench, at_the_bench, call
from tests.graphs.test_runner import after_a_crash, recovered

from pegboard.core.graph import Fallback, Graph, Node, NodeState
from pegboard.core.run import NodeRun, RunResult
from pegboard.graphs import GraphRunner
from pegboard.graphs.engine.node_execution import NodeExecution
from pegboard.graphs.node_kind import NodeContext


def test_a_later_play_does_not_begin_with_a_tool_that_has_come_back() -> None:
    """The one that stood in for it may have taken effect when the process died."""

    async def life(bench: Bench) -> Any:
        pay = Fallback(tool="pay", input={"seconds": 5, "step": "a"})
        return await without(bench, "read", node=call("a", "read", "first", fallbacks=(pay,)))

    async def again(bench: Bench) -> tuple[str, int]:
        result = await recovered(bench)
        return result.pending[0].kind, bench.world.starts_of("read")

    assert after_a_crash(life, again, at=3) == ("unknown", 0)


def test_what_was_cut_off_is_asked_about_although_its_tool_has_gone_since() -> None:
    paid = call("a", "pay", input={"seconds": 5}, fallbacks=(Fallback(tool="look"),))

    async def again(bench: Bench) -> tuple[str, int, RunResult]:
        bench.registry.remove("pay")
        waiting = await recovered(bench)
        asked, looked = waiting.pending[0], bench.world.starts_of("look")
        await bench.runner.answer(waiting.run_id, asked.id, "did_not_happen")
        return asked.kind, looked, await bench.runner.result(waiting.run_id)

    kind, looked, result = after_a_crash(
        lambda bench: bench.runner.run(Graph(nodes=(paid,))), again, at=1
    )

    assert (kind, looked) == ("unknown", 0)
    assert (result.state, result.nodes[0].tool) == (NodeState.COMPLETED, "look")


def test_work_that_cannot_have_an_effect_is_not_noted_before_it_starts() -> None:
    noted: list[int] = []

    class Marking:
        name = "marking"
        fields = frozenset({"config"})

        def faults(self, node: Any) -> Any:
            return iter(())

        def output_schema(self, node: Any, schema_of: Any) -> Any:
            return None

        async def run(self, context: NodeContext) -> NodeRun:
            assert isinstance(context, NodeExecution)

            async def work(_key: str) -> NodeRun:
                noted.append(context.steps.find(context.slot) is not None)
                return NodeRun(id=context.step, state=NodeState.COMPLETED)

            acts = context.node.config["acts"]
            return await context.run_once(work, repeatable=False, acts=acts)

    async def work(bench: Bench) -> RunResult:
        kinds = {"marking": Marking()}
        runner = GraphRunner(bench.registry, durability=bench.durability, kinds=kinds)
        steps = [Node(id=f"a{n}", kind="marking", config={"acts": n}) for n in (False, True)]
        return await runner.run(Graph(nodes=tuple(steps)))

    result = at_the_bench(work)

    assert result.state is NodeState.COMPLETED
    assert noted == [False, True]


def test_what_is_reported_once_is_not_reported_by_a_later_play() -> None:
    said: list[str] = []

    class Reporting:
        name = "reporting"
        fields = frozenset[str]()

        def faults(self, node: Any) -> Any:
            return iter(())

        def output_schema(self, node: Any, schema_of: Any) -> Any:
            return None

        async def run(self, context: NodeContext) -> NodeRun:
            await context.report_once("begun", lambda: said.append("begun"))
            await asyncio.sleep(5)
            await context.report_once("ended", lambda: said.append("ended"))
            return NodeRun(id=context.step, state=NodeState.COMPLETED)

    def runner_at(bench: Bench) -> None:
        kinds = {"reporting": Reporting()}
        bench.runner = GraphRunner(bench.registry, durability=bench.durability, kinds=kinds)

    async def life(bench: Bench) -> Any:
        runner_at(bench)
        return await bench.runner.run(Graph(nodes=(Node(id="a", kind="reporting"),)))

    async def again(bench: Bench) -> RunResult:
        runner_at(bench)
        return await recovered(bench)

    assert after_a_crash(life, again, at=1).state is NodeState.COMPLETED
    assert said == ["begun", "ended"]
