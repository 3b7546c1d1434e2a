"""A process that is killed while it runs graphs forgets nothing that it said, nor repeats it."""

import asyncio
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from tests.storage.made import ROOT

from pegboard.core.ports.run_store import RunQuery
from pegboard.storage import open_storage

BUSY = """
import asyncio, sys
from pegboard.core.ports.run_store import RunEvent, StoredStep
from pegboard.storage import open_storage
from tests.storage.made import NOON, a_written
from tests.storage.test_approvals import an_approval
from tests.storage.test_runs import a_result, a_start

async def play(storage, name):
    for number in range(1_000_000):
        run = f"{name}-{number}"
        await storage.runs.create(a_start(run), owner=name)
        await storage.approvals.ask(an_approval(run, expires_at=None))
        print("asked", run, flush=True)
        await storage.approvals.decide(run, "approved", by="bob")
        await storage.runs.reserve(run, "pay", name)
        print("reserved", run, flush=True)
        if await storage.approvals.use(run, digest=f"digest of {run}", call_id=run):
            print("used", run, flush=True)
        step = StoredStep(path="pay", started_at=NOON, finished_at=NOON, value=run)
        await storage.runs.record(run, step, name)
        await storage.runs.emit(run, [RunEvent(kind="paid", at=NOON)])
        print("recorded", run, flush=True)
        await storage.runs.store_result(a_result(run_id=run), name)
        storage.auditor.on_event(a_written(run))
        await storage.flush()
        print("ended", run, flush=True)

async def main():
    async with open_storage(sys.argv[1]) as storage:
        async with asyncio.TaskGroup() as group:
            for name in "abcd":
                group.create_task(play(storage, name))

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("where", ["sqlite", "postgres"])
async def test_after_kill_9_all_that_was_said_is_there(
    request: pytest.FixtureRequest, tmp_path: Path, where: str, seed: int
) -> None:
    place = request.getfixturevalue("postgres") if where == "postgres" else str(tmp_path)
    said = await asyncio.to_thread(run_and_kill, place, 0.2 + random.Random(seed).random())

    async with open_storage(place) as storage:
        asked = {run for run in said["asked"] if await storage.approvals.get(run)}
        used = [run for run in said["asked"] if (await storage.approvals.get(run)).state == "used"]  # type: ignore[union-attr] - it was just found
        again = [
            await storage.approvals.use(run, digest=f"digest of {run}", call_id="another")
            for run in used
        ]
        steps = {run: await storage.runs.steps(run) for run in said["reserved"]}
        events = {run: await storage.runs.events(run) for run in said["recorded"]}
        states = {run: await storage.runs.get(run) for run in said["asked"]}
        report = await storage.audit.verify()
        audited = report.checked
        page = await storage.runs.runs(RunQuery(limit=1000))

    assert said["asked"]
    assert asked == set(said["asked"])
    assert set(said["used"]) <= set(used)
    assert again == [None] * len(used)
    assert all(len(found) == 1 for found in steps.values())
    assert all(steps[run][0].value == run for run in said["recorded"])
    assert all(len(found) == 1 for found in events.values())
    assert {run for run in said["ended"] if states[run].state != "completed"} == set()  # type: ignore[union-attr] - as above
    assert report.fault == ""
    assert audited >= len(said["ended"])
    assert max(Counter(run.start.run_id for run in page.runs).values()) == 1


def run_and_kill(place: str, after: float) -> dict[str, list[str]]:
    """What the process said before it was killed, some time after its first word."""
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY, place], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    with process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(after)
        process.send_signal(signal.SIGKILL)
        lines = (first + process.stdout.read()).split("\n")[:-1]
    assert process.returncode == -signal.SIGKILL
    words = ("asked", "reserved", "used", "recorded", "ended")
    return {
        word: [run for said, _, run in (line.partition(" ") for line in lines) if said == word]
        for word in words
    }
