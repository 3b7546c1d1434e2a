"""For whom, and with which tools, each attempt at a run makes its calls."""

from typing import Any

from tests.graphs.made import Bench, at_the_bench, call

from pegboard import ToolContext
from pegboard.core.graph import Graph, Node, Wait
from pegboard.core.ports.durability import RunStart
from pegboard.core.principal import Principal
from pegboard.graphs import GraphRunner


def test_the_rights_and_tools_of_a_run_are_those_of_each_attempt() -> None:
    """Also in the process that began it: rights that are gone by then are not kept."""
    ada = Principal(id="ada", scopes=frozenset({"x"}))
    wait = Node(id="b", kind="wait", wait=Wait(event="go"), edges=call("b", "read", "a").edges)

    async def work(bench: Bench) -> tuple[list[tuple[Any, frozenset[str]]], int]:
        asked: list[str] = []
        rights = [frozenset({"x"}), frozenset({"y"})]

        def host(start: RunStart) -> Any:
            asked.append(start.run_id)
            return bench.registry

        def context(_start: RunStart) -> ToolContext[Any]:
            return ToolContext(principal=Principal(id="ada", scopes=rights.pop(0)))

        runner = GraphRunner(
            bench.registry, durability=bench.durability, host=host, context=context
        )
        plan = Graph(nodes=(call("a"), wait, call("c", "read", "b")))
        waiting = await runner.run(plan, ctx=ToolContext(principal=ada, deps="shop"))
        await runner.send(waiting.run_id, "go")
        await runner.result(waiting.run_id)
        made = [(ctx.deps, ctx.principal.scopes) for ctx in bench.world.contexts]
        return made, len(asked)

    assert at_the_bench(work) == ([("shop", frozenset({"x"})), ("shop", frozenset({"y"}))], 2)
