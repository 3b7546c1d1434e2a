"""What earlier plays have done is told as it was, also where nothing new starts any more."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from pegboard import SchemaTool, ToolContext, ToolRegistry, ToolSpec
from pegboard.core.graph import Edge, ForEach, Graph, Node, NodeState, Wait
from pegboard.core.run import RunResult
from pegboard.core.tool import Effect
from pegboard.durability import MemoryDurability
from pegboard.durability.memory.journal import MemoryJournal
from pegboard.errors import ToolFailed
from pegboard.graphs import GraphRunner

INNER = Graph(
    nodes=(
        Node(id="i", tool="done"),
        Node(id="j", kind="wait", wait=Wait(question="!"), edges=(Edge(node="i"),)),
    )
)
WAITING = Graph(
    nodes=(
        Node(id="first", tool="done"),
        Node(id="given", kind="value", input={"a": 1}),
        Node(id="each", tool="done", for_each=ForEach(items=[1, 2])),
        Node(id="chain", tool="wrong", on_failure="continue"),
        Node(id="skipped", tool="done", when="false"),
        Node(id="inner", kind="graph", graph=INNER),
        Node(id="ask", kind="wait", wait=Wait(question="?"), edges=(Edge(node="first"),)),
        Node(id="after", tool="done", edges=(Edge(node="ask"),)),
        Node(id="unasked", kind="wait", wait=Wait(seconds=1), edges=(Edge(node="ask"),)),
    )
)
FAILING = Graph(
    nodes=(
        Node(id="wrong", tool="wrong"),
        Node(id="early", tool="done"),
        Node(id="value", kind="value", input={"a": 1}, edges=(Edge(node="early"),)),
        Node(id="paid", tool="pay", edges=(Edge(node="value"),)),
        Node(id="new", tool="done", edges=(Edge(node="paid"),)),
    )
)


class Process:
    """A runner on what an earlier one has left; its tools wait for each other as they are told."""

    def __init__(self, journal: MemoryJournal) -> None:
        self.paying, self.go = asyncio.Event(), asyncio.Event()
        self.started: list[str] = []
        registry = ToolRegistry()
        for name, effect in (("done", "read"), ("wrong", "read"), ("pay", "write")):
            spec = ToolSpec(name=name, effect=Effect(effect), input_schema={"type": "object"})
            registry.add(SchemaTool(spec=spec, run=getattr(self, f"_{name}")))
        self.durability = MemoryDurability(journal)
        self.runner = GraphRunner(registry, durability=self.durability)

    async def _done(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        self.started.append("done")
        return {"is": "done"}

    async def _wrong(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        if ":wrong:" in (ctx.idempotency_key or ""):
            await self.paying.wait()  # it fails once the other branch is under way
        raise ToolFailed("no")

    async def _pay(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        self.started.append("pay")
        self.paying.set()
        await self.go.wait()
        return {"is": "paid"}


def states(result: RunResult) -> dict[str, str]:
    return {run.id: run.state.value for node in result.nodes for run in node}


async def test_what_was_done_before_a_wait_stays_done_when_the_run_is_cancelled() -> None:
    process = Process(MemoryJournal())
    run_id = await process.runner.start(WAITING)
    waits = await process.runner.result(run_id)
    await process.runner.cancel(run_id)
    result = await process.runner.result(run_id)
    await process.durability.close()

    assert result.state is NodeState.CANCELLED
    assert states(result) == {
        "first": "completed",
        "given": "completed",
        "each": "completed",
        "each[0]": "completed",
        "each[1]": "completed",
        "chain": "failed",
        "skipped": "cancelled",
        "inner": "cancelled",
        "inner/i": "completed",
        "inner/j": "cancelled",
        "ask": "cancelled",
        "after": "cancelled",
        "unasked": "cancelled",
    }
    assert result.node("first") == waits.node("first")
    assert process.started == ["done"] * 4


@pytest.mark.parametrize(
    ("is_over", "paid"), [(False, "unknown"), (True, "completed")], ids=["cut off", "ended"]
)
async def test_a_write_behind_a_failure_elsewhere_is_no_cancelled_one_after_a_crash(
    is_over: bool, paid: str
) -> None:
    first = Process(MemoryJournal())
    run_id = await first.runner.start(FAILING)
    await first.paying.wait()
    await until(lambda: "wrong" in first.durability.journal.run(run_id).steps)
    kept = first.durability.journal.run(run_id)
    if is_over:
        first.go.set()
        await until(lambda: kept.steps["paid"].value is not None)
    left = first.durability.journal.copy()
    left.run(run_id).last_result, left.run(run_id).has_ended = None, False
    await first.durability.close()
    again = Process(left)
    await again.runner.recover()
    result = await again.runner.result(run_id)
    await again.durability.close()

    found = states(result)
    assert (result.state, found["paid"], found["new"]) == ("failed", paid, "cancelled")
    assert again.started == []


async def test_a_write_that_a_crash_cut_off_is_unknown_though_the_run_is_cancelled() -> None:
    first = Process(MemoryJournal())
    run_id = await first.runner.start(Graph(nodes=(Node(id="paid", tool="pay"),)))
    await first.paying.wait()
    left = first.durability.journal.copy()
    await first.durability.close()
    again = Process(left)
    await again.runner.cancel(run_id)
    result = await again.runner.result(run_id)
    await again.durability.close()

    (paid,) = result.nodes
    assert (result.state, paid.state) == (NodeState.CANCELLED, NodeState.UNKNOWN)
    assert paid.started_at > 0
    assert again.started == []


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(500):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it does not come to that")
