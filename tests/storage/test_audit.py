"""The audit trail, in every storage."""

import asyncio
import json
from pathlib import Path
from typing import Any, cast

import pytest
from tests.storage.made import NOON, a_record, a_storage, a_written, explain_query

from pegboard.core.ports.audit_store import AuditEntry, AuditReport
from pegboard.errors import InvalidRequest, Unavailable
from pegboard.storage import Storage
from pegboard.storage.sql.audit import select_records
from pegboard.testing import FakeClock


def an_entry(number: int = 0, **changes: Any) -> AuditEntry:
    fields: dict[str, Any] = {
        "kind": "approval",
        "at": NOON + number,
        "body": {"b": number, "a": ["é\x00\ud800", None, 0.1]},
        "tenant": "acme",
    }
    return AuditEntry(**(fields | changes))


async def test_records_are_numbered_and_each_carries_the_hash_of_the_one_before(
    storage: Storage,
) -> None:
    first = await storage.audit.append([an_entry(0), an_entry(1)])
    second = await storage.audit.append([an_entry(2)])
    records = await storage.audit.records()

    assert [*first, *second] == list(records)
    assert [record.sequence for record in records] == [1, 2, 3]
    assert records[0].previous == "0" * 64
    assert records[1].previous == records[0].hash
    assert records[2].previous == records[1].hash
    assert records[0].body == '{"a":["\\u00e9\\u0000\\ud800",null,0.1],"b":0}'
    assert await storage.audit.append([]) == []


async def test_the_same_entries_give_the_same_chain_in_every_storage(storage: Storage) -> None:
    records = await storage.audit.append([an_entry(0), an_entry(1, tenant="", at=NOON + 0.1)])

    assert records[1].hash == ("07bc5ba396c449a2cbbe3edf40a70654e6b5b121b2913ab9fd9a4f3da22b2815")


async def test_records_are_found(storage: Storage) -> None:
    await storage.audit.append(
        [an_entry(0), an_entry(1, kind="policy"), an_entry(2, tenant=""), an_entry(3)]
    )

    async def found(**query: Any) -> list[int]:
        return [record.sequence for record in await storage.audit.records(**query)]

    assert await found(after=1, limit=2) == [2, 3]
    assert await found(kind="policy") == [2]
    assert await found(newest_first=True, limit=2) == [4, 3]
    assert await found(newest_first=True, before=3) == [2, 1]
    assert await found(after=1, before=4) == [2, 3]
    assert await found(tenant="") == [3]
    assert await found(tenant="acme", kind="approval") == [1, 4]


async def test_an_entry_that_is_no_json_is_refused_with_those_beside_it(storage: Storage) -> None:
    for body in ({"a": object()}, {"a": float("nan")}):
        with pytest.raises(InvalidRequest, match="must be JSON"):
            await storage.audit.append([an_entry(0), an_entry(1, body=body)])

    assert await storage.audit.records() == []


async def test_a_chain_as_it_was_written_is_intact(storage: Storage) -> None:
    empty = await storage.audit.verify()
    records = await storage.audit.append([an_entry(number) for number in range(2_500)])
    report = await storage.audit.verify(anchor=(17, records[16].hash))

    assert empty == AuditReport(checked=0, first=0, last=0, head="0" * 64)
    assert empty.is_intact
    assert report == AuditReport(checked=2_500, first=1, last=2_500, head=records[-1].hash)


async def test_a_record_that_was_noted_elsewhere_has_to_be_there(storage: Storage) -> None:
    await storage.audit.append([an_entry(0)])

    other = await storage.audit.verify(anchor=(1, "f" * 64))
    missing = await storage.audit.verify(anchor=(2, "f" * 64))
    assert (other.sequence, other.fault) == (1, "record 1 differs from the anchor")
    assert (missing.sequence, missing.is_intact) == (2, False)


async def test_servers_that_write_at_once_leave_no_gap(storage: Storage, other: Storage) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(20):
            for server in (storage, other):
                group.create_task(server.audit.append([an_entry(number), an_entry(number)]))
                server.auditor.on_event(a_written(f"{number}"))
    await storage.flush()
    await other.flush()

    report = await storage.audit.verify()
    assert (report.fault, report.last) == ("", 120)


