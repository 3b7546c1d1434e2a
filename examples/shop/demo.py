"""A tour of a record shop's board: its functions, its database and other systems of the team.

At the end a plan over them survives a killed process. It runs offline, in half a minute.

Run it with `make demo`, or with `python examples/shop/demo.py`.
"""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from output import cut, headline
from plan import take_a_record_back
from systems import running

from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.result import ToolResult
from pegboard.runtime import Pegboard, Settings

HERE = Path(__file__).parent
BERLIN = {"street": "Torstr. 1", "city": "Berlin", "country": "DE"}
BEST_SELLERS = """
    SELECT Artist.Name AS artist, ROUND(SUM(il.UnitPrice * il.Quantity), 2) AS revenue
    FROM InvoiceLine il JOIN Track USING (TrackId) JOIN Album USING (AlbumId)
    JOIN Artist USING (ArtistId) GROUP BY artist ORDER BY revenue DESC LIMIT 3
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the closing table."""

    what: str
    tool: str
    result: ToolResult


async def demo() -> None:
    """Open the board, show it, use it, and print what happened."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        settings = Settings(board=HERE / "board.yaml", data=data, list_timeout=60)
        async with Pegboard(settings=settings) as board:
            await board.wait_for_sources()
            show_board(board)
            explain_hidden(board)
            rows = await make_calls(board)
            show_table(rows, "What happened")
            await show_history(board)
    await connect_systems()
    await take_a_record_back()
    show_next_steps()


async def connect_systems() -> None:
    """The other systems of the shop's team on a board: two of them do not answer."""
    async with running():
        settings = Settings(board=HERE / "systems.yaml", list_timeout=60)
        async with Pegboard(settings=settings) as board:
            await board.wait_for_sources()
            show_sources(board)
            show_table(await call_systems(board), "Results of the systems")


def show_board(board: Pegboard) -> None:
    """List the tools of the board, source by source."""
    headline("The board")
    for source in board.sources:
        print(f"  {source.name:<8} {source.title:<18} {source.status:<7} {source.reason}")
        for tool in source.tools:
            if tool in board.registry.visible():
                first = tool.spec.description.partition("\n")[0]
                print(f"    {tool.spec.name:<24} {tool.spec.effect.value:<6} {cut(first, 62)}")


def show_sources(board: Pegboard) -> None:
    """List the sources, with the reason for each that does not answer."""
    headline("The other systems of the team")
    for source in board.sources:
        names = ", ".join(tool.spec.action or tool.spec.name for tool in source.tools)
        print(f"  {source.name:<10} {source.kind:<10} {source.status:<7} {cut(names, 90)}")
        if source.reason:
            print(f"             {cut(source.reason, 120)}")


async def call_systems(board: Pegboard) -> list[Row]:
    """Call a REST API, an MCP server and a script in the same way."""
    headline("Calls to the systems")
    rows: list[Row] = []

    async def call(what: str, tool: str, arguments: dict[str, Any]) -> None:
        report(Row(what=what, tool=tool, result=await board.call(tool, arguments)), rows)

    order = {"customer": 7, "items": [{"article": 23, "quantity": "2"}]}
    await call("a REST API: read", "orders__list_orders", {"status": "paid"})
    await call("a REST API: write", "orders__create_order", order)
    await call("an invalid body is not sent", "orders__create_order", {"customer": 7, "items": []})
    await call("a request the API refuses", "orders__get_order", {"order_id": 9})
    await call("an operation needing approval", "orders__cancel_order", {"order_id": 1003})
    moment = {"source_timezone": "Europe/Berlin", "time": "16:30", "target_timezone": "Asia/Tokyo"}
    await call("an MCP server over stdio", "clock__convert_time", moment)
    label = {"order_id": 1002, "name": "Ada Byron", "city": "Berlin"}
    await call("a script", "desk__parcel_label", label)
    await call("a script that fails", "desk__parcel_label", label | {"city": "B3rlin"})
    await call("a system that is down", "crm__find_customer", {"name": "Ada"})
    await call("a system that does not answer", "warehouse__stock", {"article": 23})
    return rows


def explain_hidden(board: Pegboard) -> None:
    """Explain why a tool is not listed."""
    headline("Why one tool is not listed")
    answer = board.explain("shop__delete_customer")
    print(f"  {answer.tool}: {answer.call.verdict.value}, because {answer.call.reason}")


async def make_calls(board: Pegboard) -> list[Row]:
    """Make about ten calls, one for each feature."""
    headline("Calls")
    rows: list[Row] = []

    async def call(what: str, tool: str, arguments: dict[str, Any]) -> ToolResult:
        result = await board.call(tool, arguments)
        report(Row(what=what, tool=tool, result=result), rows)
        return result

    await call("a number given as text", "shop__price_with_tax", {"net": "9.99"})
    await call("an unknown argument", "shop__price_with_tax", {"nett": 9.99})
    await call("a write the policy denies", "shop__delete_customer", {"customer": 5})
    await call("a write that needs approval", "shop__refund", {"invoice": 98, "amount": 3.98})
    await call(
        "busy twice, then retried", "shop__shipping_quote", {"address": BERLIN, "weight_kg": 0.4}
    )
    await call("a database query", "chinook__query", {"sql": BEST_SELLERS})
    await call("SQL that would write", "chinook__query", {"sql": "DELETE FROM Invoice"})
    await call("a hidden table", "chinook__query", {"sql": "SELECT * FROM Employee"})
    large = await call("a result too large for a model", "shop__full_catalogue", {})
    await call("its second page", "board__read_result", {"handle": large.meta.handle, "page": 2})
    await call(
        "all of it, by handle",
        "std__json_transform",
        {"operation": "query", "document": large.meta.handle, "expression": "length(@)"},
    )
    batch = [("shop__stock_count", {"article": article}) for article in (17, -1, 23)]
    for result, (tool, arguments) in zip(await board.registry.call_many(batch), batch, strict=True):
        what = f"in parallel: article {arguments['article']}"
        report(Row(what=what, tool=tool, result=result), rows)
    return rows


def report(row: Row, rows: list[Row]) -> None:
    """Print the result of a call."""
    rows.append(row)
    mark = "x" if row.result.is_error else "-"
    print(f"  {mark} {row.what}: {row.tool}")
    text = row.result.text
    if row.result.meta.truncated or len(text) > 400:
        text = f"{text[:60]} ... {text[-190:].strip()}"
    for line in text.strip().splitlines():
        print(f"      {cut(line, 150)}")


def show_table(rows: Sequence[Row], title: str) -> None:
    """Print all outcomes in one table."""
    headline(title)
    print(f"  {'what':<32} {'tool':<22} {'outcome':<20} {'tries':>5} {'ms':>8}")
    for row in rows:
        meta, error = row.result.meta, row.result.error
        outcome = error.code if error is not None else "completed"
        print(
            f"  {row.what:<32} {row.tool:<22} {outcome:<20} {meta.attempts:>5}"
            f" {meta.duration_ms:>8.2f}"
        )


async def show_history(board: Pegboard) -> None:
    """Count the calls in the data directory."""
    await board.flush()
    page = await board.history.calls(HistoryQuery(limit=100))
    print(f"\n  {len(page.calls)} calls are in the history, including refused calls.")


def show_next_steps() -> None:
    """Suggest what to try next."""
    headline("Next steps")
    print("  .venv/bin/pegboard tools --board examples/shop/board.yaml")
    print("  .venv/bin/pegboard serve --board examples/shop/board.yaml --data data")
    print("  mkdir my-board && cd my-board && ../.venv/bin/pegboard init")


if __name__ == "__main__":
    asyncio.run(demo())
