"""Calls in memory are forgotten beyond their bounds."""

from tests.storage.made import NOON, a_record, a_start, a_written, ids

from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.storage import MemoryStorage
from pegboard.testing import FakeClock


async def test_only_the_latest_calls_are_kept(clock: FakeClock) -> None:
    storage = MemoryStorage(clock=clock, max_calls=3)

    for number in range(5):
        storage.listener.on_event(a_record(f"c{number}"))

    assert await ids(storage) == ["c4", "c3", "c2"]
    assert storage.dropped == 0


async def test_finished_calls_do_not_push_out_unfinished_ones(clock: FakeClock) -> None:
    storage = MemoryStorage(clock=clock, max_calls=3)
    await storage.journal.record_start(a_start("w1"))

    for number in range(5):
        storage.listener.on_event(a_record(f"c{number}", started_at=NOON + 1))

    assert await ids(storage, unfinished=True) == ["w1"]


async def test_a_start_that_is_pushed_out_is_counted(clock: FakeClock) -> None:
    storage = MemoryStorage(clock=clock, max_calls=3)

    for number in range(5):
        await storage.journal.record_start(a_start(f"w{number}"))

    assert await ids(storage, unfinished=True) == ["w4", "w3", "w2"]
    assert storage.dropped == 2


async def test_a_history_row_is_out_of_its_readers_reach(clock: FakeClock) -> None:
    storage = MemoryStorage(clock=clock)
    storage.listener.on_event(a_written(error_id="e1", error_detail="stack"))
    page = await storage.history.calls(HistoryQuery())
    detail = await storage.history.detail("e1")
    assert detail is not None

    page.calls[0]["tool"] = "forged"
    detail["detail"] = "forged"

    assert (await storage.history.calls(HistoryQuery())).calls[0]["tool"] == "shop__refund"
    assert (await storage.history.detail("e1") or {})["detail"] == "stack"
