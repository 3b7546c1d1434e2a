"""What holds for a storage as a whole, whichever it is."""

import asyncio
import threading
from pathlib import Path

import pytest
from tests.storage.made import (
    a_record,
    a_result,
    a_start,
    a_storage,
    a_written,
    an_outcome,
    ids,
)

from pegboard.core.graph import NodeState
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.result import ToolResult
from pegboard.errors import Unavailable
from pegboard.storage import Storage
from pegboard.storage.port import GOES_ON, lease_lost_error
from pegboard.testing import FakeClock


async def test_eight_threads_with_their_own_loops_use_it_at_once(storage: Storage) -> None:
    async def work(name: str) -> list[bool]:
        for number in range(25):
            await storage.journal.record_start(a_start(f"{name}-{number}"))
            storage.listener.on_event(a_written(f"{name}-{number}"))
            await storage.results.put(a_result(f"{name}-{number}", body=name.encode()))
        return [await storage.outcomes.claim(an_outcome(f"k{n}")) is None for n in range(25)]

    won: list[list[bool]] = []
    threads = [
        threading.Thread(target=lambda name=name: won.append(asyncio.run(work(name))))
        for name in "abcdefgh"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)

    calls = await ids(storage, limit=1000)
    assert sorted(calls) == sorted(f"{name}-{n}" for name in "abcdefgh" for n in range(25))
    assert await ids(storage, unfinished=True) == []
    assert [sum(column) for column in zip(*won, strict=True)] == [1] * 25


async def test_what_is_closed_says_so_and_counts_what_still_comes(
    kind: str, tmp_path: Path, clock: FakeClock
) -> None:
    storage = a_storage(kind, tmp_path, clock)
    await storage.close()
    await storage.close()

    storage.listener.on_event(a_record())
    refused = [
        storage.journal.record_start(a_start()),
        storage.history.calls(HistoryQuery()),
        storage.history.detail("e1"),
        storage.results.put(a_result()),
        storage.results.get("x", "y"),
        storage.outcomes.claim(an_outcome()),
        storage.outcomes.settle(an_outcome(), ToolResult()),
        storage.outcomes.release(an_outcome()),
        storage.catalogue.active(),
        storage.pins.pins(),
        storage.dependencies.changes(),
        storage.approvals.expire(),
        storage.runs.take("one"),
        storage.runs.reserve("r1", "fetch", "one"),
        storage.audit.append([]),
        storage.flush(),
        storage.sweep(),
    ]
    for operation in refused:
        with pytest.raises(Unavailable, match="closed"):
            await operation

    assert storage.dropped == 1


def test_a_lost_lease_is_not_retried() -> None:
    error = lease_lost_error("r1")

    assert "'r1' is now held by another worker" in str(error)
    assert (error.retryable, error.nothing_done) == (False, True)


def test_a_run_goes_on_by_itself_in_no_state_that_waits_or_is_final() -> None:
    assert not any(state.is_final for state in GOES_ON)
    assert NodeState.WAITING not in GOES_ON
    assert NodeState.PAUSED not in GOES_ON
