"""A result of 300 kB: how long it holds the event loop, and what the whole call takes."""

import time
from collections.abc import Callable
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json

from measure import Case, cpu_us
from pegboard import ToolRegistry, tool
from table import number, section, table

ROWS = [
    {"id": n, "name": f"customer {n}", "mail": f"c{n}@example.com", "note": "x" * 40}
    for n in range(2_800)
]
ROUNDS = 25


@tool(effect="read")
async def rows() -> list[dict[str, Any]]:
    """List customers."""
    return [dict(row) for row in ROWS]


async def cost_of_a_large_result() -> str:
    """CPU of the loop's thread, and of all threads, for one call."""
    registry = ToolRegistry([rows])
    result = await registry.call("rows", {})
    if not result.meta.truncated or result.meta.total_bytes < 300_000:
        raise RuntimeError("the result is not large")
    adapter = TypeAdapter(list[dict[str, Any]])

    async def floor() -> bytes:
        value = adapter.validate_python([dict(row) for row in ROWS], strict=True)
        return to_json(adapter.dump_python(value, mode="json"))

    cases: dict[str, Case] = {
        "floor: the function, validated, dumped and encoded with pydantic": floor,
        "Pegboard, which also stores it and shows its first page": lambda: registry.call("rows"),
    }
    everything = await cpu_us(cases, rounds=ROUNDS)
    lines = [
        [name, number(await _on_the_loop(case)), number(everything[name] / 1e3)]
        for name, case in cases.items()
    ]
    return section(
        "A result of 300 kB (ms of CPU)",
        table(["", "on the event loop", "all threads"], lines),
    )


async def _on_the_loop(case: Callable[[], Any]) -> float:
    best = float("inf")
    for _ in range(ROUNDS * 2):
        began = time.thread_time()
        await case()
        best = min(best, time.thread_time() - began)
    return best * 1e3
