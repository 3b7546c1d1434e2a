"""What a durable step of a run costs, beside LangGraph's checkpointer and DBOS by itself."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypedDict

from databases import postgres
from graphs import CHAIN, chain_graph, check, registry
from measure import Case, cpu_and_wall_us
from table import number, section, table

_HOW = {"rounds": 4, "runs": 3, "parts": CHAIN}
Figures = dict[str, tuple[float, float]]


def cost_of_durability() -> str:
    """A step of a chain that is stored before the next begins, on SQLite and on PostgreSQL."""
    with tempfile.TemporaryDirectory() as name, postgres() as address:
        folder = Path(name)
        figures = asyncio.run(_beside(folder, address))
        # There is one DBOS in a process, and its end takes the event loop's threads with it.
        figures |= asyncio.run(_alone(f"sqlite:///{folder / 'dbos.db'}", "DBOS alone, SQLite"))
        figures |= asyncio.run(_alone(address, "DBOS alone, PostgreSQL"))
    least = figures["Pegboard, in memory"][0]
    rows = [
        [name, number(cpu), number(wall), number(cpu / least)]
        for name, (cpu, wall) in figures.items()
    ]
    head = [f"A chain of {CHAIN} steps", "CPU per step, us", "on the clock, us", "times in memory"]
    return section(
        "Durable runs",
        table(head, rows),
        "Pegboard's steps are whole calls: validated, judged, recorded. Those of the others are a "
        "function that adds one. The CPU of the PostgreSQL server is not in these figures.",
    )


async def _beside(folder: Path, address: str) -> Figures:
    async with AsyncExitStack() as stack:
        opened = stack.enter_async_context
        return await cpu_and_wall_us(
            {
                "Pegboard, in memory": await opened(ours(None)),
                "Pegboard, SQLite": await opened(ours(folder / "ours")),
                "Pegboard, PostgreSQL": await opened(ours(address)),
                "LangGraph, `AsyncSqliteSaver`": await opened(langgraph(folder / "langgraph.db")),
            },
            **_HOW,
        )


async def _alone(address: str, name: str) -> Figures:
    async with dbos(address) as run:
        return await cpu_and_wall_us({name: run}, **_HOW)


@asynccontextmanager
async def ours(place: Path | str | None) -> AsyncIterator[Case]:
    from pegboard.durability import MemoryDurability, StoredDurability
    from pegboard.graphs import GraphRunner
    from pegboard.storage import open_storage

    graph = chain_graph()
    async with AsyncExitStack() as stack:
        if place is None:
            durability: Any = await stack.enter_async_context(MemoryDurability())
        else:
            storage = await stack.enter_async_context(open_storage(place))
            owner = "us" if isinstance(place, Path) else ""
            durability = await stack.enter_async_context(
                StoredDurability(storage.runs, owner=owner)
            )
        runner = GraphRunner(registry(), durability=durability)

        async def run() -> None:
            result = await runner.run(graph, {"n": 0})
            check(result.output[f"n{CHAIN - 1}_0"]["n"])

        yield run


@asynccontextmanager
async def langgraph(file: Path) -> AsyncIterator[Case]:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
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
    threads = count()
    async with AsyncSqliteSaver.from_conn_string(str(file)) as saver:
        app = built.compile(checkpointer=saver)

        async def run() -> None:
            known = {"thread_id": str(next(threads))}
            config: Any = {"recursion_limit": 1_000, "configurable": known}
            check((await app.ainvoke({"n": 0}, config, durability="sync"))["n"])

        yield run


@asynccontextmanager
async def dbos(address: str) -> AsyncIterator[Case]:
    import sqlalchemy
    from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer

    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": address,
        "application_version": "1",
        "serializer": DBOSPortableJSONSerializer(),
        "log_level": "CRITICAL",
    }
    if address.startswith("sqlite"):  # as DBOS opens it itself, a step takes several times longer
        engine = sqlalchemy.create_engine(address, connect_args={"timeout": 30})
        sqlalchemy.event.listen(engine, "connect", _relaxed)
        config["system_database_engine"] = engine
    DBOS(config=config)
    workflow = _workflow(DBOS)
    DBOS.launch()
    try:

        async def run() -> None:
            check(await workflow())

        yield run
    finally:
        await asyncio.to_thread(DBOS.destroy, destroy_registry=True)


def _workflow(engine: Any) -> Case:
    @engine.step()
    async def step(n: int) -> int:
        return n + 1

    @engine.workflow()
    async def chain() -> int:
        n = 0
        for _ in range(CHAIN):
            n = await step(n)
        return n

    return chain


def _relaxed(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
