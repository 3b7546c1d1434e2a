"""A process that is killed in the middle of its writes forgets none that it began."""

import asyncio
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.storage.made import ROOT, an_outcome

from pegboard.core.ports.call_stores import History, HistoryQuery
from pegboard.storage import open_history, open_storage

BUSY = """
import asyncio, sys
from pegboard.core.result import ToolResult
from pegboard.storage import open_storage
from tests.storage.made import a_start, a_written, an_outcome

async def writes(storage, name):
    for number in range(1_000_000):
        call = f"{name}-{number}"
        await storage.outcomes.claim(an_outcome(call))
        await storage.journal.record_start(a_start(call))
        print("started", call, flush=True)
        if number % 2:
            continue
        storage.listener.on_event(a_written(call, attempts=1))
        await storage.outcomes.settle(an_outcome(call), ToolResult(content=call))
        await storage.flush()
        print("finished", call, flush=True)

async def main():
    async with open_storage(sys.argv[1]) as storage:
        async with asyncio.TaskGroup() as group:
            for name in "abcd":
                group.create_task(writes(storage, name))

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("seed", range(3))
async def test_after_kill_9_every_start_is_there_and_every_end_that_was_kept(
    tmp_path: Path, seed: int
) -> None:
    said = await asyncio.to_thread(run_and_kill, tmp_path, 0.2 + random.Random(seed).random() / 2)
    started = {call for word, call in said if word == "started"}
    finished = {call for word, call in said if word == "finished"}

    # The reader is the first to come after the crash.
    async with open_history(tmp_path) as history:
        seen_by_reader = (await history.calls(HistoryQuery(limit=1))).calls
    async with open_storage(tmp_path, outcome_ttl=1e12) as storage:
        status = {row["call_id"]: row["status"] for row in await everything(storage.history)}
        unfinished = [call for call in started if status.get(call) == "unknown"]
        running = await storage.outcomes.claim(an_outcome(unfinished[0]))
        settled = await storage.outcomes.claim(an_outcome(min(finished)))

    assert len(seen_by_reader) == 1
    assert started <= status.keys()
    assert {status[call] for call in finished} == {"completed"}
    # A call may have ended in the moment between its commit and its word; at most one a task.
    assert len({call for call in started - finished if status[call] != "unknown"}) <= 4
    assert running is not None
    assert running.result is None
    assert settled is not None
    assert settled.result is not None
    assert settled.result.content == min(finished)
    assert integrity(tmp_path / "pegboard.db") == [("ok",)]


def run_and_kill(data: Path, after: float) -> list[tuple[str, str]]:
    """What the process said before it was killed, some time after it had finished a call."""
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY, str(data)], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    with process:
        assert process.stdout is not None
        said = [process.stdout.readline()]
        while said[-1] and not said[-1].startswith("finished "):
            said.append(process.stdout.readline())
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        lines = ("".join(said) + process.stdout.read()).split("\n")[:-1]
    assert process.returncode == -signal.SIGKILL
    return [(word, call) for word, _, call in (line.partition(" ") for line in lines)]


async def everything(history: History) -> list[dict[str, str]]:
    page = await history.calls(HistoryQuery(limit=1000))
    rows = list(page.calls)
    while page.next_cursor:
        page = await history.calls(HistoryQuery(limit=1000, cursor=page.next_cursor))
        rows += page.calls
    return rows


def integrity(path: Path) -> list[tuple[str]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchall()
    finally:
        connection.close()
