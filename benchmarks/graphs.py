"""What running a graph costs, and how near its concurrency comes to the ideal."""

import asyncio
import time
from typing import Any, TypedDict

from measure import cpu_us
from table import goal, number, section, table

LAYERS, WIDTH, SECONDS = 5, 10, 0.1
CHAIN = 50


async def cost_of_graphs() -> str:
    """A step of a chain beside LangGraph, and 50 steps of 100 ms in layers beside the ideal."""
    chains = {
        "Pegboard `run_graph`": _ours(),
        "Pegboard `GraphRunner`, in memory": _kept(),
        "LangGraph": _langgraph(),
        "LangGraph, `InMemorySaver`": _langgraph(kept=True),
    }
    costs = await cpu_us(chains, rounds=5, batch=0.1)
    rows = [[name, number(cost / CHAIN)] for name, cost in costs.items()]
    took = await _layers()
    ideal = LAYERS * SECONDS
    return section(
        "Running graphs",
        table([f"A chain of {CHAIN} steps", "CPU per step, us"], rows),
        f"{LAYERS} layers of {WIDTH} steps of {SECONDS * 1000:.0f} ms took {took * 1000:.0f} ms.",
        goal("of the ideal time", took / ideal, 1.1),
    )


def _graph(*, layers: int, width: int, tool: str) -> Any:
    from pegboard.core.graph import Edge, Graph, Node

    nodes = tuple(
        Node(
            id=f"n{layer}_{place}",
            tool=tool,
            input={"n": f"$.steps.n{layer - 1}_{place}.output.n" if layer else "$.params.n"},
            edges=tuple(Edge(node=f"n{layer - 1}_{other}") for other in range(width))
            if layer
            else (),
        )
        for layer in range(layers)
        for place in range(width)
    )
    return Graph(nodes=nodes)


def chain_graph() -> Any:
    """Steps that each add one to what the one before has given."""
    return _graph(layers=CHAIN, width=1, tool="step")


def registry() -> Any:
    """The tools of these graphs."""
    from pegboard import ToolRegistry, tool

    @tool(effect="read")
    async def step(n: int) -> dict[str, int]:
        """Add one."""
        return {"n": n + 1}

    @tool(effect="read")
    async def wait(n: int) -> dict[str, int]:
        """Take a tenth of a second."""
        await asyncio.sleep(SECONDS)
        return {"n": n}

    return ToolRegistry([step, wait])


def _ours() -> Any:
    from pegboard.graphs import run_graph

    board, graph = registry(), chain_graph()

    async def run() -> None:
        result = await run_graph(graph, {"n": 0}, board=board)
        check(result.output[f"n{CHAIN - 1}_0"]["n"])

    return run


def _kept() -> Any:
    from pegboard.durability import MemoryDurability
    from pegboard.graphs import GraphRunner

    board, graph = registry(), chain_graph()
    runner = GraphRunner(board, durability=MemoryDurability())

    async def run() -> None:
        result = await runner.run(graph, {"n": 0})
        check(result.output[f"n{CHAIN - 1}_0"]["n"])

    return run


def _langgraph(*, kept: bool = False) -> Any:
    from itertools import count

    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, StateGraph

    class State(TypedDict):
        n: int

    async def step(state: State) -> State:
        return {"n": state["n"] + 1}

    built = StateGraph(State)
    for place in range(CHAIN):
        built.add_node(f"n{place}", step)
        built.add_edge(f"n{place - 1}" if place else START, f"n{place}")
    built.add_edge(f"n{CHAIN - 1}", END)
    app = built.compile(checkpointer=InMemorySaver() if kept else None)
    threads = count()

    async def run() -> None:
        config = {"recursion_limit": 1_000, "configurable": {"thread_id": str(next(threads))}}
        check((await app.ainvoke({"n": 0}, config))["n"])

    return run


async def _layers() -> float:
    """Seconds on the clock that the layers take; the least of three."""
    from pegboard.graphs import run_graph

    board, graph = registry(), _graph(layers=LAYERS, width=WIDTH, tool="wait")
    took: list[float] = []
    for _ in range(3):
        began = time.monotonic()
        await run_graph(graph, {"n": 0}, board=board)
        took.append(time.monotonic() - began)
    return min(took)


def check(n: int) -> None:
    """Refuse to time what did not give the right answer."""
    if n != CHAIN:
        raise AssertionError(f"{n} steps were run")