async def test_old_records_are_forgotten_with_a_word_that_keeps_the_chain_whole(
    storage: Storage, clock: FakeClock
) -> None:
    await storage.audit.append([an_entry(number) for number in range(5)])
    said = await storage.audit.retain(since=NOON + 3, by="ada")
    records = await storage.audit.records()
    report = await storage.audit.verify()

    assert said is not None
    assert (said.kind, said.at) == ("retention", clock.time())
    assert json.loads(said.body) == {
        "by": "ada",
        "since": NOON + 3,
        "first": 1,
        "last": 3,
        "hash": records[0].previous,
    }
    assert [record.sequence for record in records] == [4, 5, 6]
    assert (report.fault, report.first, report.last) == ("", 4, 6)
    assert await storage.audit.retain(since=NOON + 3, by="ada") is None


async def test_all_records_can_be_forgotten_but_the_word_itself(storage: Storage) -> None:
    await storage.audit.append([an_entry(number) for number in range(5)])
    await storage.audit.retain(since=NOON + 5, by="ada")
    await storage.audit.append([an_entry(6)])
    await storage.audit.retain(since=NOON + 6, by="ada")
    report = await storage.audit.verify()

    assert (report.fault, report.checked) == ("", 2)


async def test_a_late_record_that_is_old_is_kept_with_those_before_it(storage: Storage) -> None:
    await storage.audit.append([an_entry(5), an_entry(0), an_entry(6)])

    assert await storage.audit.retain(since=NOON + 1, by="ada") is None
    assert len(await storage.audit.records()) == 3


async def test_calls_that_change_something_or_were_refused_are_in_the_trail(
    storage: Storage,
) -> None:
    calls = [
        a_record("read"),
        a_written("write", reason="x" * 10),
        a_record("admin", effect="admin"),
        a_record("denied", decision="deny", status="denied"),
        a_record("asked", decision="ask", status="approval_needed"),
        a_record("unknown tool", effect=""),
    ]
    for call in calls:
        storage.auditor.on_event(call)
    await storage.flush()
    records = await storage.audit.records()

    kept = [json.loads(record.body)["call_id"] for record in records]
    assert kept == ["write", "admin", "denied", "asked"]
    assert {record.kind for record in records} == {"call"}
    assert {record.tenant for record in records} == {"acme"}
    first = json.loads(records[0].body)
    assert (first["principal"], first["status"], first["effect"]) == ("ada", "completed", "write")
    assert "arguments" not in first


async def test_calls_that_only_read_are_in_the_trail_where_they_are_wanted(
    kind: str, tmp_path: Any, clock: FakeClock
) -> None:
    async with a_storage(kind, tmp_path, clock, audit_reads="all") as storage:
        storage.auditor.on_event(a_record("read"))
        storage.auditor.on_event(a_written("write"))
        await storage.flush()
        records = await storage.audit.records()

    assert [json.loads(record.body)["call_id"] for record in records] == ["read", "write"]


async def test_secrets_and_numbers_that_are_none_cost_no_record_of_the_trail(
    kind: str, tmp_path: Any, clock: FakeClock
) -> None:
    def redact(text: str) -> str:
        if "poison" in text:
            raise LookupError(text)
        return text.replace("hunter2", "***")

    async with a_storage(kind, tmp_path, clock, redact=redact) as storage:
        storage.auditor.on_event(a_written("w1", reason="hunter2"))
        storage.auditor.on_event(a_written("w2", reason="poison"))
        storage.auditor.on_event(a_written("w3", started_at=float("nan"), duration_ms=float("inf")))
        await storage.flush()
        records = await storage.audit.records()
        report = await storage.audit.verify()

    bodies = [json.loads(record.body) for record in records]
    assert [body["reason"] for body in bodies] == ["***", "", ""]
    assert (records[2].at, bodies[2]["duration_ms"]) == (0.0, None)
    assert report.is_intact


async def watched_while_it_goes(storage: Storage, other: Storage) -> list[AuditReport]:
    """Check the trail before each step in which this server lets old records go."""
    reports: list[AuditReport] = []
    database = cast("Any", storage)._database
    run = database.run

    async def watched(operation: Any, **options: Any) -> Any:
        reports.append(await other.audit.verify())
        return await run(operation, **options)

    database.run = watched
    try:
        await storage.audit.retain(since=NOON + 2_200, by="ada")
    finally:
        database.run = run
    return reports


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sqlite", "postgres"], indirect=True)
async def test_many_records_go_bit_by_bit_and_the_chain_is_whole_at_each_step(
    storage: Storage, other: Storage
) -> None:
    await storage.audit.append([an_entry(number) for number in range(2_500)])

    steps = await watched_while_it_goes(storage, other)
    report = await storage.audit.verify()

    # where reading is a step of its own, it sees the same once more
    assert list(dict.fromkeys((step.first, step.last, step.fault) for step in steps)) == [
        (1, 2_500, ""),  # before the word
        (1, 2_501, ""),
        (1_001, 2_501, ""),
        (2_001, 2_501, ""),
    ]
    assert (report.first, report.last, report.fault) == (2_201, 2_501, "")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"], indirect=True)
