"""Reading calls back, from every storage."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.storage.made import (
    NOON,
    a_record,
    a_run_error,
    a_start,
    a_storage,
    a_written,
    explain_query,
    ids,
)

from pegboard.core.ports.call_stores import CallTotals, HistoryQuery, TotalsQuery
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest
from pegboard.storage import Storage
from pegboard.storage.sql.history import select_calls
from pegboard.testing import FakeClock


async def test_calls_come_newest_first(storage: Storage) -> None:
    for call_id, started_at in [("b", NOON + 2), ("c", NOON + 3), ("a", NOON + 1)]:
        storage.listener.on_event(a_record(call_id, started_at=started_at))

    assert await ids(storage) == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"tool": "shop__refund"}, ["refund"]),
        ({"source": "bank"}, ["bank"]),
        ({"status": "failed"}, ["failed"]),
        ({"principal": "bob"}, ["bob"]),
        ({"run_id": "r7"}, ["run"]),
        ({"call_id": "plain"}, ["plain"]),
        ({"since": NOON + 4}, ["run", "bob"]),
        ({"until": NOON + 2}, ["bank", "refund"]),
        ({"since": NOON + 1, "until": NOON + 3, "status": "completed"}, ["bank"]),
        ({"tool": "nothing"}, []),
    ],
    ids=str,
)
async def test_each_filter_narrows_the_history(
    storage: Storage, query: dict[str, Any], expected: list[str]
) -> None:
    records = [
        a_record("refund", tool="shop__refund"),
        a_record("bank", source="bank"),
        a_record("failed", status="failed"),
        a_record("plain"),
        a_record("bob", principal=Principal(id="bob")),
        a_record("run", run_id="r7"),
    ]
    for offset, record in enumerate(records):
        storage.listener.on_event(replace(record, started_at=NOON + offset))

    assert await ids(storage, **query) == expected


async def test_pages_never_skip_or_repeat_while_calls_arrive_and_finish(storage: Storage) -> None:
    for number in range(20):
        # Many with the same time: the order among them must hold too.
        await storage.journal.record_start(a_start(f"old{number}", started_at=NOON + number // 4))
    page = await storage.history.calls(HistoryQuery(limit=3))
    seen = list(page.calls)
    turns = iter(range(20))
    while page.next_cursor:
        turn = next(turns)
        # A finished write says a slightly earlier time than its start did.
        storage.listener.on_event(a_written(f"old{turn}", started_at=NOON - 1))
        storage.listener.on_event(a_record(f"new{turn}", started_at=NOON + 100 + turn))
        page = await storage.history.calls(HistoryQuery(limit=3, cursor=page.next_cursor))
        seen += page.calls

    assert [row["call_id"] for row in seen] == [f"old{n}" for n in reversed(range(20))]


async def test_the_last_page_has_no_cursor(storage: Storage) -> None:
    for number in range(4):
        storage.listener.on_event(a_record(f"c{number}"))

    first = await storage.history.calls(HistoryQuery(limit=2))
    last = await storage.history.calls(HistoryQuery(limit=2, cursor=first.next_cursor))

    assert first.next_cursor != ""
    assert len(last.calls) == 2
    assert last.next_cursor == ""


@pytest.mark.parametrize(
    "query",
    [{"cursor": "???"}, {"cursor": "bm8"}, {"cursor": "ÿ"}, {"limit": 0}, {"limit": 1001}],
    ids=str,
)
async def test_a_wrong_question_is_the_callers_to_mend(
    storage: Storage, query: dict[str, Any]
) -> None:
    with pytest.raises(InvalidRequest):
        await storage.history.calls(HistoryQuery(**query))


async def test_the_detail_of_an_error_is_found_under_its_id(storage: Storage) -> None:
    storage.listener.on_event(
        a_record(
            status="failed",
            error_id="e1",
            error_code="tool_failed",
            error_message="It did not work.",
            error_detail="Traceback: KeyError('x')",
        )
    )

    assert await storage.history.detail("e1") == {
        "error_id": "e1",
        "call_id": "c1",
        "tool": "shop__find",
        "source": "shop",
        "at": NOON,
        "code": "tool_failed",
        "message": "It did not work.",
        "detail": "Traceback: KeyError('x')",
    }
    assert await storage.history.detail("other") is None


async def test_the_detail_of_an_error_of_a_run_is_found_under_its_id(storage: Storage) -> None:
    storage.listener.on_event(a_run_error("e_r1", step="agent"))
    await storage.flush()

    assert await storage.history.detail("e_r1") == {
        "error_id": "e_r1",
        "run_id": "r",
        "step": "agent",
        "at": NOON,
        "code": "tool_failed",
        "message": "Failed.",
        "detail": "Traceback",
    }


async def test_history_itself_never_carries_the_detail(storage: Storage) -> None:
    storage.listener.on_event(a_record(status="failed", error_id="e1", error_detail="Traceback"))

    page = await storage.history.calls(HistoryQuery())

    assert "Traceback" not in repr(page.calls)


async def test_calls_in_the_place_of_a_tool_are_found_by_it(storage: Storage) -> None:
    await storage.journal.record_start(a_start("w1", instead_of="courier__pay"))
    storage.listener.on_event(a_record("c1", instead_of="courier__price"))
    storage.listener.on_event(a_record("c2"))
    storage.listener.on_event(a_written("w2", instead_of="courier__pay"))
    await storage.flush()
    pages = [
        await storage.history.calls(HistoryQuery(instead_of=name))
        for name in ("courier__pay", "courier__price", "post__price")
    ]
    every = await storage.history.calls(HistoryQuery())

    assert [[call["call_id"] for call in page.calls] for page in pages] == [
        ["w2", "w1"],
        ["c1"],
        [],
    ]
    assert {call["call_id"]: call["instead_of"] for call in every.calls} == {
        "w1": "courier__pay",
        "c1": "courier__price",
        "c2": "",
        "w2": "courier__pay",
    }


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (HistoryQuery(), "SCAN calls USING INDEX calls_by_time"),
        (HistoryQuery(tool="t"), "SEARCH calls USING INDEX calls_by_tool (tool=?)"),
        (HistoryQuery(source="s"), "SEARCH calls USING INDEX calls_by_source (source=?)"),
        (HistoryQuery(principal="p"), "SEARCH calls USING INDEX calls_by_principal (principal=?)"),
        (HistoryQuery(status="failed"), "SEARCH calls USING INDEX calls_by_status (status=?)"),
        (HistoryQuery(run_id="r"), "SEARCH calls USING INDEX calls_by_run (run_id=?)"),
        (HistoryQuery(instead_of="c"), "SEARCH calls USING INDEX calls_by_instead_of"),
        (HistoryQuery(unfinished=True), "SCAN calls USING INDEX calls_unknown"),
        (HistoryQuery(tenant="n"), "SEARCH calls USING INDEX calls_by_tenant (tenant=?)"),
        (HistoryQuery(tenant="n", tool="t"), "SEARCH calls USING INDEX calls_by_tool (tool=?)"),
        (HistoryQuery(tenant="n", status="failed"), "SEARCH calls USING INDEX calls_by_status"),
        (HistoryQuery(tenant="n", unfinished=True), "SCAN calls USING INDEX calls_unknown"),
    ],
    ids=[
        *("none", "tool", "source", "principal", "status", "run_id", "instead_of", "unfinished"),
        *("tenant", "tool of a tenant", "status in a tenant", "unfinished in a tenant"),
    ],
)
async def test_each_filter_of_a_large_history_uses_its_index(
    tmp_path: Path, clock: FakeClock, query: HistoryQuery, index: str
) -> None:
    async with a_storage("sqlite", tmp_path, clock):
        plan = explain_query(tmp_path, select_calls(query).limit(10))

    assert [step.startswith(index) for step in plan] == [True], plan


async def test_calls_are_counted_by_part_of_the_time(storage: Storage) -> None:
    records = [
        a_record("before", started_at=NOON - 1),
        a_record("first", started_at=NOON, duration_ms=1.0),
        a_record("second", started_at=NOON + 59, duration_ms=3.0),
        a_record("failed", started_at=NOON + 60, status="failed", duration_ms=2.0),
        a_record("away", started_at=NOON + 179, status="unavailable", duration_ms=900.0),
        a_record("denied", started_at=NOON + 179, status="denied", duration_ms=0.0),
        a_record("after", started_at=NOON + 180),
    ]
    for record in records:
        storage.listener.on_event(record)
    await storage.journal.record_start(a_start("unknown", started_at=NOON + 61))

    totals = await storage.history.totals(TotalsQuery(since=NOON, until=NOON + 180, slots=3))

    assert totals == CallTotals(
        calls=6, failed=2, p50_ms=2.0, p95_ms=3.0, slots=((2, 0), (2, 1), (2, 1))
    )


async def test_only_the_calls_of_who_asks_are_counted(storage: Storage) -> None:
    for number, (name, tenant) in enumerate([("ada", "acme"), ("bob", "acme"), ("ada", "other")]):
        storage.listener.on_event(
            a_record(f"c{number}", principal=Principal(id=name, tenant=tenant))
        )
    asked = TotalsQuery(since=NOON, until=NOON + 60, slots=1)

    mine = await storage.history.totals(replace(asked, principal="ada", tenant="acme"))
    ours = await storage.history.totals(replace(asked, tenant="acme"))

    assert (mine.calls, ours.calls) == (1, 2)


async def test_the_calls_of_a_source_or_a_tool_are_counted_alone(storage: Storage) -> None:
    for number, (source, name) in enumerate(
        [("bank", "bank__pay"), ("bank", "bank__read"), ("shop", "shop__read")]
    ):
        storage.listener.on_event(a_record(f"c{number}", source=source, tool=name))
    asked = TotalsQuery(since=NOON, until=NOON + 60, slots=1)

    of_bank = await storage.history.totals(replace(asked, source="bank"))
    of_tool = await storage.history.totals(replace(asked, source="bank", tool="bank__pay"))

    assert (of_bank.calls, of_tool.calls) == (2, 1)


async def test_a_time_without_calls_has_no_durations(storage: Storage) -> None:
    totals = await storage.history.totals(TotalsQuery(since=NOON, until=NOON + 60, slots=2))

    assert totals == CallTotals(calls=0, failed=0, p50_ms=None, p95_ms=None, slots=((0, 0), (0, 0)))
