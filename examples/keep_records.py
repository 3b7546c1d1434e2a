"""A board inside a program: dependencies, a payment that happens once, and its history.

Run it with `python examples/keep_records.py`.
"""

import asyncio
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from pegboard import ToolContext, tool
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.runtime import Pegboard


@dataclass
class Bank:
    """What the application hands to its tools."""

    transfers: list[int] = field(default_factory=list[int])


@tool(effect="write")
async def transfer(cents: int, ctx: ToolContext[Bank]) -> int:
    """Send money; gives back how many transfers there were."""
    if cents > 1000:
        raise RuntimeError(f"vault alarm for {cents}")
    ctx.deps.transfers.append(cents)
    return len(ctx.deps.transfers)


async def main(data: Path) -> None:
    """Pay twice with one key, fail once, and read what was recorded."""
    bank = Bank()
    async with Pegboard(data=data, tools=[transfer]) as board:
        ctx = ToolContext(deps=bank, idempotency_key="invoice-98")
        first = await board.call("transfer", {"cents": 398}, ctx)
        again = await board.call("transfer", {"cents": 398}, ctx)
        print(f"asked twice, transferred {len(bank.transfers)} time")
        print(f"first: {first.unwrap()}, again: {again.unwrap()}, replayed: {again.meta.replayed}")

        failed = await board.call("transfer", {"cents": 5000}, ToolContext(deps=bank))
        print(failed.text.partition("(")[0].strip())
        assert failed.error is not None
        assert failed.error.error_id is not None

        await board.flush()
        for call in (await board.history.calls(HistoryQuery(tool="transfer"))).calls:
            print(f"  {call['status']:<10} attempts={call['attempts']} replayed={call['replayed']}")
        detail = await board.history.detail(failed.error.error_id)
        assert detail is not None
        print("the operator reads 'vault alarm':", "vault alarm" in detail["detail"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder) / "data"))
