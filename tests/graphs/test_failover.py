"""A stand-in for a chain of tools of which none is there."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.graphs.kinds.test_tool_chains import DOWN, parts
from tests.graphs.made import Bench, at_the_bench, call, states
from tests.graphs.test_runner import after_a_crash

from pegboard.access import Policy
from pegboard.core.event import NodeChanged
from pegboard.core.graph import Edge, Fallback, ForEach, Graph, Node, NodeState
from pegboard.core.principal import Principal
from pegboard.core.run import RunResult
from pegboard.errors import GraphInvalid, ToolFailed, ToolTimeout, Unavailable
from pegboard.graphs import GraphRunner, check
from pegboard.graphs.failover import Substitute
from pegboard.graphs.kinds.tool import input_for
from pegboard.rendering.text import waterfall


class Healing:
    """Names the same stand-in each time it is asked, and remembers for what."""

    def __init__(self, tool: str = "find", *, heals_refused: bool = False) -> None:
        self.tool = tool
        self.heals_refused = heals_refused
        self.asked: list[tuple[str, ...]] = []
        self.refused: list[tuple[str, ...]] = []

    def __call__(
        self, names: Sequence[str], principal: Principal, /, *, refused: Collection[str] = ()
    ) -> Substitute | None:
        self.asked.append(tuple(names))
        self.refused.append(tuple(refused))
        if not self.tool or (refused and not self.heals_refused):
            return None
        return Substitute(tool=self.tool, instead_of=names[0], reasons=("does the same",))


def healed(bench: Bench, healing: Healing) -> GraphRunner:
    return GraphRunner(bench.registry, durability=bench.durability, heal=healing)


async def run(bench: Bench, node: Node, healing: Healing, *gone: str) -> RunResult:
    runner = healed(bench, healing)
    run_id = await runner.start(Graph(nodes=(call("first", "look"), node)))
    for name in gone:
        bench.registry.remove(name)
    return await runner.result(run_id)


def test_a_stand_in_is_called_when_none_of_a_chain_is_there() -> None:
    healing = Healing()

    async def work(bench: Bench) -> tuple[RunResult, list[tuple[str, str, str]]]:
        node = call(
            "a", "read", "first", input={"x": 1}, fallbacks=(Fallback(tool="put", input={"y": 2}),)
        )
        result = await run(bench, node, healing, "read", "put")
        told = [event for event in bench.heard.events if isinstance(event, NodeChanged)]
        return result, [(e.node, e.instead_of, e.reason) for e in told if e.instead_of]

    result, told = at_the_bench(work)
    node = result.nodes[1]

    assert healing.asked == [("read", "put")]
    assert (node.state, node.tool, node.instead_of) == ("completed", "find", "read")
    assert node.output == {"x": 1}
    assert [part[:3] for part in parts(result, 1)] == [
        ("a~1", "read", "failed"),
        ("a~2", "put", "failed"),
        ("a~3", "find", "completed"),
    ]
    assert told == [
        ("a~3", "read", "'find' stands in for 'read'"),
        ("a", "read", "'find' stands in for 'read'"),
    ]
    assert "find, which stood in for read" in waterfall(result)
    assert "Tool 'read' not found" in waterfall(result)


def test_what_stands_in_for_a_fallback_gets_what_that_would_have_got() -> None:
    fallbacks = (Fallback(tool="put", input={"y": 2}), Fallback(tool="look"))
    node = call("a", "read", input={"x": 1}, fallbacks=fallbacks)

    assert [input_for(node, name) for name in ("read", "put", "look")] == [None, {"y": 2}, None]


@pytest.mark.parametrize(
    ("tool", "error", "stands_in"),
    [
        ("read", Unavailable("down"), True),
        ("read", ToolFailed("no"), False),
        ("read", ToolTimeout("late"), False),
        ("pay", Unavailable("the connection broke"), False),
        ("pay", Unavailable("busy", nothing_done=True), True),
    ],
)
def test_only_what_is_away_and_did_nothing_is_replaced(
    tool: str, error: Exception, stands_in: bool
) -> None:
    async def work(bench: Bench) -> tuple[RunResult, int]:
        bench.world.failing[tool] = [error]
        result = await run(bench, call("a", tool, "first"), Healing())
        return result, bench.world.starts_of("find")

    result, called = at_the_bench(work)

    assert (result.state is NodeState.COMPLETED, called) == (stands_in, int(stands_in))


@pytest.mark.parametrize(("heals", "state"), [(False, "failed"), (True, "completed")])
def test_whoever_heals_is_told_what_was_denied(heals: bool, state: str) -> None:
    healing = Healing(heals_refused=heals)

    async def work(bench: Bench) -> RunResult:
        bench.registry.apply(bench.registry.environment)
        node = call("a", "put", "first", fallbacks=(Fallback(tool="read"),))
        runner = healed(bench, healing)
        run_id = await runner.start(Graph(nodes=(call("first", "look"), node)))
        bench.registry.remove("put")
        bench.registry.apply(replace(bench.registry.environment, policy=Policy(deny=("read",))))
        return await runner.result(run_id)

    assert states(at_the_bench(work)) == {"first": "completed", "a": state}
    assert (healing.asked, healing.refused) == ([("put", "read")], [("read",)])


def test_a_stand_in_that_fails_is_the_end_of_its_step() -> None:
    async def work(bench: Bench) -> RunResult:
        bench.world.failing["find"] = [ToolFailed("no")]
        return await run(bench, call("a", "read", "first"), Healing(), "read")

    result = at_the_bench(work)

    assert result.error is not None
    assert result.error["message"] == "no"


def test_without_a_stand_in_a_step_fails_as_before() -> None:
    async def work(bench: Bench) -> RunResult:
        return await run(bench, call("a", "read", "first"), Healing(""), "read")

    node = at_the_bench(work).nodes[1]

    assert (node.state, node.parts, node.instead_of) == ("failed", (), "")


def test_each_item_of_a_step_finds_its_stand_in() -> None:
    async def work(bench: Bench) -> RunResult:
        each = call("a", "read", "first", for_each=ForEach(items=[1, 2]), input={"n": "$.item"})
        return await run(bench, each, Healing(), "read")

    assert at_the_bench(work).nodes[1].output == [{"n": 1}, {"n": 2}]


def test_a_stand_in_that_needs_an_approval_asks_for_its_own() -> None:
    async def work(bench: Bench) -> RunResult:
        return await run(bench, call("a", "read", "first"), Healing("pay"), "read")

    result = at_the_bench(work, policy=Policy(ask=("pay",)))

    assert (result.state, [item.kind for item in result.pending]) == ("waiting", ["approval"])


def test_a_later_play_stays_with_what_was_chosen() -> None:
    """Also when the tool is there again, and when another would be chosen now."""

    async def first(bench: Bench) -> Any:
        node = call("a", "read", "first", input={"seconds": 5, "step": "a"})
        return await run(bench, node, Healing("pay"), "read")

    async def again(bench: Bench) -> tuple[str, RunResult, list[str]]:
        runner = healed(bench, Healing("find"))
        (run_id,) = await runner.recover()
        waiting = await runner.result(run_id)
        asked = waiting.pending[0]
        await runner.answer(run_id, asked.id, "did_not_happen")
        done = await runner.result(run_id)
        return asked.kind, done, [tool for tool, _, _ in bench.world.began]

    kind, done, began = after_a_crash(first, again, at=2)

    assert kind == "unknown"
    assert (done.nodes[1].tool, done.nodes[1].instead_of) == ("pay", "read")
    assert began == ["look", "pay", "pay"]


def test_a_later_play_does_not_heal_what_an_earlier_one_gave_up() -> None:
    def graph() -> Graph:
        undo = Node(
            id="undo",
            tool="pay",
            input={"seconds": 5, "step": "undo"},
            edges=(Edge(node="a", outcome="failed"),),
        )
        return Graph(nodes=(call("first", "look"), call("a", "read", "first"), undo))

    async def first(bench: Bench) -> Any:
        run_id = await bench.runner.start(graph())
        bench.registry.remove("read")
        return await bench.runner.result(run_id)

    async def again(bench: Bench) -> RunResult:
        runner = healed(bench, Healing())
        (run_id,) = await runner.recover()
        return await runner.result(run_id)

    assert states(after_a_crash(first, again, at=2)) == {
        "first": "completed",
        "a": "failed",
        "undo": "unknown",
    }


def test_a_step_whose_tool_is_gone_is_no_fault_when_another_stands_in() -> None:
    node = call("a", "gone")

    async def work(bench: Bench) -> tuple[list[tuple[str, bool]], RunResult]:
        found = check(Graph(nodes=(node,)), board=bench.registry, heal=Healing())
        with pytest.raises(GraphInvalid):
            await bench.runner.start(Graph(nodes=(node,)))
        result = await healed(bench, Healing()).run(Graph(nodes=(node,)), {})
        return [(fault.message, fault.is_note) for fault in found], result

    found, result = at_the_bench(work, why_missing=lambda _: DOWN)

    assert found == [
        (f"'gone' is unavailable: {DOWN}. 'find' stands in for 'gone' while it is away.", True)
    ]
    assert result.nodes[0].tool == "find"
