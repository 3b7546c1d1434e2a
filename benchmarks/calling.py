"""What one call costs: ours beside the floor and the peers, and at 10 and 10,000 tools."""

from contextlib import AsyncExitStack
from typing import Any

from functions import EXPECTED
from measure import cpu_us
from ours import Calls, durable, floor, governed
from peers import PEERS
from table import goal, number, section, table

FLOOR = "floor: pydantic `validate_json` and the call"
OURS = "Pegboard"
THREADED = "Pegboard, sync function in a thread"
STARTED = "Pegboard, write with a durable start row"
TOGETHER = "Pegboard, the same, 16 at once"
HISTORY = "Pegboard, one at a time, and persistent history"
AT_ONCE = 16
KINDS = {
    "count_letter": "sync function, scalars",
    "find_letter": "async function, scalars",
    "add_up": "async function, nested model",
}


async def cost_of_a_call() -> str:
    """The table of costs with its goals."""
    async with AsyncExitStack() as stack:
        rows: dict[str, Calls] = {
            FLOOR: floor(),
            OURS: governed(inline=True),
            THREADED: _only(governed(inline=False), "count_letter"),
            STARTED: await stack.enter_async_context(durable()),
            TOGETHER: await stack.enter_async_context(durable(at_once=AT_ONCE)),
            HISTORY: await stack.enter_async_context(durable(history=True)),
            **{name: await peer() for name, peer in PEERS.items()},
        }
        for calls in rows.values():
            await _check(calls)
        costs = {kind: await _costs(rows, kind) for kind in KINDS}
    head = ["CPU per call, us (multiple of the floor)", *KINDS.values()]
    return section(
        "One call",
        table(head, [[name, *[_cell(costs[kind], name) for kind in KINDS]] for name in rows]),
        "\n".join(_goals(costs)),
    )


async def cost_by_size() -> str:
    """The same call with 10 and with 10,000 tools registered."""
    sizes = {"10 tools": governed(inline=True, beside=7)}
    sizes["10,000 tools"] = governed(inline=True, beside=9_997)
    costs = {kind: await _costs(sizes, kind) for kind in KINDS}
    rows = [[name, *[number(costs[kind][name]) for kind in KINDS]] for name in sizes]
    worst = max(costs[kind]["10,000 tools"] / costs[kind]["10 tools"] for kind in KINDS)
    return section(
        "One call by the number of registered tools",
        table(["CPU per call, us", *KINDS.values()], rows),
        goal("10,000 tools against 10", worst, 1.1, unit="x"),
    )


async def _costs(rows: dict[str, Calls], kind: str) -> dict[str, float]:
    costs = await cpu_us({name: calls[kind] for name, calls in rows.items() if kind in calls})
    return {name: cost / (AT_ONCE if name == TOGETHER else 1) for name, cost in costs.items()}


async def _check(calls: Calls) -> None:
    """A benchmark of something that fails is fast and worthless."""
    for kind, call in calls.items():
        if str(EXPECTED[kind]) not in str(await call()):
            raise AssertionError(f"{kind} did not give {EXPECTED[kind]}")


def _only(calls: Calls, kind: str) -> Calls:
    return {kind: calls[kind]}


def _cell(costs: dict[str, float], name: str) -> str:
    if name not in costs:
        return ""
    return f"{number(costs[name])} ({number(costs[name] / costs[FLOOR])}x)"


def _goals(costs: dict[str, Any]) -> list[str]:
    scalars, nested = costs["find_letter"], costs["add_up"]
    lines = [
        goal("scalars against the floor", scalars[OURS] / scalars[FLOOR], 8, unit="x"),
        goal("nested model against the floor", nested[OURS] / nested[FLOOR], 6, unit="x"),
    ]
    for what, cost in (("scalars", scalars), ("nested model", nested)):
        manager, server = (
            cost["Pydantic AI `ToolManager.handle_call`"],
            cost["FastMCP `call_tool`"],
        )
        lines.append(goal(f"{what} against Pydantic AI", cost[OURS] / manager, 0.5, unit="x"))
        lines.append(goal(f"{what} against FastMCP", cost[OURS] / server, 0.1, unit="x"))
    return lines
