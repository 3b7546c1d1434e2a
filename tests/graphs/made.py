"""Tools, boards and graphs for the tests of this room, on time that a test owns."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

from tests.execution.made import Heard, in_virtual_time

from pegboard import SchemaTool, ToolContext, ToolRegistry, ToolSpec
from pegboard.core.graph import Edge, Graph, Node
from pegboard.core.run import RunResult
from pegboard.core.stores.memory_results import MemoryResults
from pegboard.core.tool import Effect
from pegboard.durability import MemoryDurability, MemoryJournal
from pegboard.errors import ToolFailed, Unavailable
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.graphs import GraphRunner, run_graph
from pegboard.testing import FakeClock

T = TypeVar("T")
OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}


class World:
    """What tools do to the world, and when; outlives the boards that call them.

    Attributes:
        began: `(tool, arguments, time)` of each start.
        ended: The same of each end.
        keys: Idempotency keys of the starts.
        most: How many ran at once at most.
    """

    def __init__(self) -> None:
        self.began: list[tuple[str, Mapping[str, Any], float]] = []
        self.ended: list[tuple[str, Mapping[str, Any], float]] = []
        self.keys: list[str] = []
        self.contexts: list[ToolContext[Any]] = []
        self.running = self.most = 0
        self.failing: dict[str, list[Exception]] = {}

    def starts_of(self, name: str) -> int:
        return sum(tool == name for tool, _, _ in self.began)


class Bench:
    """A board of tools in one world; another bench on the same journal is the next process.

    Every tool takes anything, needs `seconds` (0.1 unless it is given), and gives what it got.
    """

    def __init__(
        self,
        clock: FakeClock,
        world: World | None = None,
        *,
        journal: MemoryJournal | None = None,
        **kit: Any,
    ) -> None:
        kit.setdefault("results", MemoryResults(now=clock.time))
        self.clock = clock
        self.world = world or World()
        self.heard = Heard()
        self.registry = ToolRegistry(
            environment=CallEnvironment(
                emitter=Emitter((self.heard,)),
                now=clock.time,
                monotonic=clock.monotonic,
                **kit,
            )
        )
        for name in ("read", "look", "find"):
            self.add(name)
        self.add("write", effect=Effect.WRITE)
        self.add("pay", effect=Effect.WRITE)
        self.add("put", effect=Effect.WRITE, idempotent=True)
        self.add("erase", effect=Effect.ADMIN)
        self.journal = journal or MemoryJournal()
        self.durability = MemoryDurability(self.journal, now=clock.time)
        self.runner = GraphRunner(self.registry, durability=self.durability)

    def add(self, name: str, **changes: Any) -> None:
        fields: dict[str, Any] = {"effect": Effect.READ, "input_schema": OBJECT}

        async def run(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
            return await self._run(name, arguments, ctx)

        spec = ToolSpec(name=name, description=name, **(fields | changes))
        self.registry.add(SchemaTool(spec=spec, run=run), on_conflict="replace")

    async def _run(self, name: str, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        world = self.world
        world.began.append((name, arguments, self.clock.time()))
        world.keys.append(ctx.idempotency_key or "")
        world.contexts.append(ctx)
        world.running += 1
        world.most = max(world.most, world.running)
        try:
            await asyncio.sleep(arguments.get("seconds", 0.1))
            if errors := world.failing.get(name):
                raise errors.pop(0)
            if "fail" in arguments:
                raise ToolFailed(str(arguments["fail"]))
            if "down" in arguments:
                raise Unavailable("down", nothing_done=arguments["down"] == "nothing done")
        finally:
            world.running -= 1
        world.ended.append((name, arguments, self.clock.time()))
        return dict(arguments)

    async def run(self, *nodes: Node, **more: Any) -> RunResult:
        """Run these nodes without keeping anything."""
        params = more.pop("given", None)
        ctx = more.pop("ctx", None)
        graph = Graph(nodes=nodes, **more)
        return await run_graph(graph, params, board=self.registry, ctx=ctx)


def at_the_bench(work: Callable[[Bench], Coroutine[Any, Any, T]], **kit: Any) -> T:
    """Run something on a bench, in time that passes only when everybody waits."""

    async def run(clock: FakeClock) -> T:
        bench = Bench(clock, **kit)
        try:
            return await work(bench)
        finally:
            await bench.durability.close()

    return in_virtual_time(run)


def after(*names: str, **changes: Any) -> tuple[Edge, ...]:
    """Edges from these nodes."""
    return tuple(Edge(node=name, **changes) for name in names)


def call(id: str, tool: str = "read", *names: str, **changes: Any) -> Node:
    """A node that calls a tool after these others."""
    changes.setdefault("edges", after(*names))
    return Node(id=id, tool=tool, **changes)


def states(result: RunResult) -> dict[str, str]:
    """How each node ended."""
    return {node.id: node.state.value for node in result.nodes}
