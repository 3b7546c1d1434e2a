"""A chain of tools whose first ones are not there, or cannot be called: the next is asked."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from tests.graphs.made import Bench, at_the_bench, call, states

from pegboard import tool
from pegboard.access import Policy
from pegboard.core.event import CallRecord, NodeChanged
from pegboard.core.graph import Fallback, ForEach, Graph, Node, NodeState
from pegboard.core.run import RunResult
from pegboard.core.tool import Status
from pegboard.errors import BreakerOpen, ToolFailed, ToolTimeout, Unavailable

LOOK = (Fallback(tool="look"),)
DOWN = "its source 'courier' failed: no answer"


def parts(result: RunResult, node: int = 0) -> list[tuple[str, str, str, str]]:
    return [
        (part.id, part.tool, part.state.value, (part.error or {}).get("code", ""))
        for part in result.nodes[node].parts
    ]


async def without(bench: Bench, *names: str, node: Node) -> RunResult:
    """Start a run, and take tools off before the node's turn has come."""
    graph = Graph(nodes=(call("first", "find"), node))
    run_id = await bench.runner.start(graph)
    for name in names:
        bench.registry.remove(name)
    return await bench.runner.result(run_id)


@pytest.mark.parametrize(("reason", "code"), [(DOWN, "source_unavailable"), ("", "tool_not_found")])
def test_a_tool_that_is_not_there_is_followed_by_the_next_of_its_chain(
    reason: str, code: str
) -> None:
    async def work(bench: Bench) -> RunResult:
        return await without(bench, "read", node=call("a", "read", "first", fallbacks=LOOK))

    result = at_the_bench(work, why_missing=lambda _: reason)

    assert (result.state, result.nodes[1].tool) == (NodeState.COMPLETED, "look")
    assert parts(result, 1) == [
        ("a~1", "read", "failed", code),
        ("a~2", "look", "completed", ""),
    ]


def test_what_was_tried_and_why_it_was_left_is_told() -> None:
    async def work(bench: Bench) -> list[tuple[str, str, str, str]]:
        await without(bench, "read", node=call("a", "read", "first", fallbacks=LOOK))
        told = [e for e in bench.heard.events if isinstance(e, NodeChanged)]
        return [(e.node, e.tool, e.error_code, e.reason) for e in told if e.node.startswith("a~")]

    assert at_the_bench(work, why_missing=lambda _: DOWN) == [
        ("a~1", "read", "source_unavailable", f"'read' is unavailable: {DOWN}"),
        ("a~2", "look", "", ""),
    ]


def test_a_step_without_another_tool_says_which_one_was_not_there() -> None:
    async def work(bench: Bench) -> RunResult:
        return await without(bench, "read", node=call("a", "read", "first"))

    node = at_the_bench(work, why_missing=lambda _: DOWN).nodes[1]

    assert (node.state, node.tool, node.parts) == ("failed", "read", ())
    assert node.error is not None
    assert node.error["code"] == "source_unavailable"


def test_when_all_of_a_chain_is_gone_the_last_error_ends_the_step() -> None:
    async def work(bench: Bench) -> RunResult:
        return await without(bench, "read", "look", node=call("a", "read", "first", fallbacks=LOOK))

    result = at_the_bench(work)

    assert states(result) == {"first": "completed", "a": "failed"}
    assert [part[1] for part in parts(result, 1)] == ["read", "look"]


@pytest.mark.parametrize(
    "broken",
    [
        {"status": Status.DISABLED},
        {"status": Status.FAILED},
        {"unavailable": "the server is down"},
    ],
    ids=["disabled", "failed", "unavailable"],
)
def test_a_tool_that_cannot_be_called_is_followed_by_the_next(broken: dict[str, Any]) -> None:
    async def work(bench: Bench) -> RunResult:
        bench.add("read", **broken)
        return await bench.run(call("a", "read", fallbacks=LOOK))

    result = at_the_bench(work)

    assert (result.nodes[0].tool, result.nodes[0].attempts) == ("look", 1)


def test_a_tool_that_was_switched_off_in_mid_run_is_followed_by_the_next() -> None:
    async def work(bench: Bench) -> RunResult:
        graph = Graph(nodes=(call("first", "find"), call("a", "read", "first", fallbacks=LOOK)))
        run_id = await bench.runner.start(graph)
        bench.registry.apply(replace(bench.registry.environment, policy=Policy(deny=("read",))))
        return await bench.runner.result(run_id)

    assert [part[3] for part in parts(at_the_bench(work), 1)] == ["access_denied", ""]


