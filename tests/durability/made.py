"""Boards of tools that tell what they did, and processes that play runs on one store."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Any

from pegboard import SchemaTool, ToolContext, ToolRegistry, ToolSpec
from pegboard.core.graph import Edge, Graph, Node, Wait
from pegboard.core.ports.run_store import RunStore
from pegboard.core.tool import Effect
from pegboard.durability import StoredDurability
from pegboard.execution import CallEnvironment
from pegboard.graphs import GraphRunner

OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}


def node(id: str, tool: str = "read", *after: str, **changes: Any) -> Node:
    return Node(id=id, tool=tool, edges=tuple(Edge(node=name) for name in after), **changes)


def waiting(id: str, *after: str, **wait: Any) -> Node:
    edges = tuple(Edge(node=name) for name in after)
    return Node(id=id, kind="wait", wait=Wait(**wait), edges=edges)


def graph(*nodes: Node, **more: Any) -> Graph:
    return Graph(nodes=nodes, **more)


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - it looks at what no event tells of
        await asyncio.sleep(0.01)


class Process:
    """One process that plays runs; `did` outlives it when it is handed on.

    Attributes:
        did: The steps that were done, by the `step` that they were given.
        gate: Tools wait for it when their arguments say `held`.
        held: Set once one of them does.
    """

    def __init__(self, store: RunStore, *, did: list[str] | None = None, **options: Any) -> None:
        self.did: list[str] = [] if did is None else did
        self.gate = asyncio.Event()
        self.began = asyncio.Event()
        self.held = asyncio.Event()
        options.setdefault("every", 0.02)
        self.durability = StoredDurability(store, **options)
        self.registry = ToolRegistry(environment=CallEnvironment(now=options.get("now", time.time)))
        for name, effect in (("read", Effect.READ), ("write", Effect.WRITE)):
            spec = ToolSpec(name=name, description=name, effect=effect, input_schema=OBJECT)
            self.registry.add(SchemaTool(spec=spec, run=self._run))
        self.runner = GraphRunner(self.registry, durability=self.durability)

    async def _run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        self.began.set()
        if "held" in arguments:
            self.held.set()
            await self.gate.wait()
        self.did.append(str(arguments.get("step", "")))
        return dict(arguments)

    async def crash(self) -> None:
        """Stop as a killed process does: nothing more is written, and no lease is given back."""
        durability = self.durability
        for worker in list(durability._workers.values()):
            worker._is_lost = True
            worker._task.cancel()
        durability._workers.clear()
        if durability._polling is not None:
            durability._polling.cancel()
        await asyncio.sleep(0)
