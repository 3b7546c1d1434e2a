import asyncio
from typing import Any

import pytest
from tests.execution.made import a_kit

from pegboard import ToolRegistry, tool
from pegboard.core.graph import Fallback, Graph, Node
from pegboard.durability.memory.durability import MemoryDurability
from pegboard.execution import CallEnvironment
from pegboard.execution.wait_for_source import wait_for_graph_sources, wait_for_source
from pegboard.graphs import GraphRunner


async def test_who_is_there_is_not_waited_for() -> None:
    await wait_for_source(a_kit(pending_source=lambda _: None), "shop__find")


async def test_it_is_waited_until_somebody_knows() -> None:
    answered = asyncio.Event()
    waiting = asyncio.create_task(
        wait_for_source(a_kit(pending_source=lambda _: answered), "shop__find")
    )
    await asyncio.sleep(0.01)
    assert not waiting.done()

    answered.set()

    await waiting


@pytest.mark.parametrize("left", [0.02, -1.0], ids=["soon", "long ago"])
async def test_nobody_waits_beyond_the_deadline(left: float) -> None:
    never = asyncio.Event()
    kit = a_kit(pending_source=lambda _: never, monotonic=lambda: 100.0)

    await wait_for_source(kit, "shop__find", deadline=100.0 + left)

    assert not never.is_set()


@tool(effect="read")
def here() -> int:
    """Be there from the beginning."""
    return 1


@tool(effect="read")
def late() -> int:
    """Come later."""
    return 2


class Coming:
    """Says which names are still to come."""

    def __init__(self, *names: str) -> None:
        self.asked: list[str] = []
        self.events = {name: asyncio.Event() for name in names}

    def __call__(self, name: str) -> asyncio.Event | None:
        self.asked.append(name)
        event = self.events.get(name)
        return event if event is not None and not event.is_set() else None


async def test_only_tools_that_are_not_there_are_waited_for_wherever_they_are_named() -> None:
    coming = Coming()
    registry = ToolRegistry([here], environment=CallEnvironment(pending_source=coming))
    inner = Graph(nodes=(Node(id="a", tool="deep__tool"),))
    graph = Graph(
        nodes=(
            Node(id="one", tool="here", fallbacks=(Fallback(tool="other__tool"),)),
            Node(id="two", kind="graph", graph=inner),
            Node(id="three", tool="other__tool"),
        )
    )

    await wait_for_graph_sources(registry.environment, graph, find=registry.find)

    assert sorted(coming.asked) == ["deep__tool", "other__tool"]


async def test_a_run_that_is_started_too_early_begins_when_its_tool_has_come() -> None:
    coming = Coming("late")
    registry = ToolRegistry([here], environment=CallEnvironment(pending_source=coming))
    graph = Graph(nodes=(Node(id="a", tool="late"),), output="$.steps.a.output")
    runner = GraphRunner(registry, durability=MemoryDurability())
    running: asyncio.Task[Any] = asyncio.create_task(runner.run(graph))
    await asyncio.sleep(0.02)
    assert not running.done()

    registry.add(late)
    coming.events["late"].set()

    assert (await running).output == 2