async def test_what_was_cut_off_while_it_went_goes_the_next_time(storage: Storage) -> None:
    await storage.audit.append([an_entry(number) for number in range(2_500)])
    audit = cast("Any", storage).audit
    delete = audit._delete

    async def cut_off(first: int, last: int) -> None:
        if first > 1:
            raise Unavailable("The server is gone.")
        await delete(first, last)

    audit._delete = cut_off
    with pytest.raises(Unavailable):
        await storage.audit.retain(since=NOON + 2_200, by="ada")
    between = await storage.audit.verify()
    audit._delete = delete
    said = await storage.audit.retain(since=NOON + 2_200, by="ada")
    report = await storage.audit.verify()

    assert (between.first, between.fault) == (1_001, "")
    assert said is not None
    assert (json.loads(said.body)["first"], report.first, report.fault) == (1_001, 2_201, "")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["postgres"], indirect=True)
async def test_of_two_servers_that_let_go_at_once_one_says_so(
    storage: Storage, other: Storage
) -> None:
    await storage.audit.append([an_entry(number) for number in range(2_500)])

    said = await asyncio.gather(
        *(server.audit.retain(since=NOON + 2_200, by="ada") for server in (storage, other) * 4)
    )
    report = await storage.audit.verify()
    words = await storage.audit.records(kind="retention")

    assert 1 <= len([record for record in said if record is not None]) == len(words)
    assert (report.first, report.fault) == (2_201, "")


@pytest.mark.parametrize("kind", ["sqlite", "postgres"], indirect=True)
async def test_a_check_that_is_overtaken_by_what_goes_begins_again(
    storage: Storage, other: Storage
) -> None:
    await storage.audit.append([an_entry(number) for number in range(2_500)])
    audit = cast("Any", other).audit
    page, pages = audit._page, 0

    async def paged(after: int, last: int) -> Any:
        nonlocal pages
        pages += 1
        rows = await page(after, last)
        if pages == 1:
            await storage.audit.retain(since=NOON + 2_200, by="ada")
        return rows

    audit._page = paged
    report = await other.audit.verify()

    assert (report.first, report.last, report.fault) == (2_201, 2_501, "")
    assert pages > 3


async def test_writers_do_not_wait_for_all_that_goes(tmp_path: Path, clock: FakeClock) -> None:
    async with a_storage("sqlite", tmp_path, clock) as storage:
        await storage.audit.append([an_entry(number) for number in range(5_000)])
        audit = cast("Any", storage.audit)
        delete, left = audit._delete, list[int]()

        async def watched(first: int, last: int) -> None:
            await delete(first, last)
            await storage.audit.append([an_entry(6_000)])  # somebody else's, in between
            [oldest] = await storage.audit.records(limit=1)
            left.append(oldest.sequence)

        audit._delete = watched
        await storage.audit.retain(since=NOON + 5_000, by="ada")
        report = await storage.audit.verify()

    assert left == [1_001, 2_001, 3_001, 4_001, 5_001]
    assert report.fault == ""


@pytest.mark.parametrize(
    ("kind", "tenant", "index"),
    [
        ("", None, "SEARCH audit USING INTEGER PRIMARY KEY (rowid>?)"),
        ("policy", None, "SEARCH audit USING INDEX audit_by_kind (kind=? AND sequence>?)"),
        ("", "acme", "SEARCH audit USING INDEX audit_by_tenant (tenant=? AND sequence>?)"),
        ("call", "acme", "SEARCH audit USING INDEX audit_by_tenant (tenant=? AND sequence>?)"),
        ("policy", "acme", "SEARCH audit USING INDEX audit_by_kind (kind=? AND sequence>?)"),
    ],
    ids=["none", "kind", "tenant", "calls of a tenant", "kind in a tenant"],
)
@pytest.mark.parametrize("newest_first", [True, False], ids=["newest", "oldest"])
async def test_each_filter_of_a_long_trail_uses_its_index(
    tmp_path: Path,
    clock: FakeClock,
    kind: str,
    tenant: str | None,
    index: str,
    newest_first: bool,
) -> None:
    wanted = select_records(kind=kind, tenant=tenant, newest_first=newest_first).limit(10)
    async with a_storage("sqlite", tmp_path, clock):
        plan = explain_query(tmp_path, wanted)

    assert plan == [index]
