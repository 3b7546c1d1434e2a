"""A tour of a record shop's board: its functions, its database and other systems of the team.

At the end a plan over them survives a killed process, and a person asks an agent. It runs offline,
in half a minute.

Run it with `make demo`, or with `python examples/shop/demo.py`. `make demo SERVE=1` opens the shop
in the console instead (`serve.py`).
"""

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ask import ask_the_shop
from handbook_answers import ask_the_handbook
from output import cut, headline, say
from plan import take_a_record_back
from systems import running
from two_organisations import ask_as_two

from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.result import ToolResult
from pegboard.runtime import Pegboard, Settings

HERE = Path(__file__).parent
BERLIN = {"street": "Torstr. 1", "city": "Berlin", "country": "DE"}
EXPECTED = {
    "an unknown argument": "arguments_invalid",
    "a write the policy denies": "access_denied",
    "a write that needs approval": "approval_required",
    "SQL that would write": "request_invalid",
    "a hidden table": "request_invalid",
    "in parallel: article -1": "tool_failed",
    "an invalid body is not sent": "arguments_invalid",
    "a request the API refuses": "request_invalid",
    "an operation needing approval": "approval_required",
    "a script that fails": "request_invalid",
    "a system that is down": "source_unavailable",
    "a system that does not answer": "source_unavailable",
}
"""The error code of each call that must not succeed; all others must."""
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

    @property
    def outcome(self) -> str:
        """The error code, or `completed`."""
        return "completed" if self.result.error is None else self.result.error.code

    @property
    def is_expected(self) -> bool:
        """Whether the call ended as the demo says."""
        return self.outcome == EXPECTED.get(self.what, "completed")


async def demo() -> bool:
    """Open the board, show it, use it, and print what happened.

    Returns:
        Whether every call ended as expected.
    """
    began = time.monotonic()
    say("Part 1 of 6: a board with Python functions, a database and built-in tools.")
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
    say("Part 2 of 6: other systems of the team. One never answers, and is given up after 5 s.")
    rows += await connect_systems()
    say("Part 3 of 6: a plan that waits for a person, and whose process is killed.")
    done = await take_a_record_back()
    say("Part 4 of 6: a chat that uses the shop's tools.")
    is_answered = await ask_the_shop()
    say("Part 5 of 6: two people of two organisations ask the same question.")
    headline("Who sees what")
    await ask_as_two()
    say("Part 6 of 6: the shop's handbook answers, and names its documents.")
    is_cited = await ask_the_handbook()
    show_summary(
        rows,
        done,
        is_answered=is_answered,
        is_cited=is_cited,
        seconds=time.monotonic() - began,
    )
    show_next_steps()
    is_good = all(row.is_expected for row in rows) and max(done.values()) == 1
    return is_good and is_answered and is_cited


async def connect_systems() -> list[Row]:
    """The other systems of the shop's team on a board: two of them do not answer."""
    async with running():
        settings = Settings(board=HERE / "systems.yaml", list_timeout=60)
        async with Pegboard(settings=settings) as board:
            await board.wait_for_sources()
            show_sources(board)
            rows = await call_systems(board)
            show_table(rows, "Results of the systems")
            return rows


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
    note = ""
    if not row.is_expected:
        note = f" (NOT EXPECTED: {row.outcome})"
    elif row.result.is_error:
        note = (
            " (refused, as expected)" if row.result.meta.attempts == 0 else " (fails, as expected)"
        )
    print(f"  - {row.what}: {row.tool}{note}")
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
        meta = row.result.meta
        print(
            f"  {row.what:<32} {row.tool:<22} {row.outcome:<20} {meta.attempts:>5}"
            f" {meta.duration_ms:>8.2f}"
        )


async def show_history(board: Pegboard) -> None:
    """Count the calls in the data directory."""
    await board.flush()
    page = await board.history.calls(HistoryQuery(limit=100))
    print(f"\n  {len(page.calls)} calls are in the history, including refused calls.")


def show_summary(
    rows: Sequence[Row], done: Counter[str], *, is_answered: bool, is_cited: bool, seconds: float
) -> None:
    """Say how many calls ended as they should."""
    headline("Summary")
    good = sum(row.outcome == "completed" for row in rows)
    odd = [row.what for row in rows if not row.is_expected]
    print(
        f"  {len(rows)} calls: {good} completed, {len(rows) - good} refused or failed on purpose."
    )
    twice = sum(times > 1 for times in done.values())
    print(
        f"  1 plan of {len(done)} steps, killed and resumed: {twice or 'none'} of them ran twice."
    )
    print(f"  1 chat of 3 questions: {'all answered' if is_answered else 'NOT answered'}.")
    told = "cited, and one conflict was found" if is_cited else "NOT as it should be"
    print(f"  1 handbook of 2 questions: {told}.")
    odd += [] if is_answered else ["the chat"]
    odd += [] if is_cited else ["the handbook"]
    print(f"  Not as expected: {', '.join(odd) or 'nothing'}. It took {seconds:.0f} s.")


def show_next_steps() -> None:
    """Suggest what to try and to read next."""
    headline("Next steps")
    print("  .venv/bin/pegboard tools --board examples/shop/board.yaml")
    print('  .venv/bin/pegboard chat --board examples/shop/board.yaml "Who sells best?"')
    print("                                            with a model: set PEGBOARD_MODEL first")
    print("  .venv/bin/pegboard serve --board examples/shop/board.yaml --data data")
    print("  make demo SERVE=1                         the console in a browser, with a chat in it")
    print("  mkdir my-board && cd my-board && ../.venv/bin/pegboard init")
    print()
    print("  docs/tutorial/first-tools.md              the library, step by step")
    print("  docs/tutorial/first-board.md              the server and the command line")
    print("  docs/explanation/which-kind-of-tool.md    what to put on a board, and how")


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # progress through a pipe too
    sys.exit(0 if asyncio.run(demo()) else 1)