def test_a_tool_that_is_left_alone_for_a_while_is_followed_by_the_next() -> None:
    async def work(bench: Bench) -> RunResult:
        bench.world.failing["pay"] = [BreakerOpen("left alone", nothing_done=True)]
        return await bench.run(call("a", "pay", fallbacks=(Fallback(tool="write"),)))

    assert at_the_bench(work).nodes[0].tool == "write"


def test_arguments_that_lead_nowhere_leave_a_tool_with_a_mapping_of_its_own() -> None:
    async def work(bench: Bench) -> RunResult:
        fallbacks = (Fallback(tool="look"), Fallback(tool="find", input={"x": 1}))
        given = {"x": {"y": "$.steps.first.output.x.y"}}
        node = call("a", "read", "first", input=given, fallbacks=fallbacks)
        return await bench.run(call("first", "find", input={"x": []}), node)

    result = at_the_bench(work)

    assert result.nodes[1].tool == "find"


def test_items_and_inner_graphs_go_on_to_the_next_tool_too() -> None:
    async def work(bench: Bench) -> RunResult:
        each = call("each", "read", "first", fallbacks=LOOK, for_each=ForEach(items=[1, 2]))
        inner = Graph(nodes=(call("in", "read", fallbacks=LOOK),))
        sub = Node(id="sub", kind="graph", graph=inner, edges=each.edges)
        run_id = await bench.runner.start(Graph(nodes=(call("first", "find"), each, sub)))
        bench.registry.remove("read")
        return await bench.runner.result(run_id)

    result = at_the_bench(work)

    assert states(result) == {"first": "completed", "each": "completed", "sub": "completed"}
    tried = {part.id: part.tool for node in result.nodes for part in node if "~" in part.id}
    assert tried == {
        "each[0]~1": "read",
        "each[0]~2": "look",
        "each[1]~1": "read",
        "each[1]~2": "look",
        "sub/in~1": "read",
        "sub/in~2": "look",
    }


@pytest.mark.parametrize(
    ("error", "goes_on"),
    [
        (Unavailable("the connection broke"), False),
        (ToolTimeout("late"), False),
        (Unavailable("busy", nothing_done=True), True),
    ],
    ids=["cut", "late", "nothing done"],
)
def test_a_write_of_which_nobody_knows_is_done_by_no_other_tool(
    error: Exception, goes_on: bool
) -> None:
    async def work(bench: Bench) -> tuple[RunResult, int]:
        bench.world.failing["pay"] = [error]
        result = await bench.run(call("a", "pay", fallbacks=(Fallback(tool="write"),)))
        return result, bench.world.starts_of("write")

    result, written = at_the_bench(work)

    assert written == goes_on
    assert (result.nodes[0].error or {}).get("outcome", "") == ("" if goes_on else "unknown")


def test_a_write_that_was_done_with_a_wrong_output_is_done_by_no_other_tool() -> None:
    @tool(effect="write")
    async def book() -> int:
        """Book, and say something that is no number."""
        return "booked"  # type: ignore[return-value]  # a broken tool

    async def work(bench: Bench) -> tuple[RunResult, int]:
        bench.registry.add(book)
        result = await bench.run(call("a", "book", fallbacks=(Fallback(tool="write"),)))
        return result, bench.world.starts_of("write")

    result, written = at_the_bench(work)

    assert (written, (result.nodes[0].error or {}).get("outcome")) == (0, "done")


def test_a_tool_that_is_awaited_is_awaited_no_longer_than_its_step_may_take() -> None:
    never = asyncio.Event()

    async def work(bench: Bench) -> RunResult:
        return await bench.run(
            call("a", "late", fallbacks=LOOK, timeout=3), call("b", "read", on_failure="skip")
        )

    kit = {
        "pending_source": lambda name: never if name == "late" else None,
        "why_missing": lambda _: DOWN,
    }
    result = at_the_bench(work, **kit)

    assert states(result) == {"a": "failed", "b": "completed"}
    assert result.duration_ms == pytest.approx(3_000, abs=100)


def test_the_record_of_a_fallback_says_in_whose_place_it_was_called() -> None:
    async def work(bench: Bench) -> list[tuple[str, str]]:
        bench.world.failing["read"] = [ToolFailed("no")]
        await bench.run(call("a", "read", fallbacks=LOOK))
        records = [event for event in bench.heard.events if isinstance(event, CallRecord)]
        return [(record.tool, record.instead_of) for record in records]

    assert at_the_bench(work) == [("read", ""), ("look", "read")]
