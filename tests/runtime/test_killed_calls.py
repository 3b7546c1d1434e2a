"""A call whose process is killed leaves its idempotency key with an unknown outcome."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pegboard import Pegboard, ToolContext, ToolResult, tool
from pegboard.errors import IdempotencyConflict

PAY = """
import asyncio, os, pathlib, signal, sys
from tests.runtime.test_killed_calls import make_board, pay_with_key

def die():
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    async with make_board(pathlib.Path(sys.argv[1]), die) as board:
        await pay_with_key(board)

asyncio.run(main())
"""
ROOT = Path(__file__).parents[2]


def make_board(folder: Path, pay: Callable[[], None]) -> Pegboard:
    """A board with the tool `pay`, which writes, and data on SQLite."""
    return Pegboard(data=folder, tools=[tool(name="pay", effect="write")(pay)])


async def pay_with_key(board: Pegboard) -> ToolResult:
    """One call, always with the same key."""
    return await board.call("pay", {}, ToolContext(idempotency_key="invoice-98"))


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_the_key_of_a_killed_call_is_a_conflict_and_does_nothing(tmp_path: Path) -> None:
    killed = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", PAY, str(tmp_path)], cwd=ROOT, check=False
    )
    paid: list[str] = []
    async with make_board(tmp_path, lambda: paid.append("again")) as board:
        answers = [await pay_with_key(board) for _ in range(2)]

    assert killed.returncode == -signal.SIGKILL
    assert [type(answer.error) for answer in answers] == [IdempotencyConflict] * 2
    assert "whether it took effect is unknown" in answers[0].text
    assert all(answer.meta.replayed for answer in answers)
    assert paid == []
