"""Whatever is done to a stored chain is found, and the record is named."""

import json
import sqlite3
from pathlib import Path

import psycopg
import pytest
from msgspec import structs, to_builtins
from tests.storage.made import NOON, a_storage, is_postgres
from tests.storage.test_audit import an_entry

from pegboard.core.ports.audit_store import AuditEntry
from pegboard.errors import Unavailable
from pegboard.storage.audit_chain import ChainCheck, canonical, hash_of, link_records
from pegboard.testing import FakeClock

TAMPERING = {
    "changed": (["UPDATE audit SET body = '{}' WHERE sequence = 4"], 4, "record 4 was changed"),
    "changed with its hash": (
        ["UPDATE audit SET hash = (SELECT hash FROM audit WHERE sequence = 2) WHERE sequence = 4"],
        4,
        "record 4 was changed",
    ),
    "backdated": (["UPDATE audit SET at = at - 1 WHERE sequence = 4"], 4, "record 4 was changed"),
    "given to another": (
        ["UPDATE audit SET tenant = 'x' WHERE sequence = 4"],
        4,
        "record 4 was changed",
    ),
    "missing": (
        ["DELETE FROM audit WHERE sequence IN (4, 5)"],
        4,
        "records 4 to 5 are missing before record 6",
    ),
    "missing at the beginning": (
        ["DELETE FROM audit WHERE sequence < 3"],
        1,
        "records 1 to 2 are missing, and no retention record says so",
    ),
    "missing at the end": (
        ["DELETE FROM audit WHERE sequence > 8"],
        9,
        "the newest records are not those that were written: 9 to 10",
    ),
    "all missing": (
        ["DELETE FROM audit"],
        1,
        "the newest records are not those that were written: 1 to 10",
    ),
    "reordered": (
        [
            "UPDATE audit SET sequence = 100 WHERE sequence = 4",
            "UPDATE audit SET sequence = 4 WHERE sequence = 5",
            "UPDATE audit SET sequence = 5 WHERE sequence = 100",
        ],
        4,
        "record 4 does not follow record 3",
    ),
    "added at the end": (
        [
            "INSERT INTO audit SELECT 11, at, kind, '', body, previous, hash FROM audit LIMIT 1",
        ],
        11,
        "record 11 does not follow record 10",
    ),
    "begun anew": (["UPDATE audit SET previous = 'x' WHERE sequence = 1"], 1, "record 1"),
    "written as something else": (
        ["UPDATE audit SET kind = 'retention', body = 'not JSON' WHERE sequence = 5"],
        5,
        "record 5 was changed",
    ),
    "its end swapped": (
        [
            "UPDATE audit SET sequence = -1 WHERE sequence = 9",
            "UPDATE audit SET sequence = 9 WHERE sequence = 10",
            "UPDATE audit SET sequence = 10 WHERE sequence = -1",
        ],
        9,
        "record 9 does not follow record 8",
    ),
    "its end cut, and the head with it": (
        [
            "DELETE FROM audit WHERE sequence > 8",
            "UPDATE audit_head SET sequence = 8",
        ],
        9,
        "the newest records are not those that were written",
    ),
    "headless": (["DELETE FROM audit_head"], None, "the head of the chain is missing"),
}


@pytest.fixture(params=["sqlite", "postgres"])
def tampered(request: pytest.FixtureRequest) -> str:
    """A storage that somebody can reach behind our back, as nobody can into memory."""
    if request.param == "postgres":
        return request.getfixturevalue("postgres")
    return request.param


def behind_our_back(kind: str, directory: Path, statements: list[str]) -> None:
    if is_postgres(kind):
        with psycopg.connect(kind) as connection:
            for statement in statements:
                connection.execute(statement.encode())
        return
    with sqlite3.connect(directory / "pegboard.db") as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("how", TAMPERING)
async def test_what_was_done_to_the_chain_is_found(
    tampered: str, how: str, tmp_path: Path, clock: FakeClock
) -> None:
    statements, sequence, fault = TAMPERING[how]
    async with a_storage(tampered, tmp_path, clock) as storage:
        await storage.audit.append([an_entry(number) for number in range(10)])
    behind_our_back(tampered, tmp_path, statements)

    async with a_storage(tampered, tmp_path, clock) as storage:
        report = await storage.audit.verify()

    assert not report.is_intact
    assert fault in report.fault
    assert report.sequence == sequence


async def test_a_retention_record_that_somebody_changed_explains_nothing(
    tampered: str, tmp_path: Path, clock: FakeClock
) -> None:
    async with a_storage(tampered, tmp_path, clock) as storage:
        await storage.audit.append([an_entry(number) for number in range(10)])
        await storage.audit.retain(since=NOON + 3, by="ada")
        behind_our_back(tampered, tmp_path, ["DELETE FROM audit WHERE sequence = 4"])
        report = await storage.audit.verify()

    assert report.sequence == 1
    assert "records 1 to 4 are missing, and no retention record says so" in report.fault


async def test_what_is_left_of_records_that_go_hangs_together_with_the_rest(
    tampered: str, tmp_path: Path, clock: FakeClock
) -> None:
    async with a_storage(tampered, tmp_path, clock) as storage:
        await storage.audit.append([an_entry(number) for number in range(10)])
        await storage.audit.retain(since=NOON + 3, by="ada")
        kept = [(record.sequence, hash_of(record)) for record in await storage.audit.records()]
        check = ChainCheck()
        records = link_records(
            [an_entry(number) for number in range(10)], sequence=0, previous="0" * 64
        )
        rest = list(await storage.audit.records(after=10))
        for record in (records[1], *records[2:], *rest):
            check.read(record)
        whole = check.report(sequence=rest[-1].sequence, head=rest[-1].hash)
        altered = ChainCheck()
        for record in (structs.replace(records[1], body="{}"), *records[2:], *rest):
            altered.read(record)
        found = altered.report(sequence=rest[-1].sequence, head=rest[-1].hash)

    assert kept[0][0] == 4
    assert (whole.first, whole.fault) == (2, "")
    assert found.fault == "record 2 was changed"


async def test_a_chain_without_a_head_takes_no_records_and_the_history_goes_on(
    tampered: str, tmp_path: Path, clock: FakeClock
) -> None:
    from tests.storage.made import a_written, ids

    async with a_storage(tampered, tmp_path, clock) as storage:
        behind_our_back(tampered, tmp_path, ["DELETE FROM audit_head"])
        storage.auditor.on_event(a_written("w1"))
        storage.listener.on_event(a_written("w1"))
        await storage.flush()
        with pytest.raises(Unavailable, match="newest record of the audit trail is missing"):
            await storage.audit.append([an_entry()])
        calls, dropped = await ids(storage), storage.dropped

    assert calls == ["w1"]
    assert dropped == 1


async def test_records_that_were_lost_are_told_once_writing_works_again(
    tampered: str, tmp_path: Path, clock: FakeClock
) -> None:
    from tests.storage.made import a_written

    head = "SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1"
    async with a_storage(tampered, tmp_path, clock) as storage:
        await storage.audit.append([an_entry()])
        behind_our_back(tampered, tmp_path, ["DELETE FROM audit_head"])
        for name in ("w1", "w2"):
            storage.auditor.on_event(a_written(name))
        await storage.flush()
        storage.auditor.on_event(a_written("w3"))
        await storage.flush()
        lost = storage.auditor.dropped
        behind_our_back(
            tampered,
            tmp_path,
            [f"INSERT INTO audit_head SELECT 1, sequence, hash FROM ({head}) AS newest"],
        )
        for name in ("w4", "w5"):
            storage.auditor.on_event(a_written(name))
            await storage.flush()
        records = await storage.audit.records(after=1)
        report = await storage.audit.verify()

    assert lost == 3
    assert [record.kind for record in records] == ["audit", "call", "call"]
    assert records[0].body == '{"action":"lost","records":3}'
    assert report.is_intact


async def test_memory_forgets_the_older_half_and_stays_provable(clock: FakeClock) -> None:
    from pegboard.concurrency.closable_lock import ClosableLock
    from pegboard.storage.history_rows import redact_nothing
    from pegboard.storage.memory.audit import MemoryAudit

    audit = MemoryAudit(ClosableLock(), clock=clock, redact=redact_nothing, reads="none", bound=10)
    for number in range(25):
        await audit.append([an_entry(number)])
    report = await audit.verify()

    assert report.is_intact
    assert report.checked <= 11
    assert len(await audit.records(kind="retention")) >= 1


def test_a_hash_covers_everything_but_itself() -> None:
    (record,) = link_records([AuditEntry(kind="k", at=1, body={})], sequence=0, previous="0" * 64)

    assert record.hash == hash_of(record)
    assert canonical({"b": 1, "a": "é"}) == '{"a":"\\u00e9","b":1}'


def test_the_first_fault_is_the_one_that_is_named() -> None:
    records = link_records([an_entry(n) for n in range(4)], sequence=0, previous="0" * 64)
    check = ChainCheck()
    for record in (records[0], records[3]):
        check.read(record)
    report = check.report(sequence=9, head="x")

    assert (report.sequence, report.fault) == (2, "records 2 to 3 are missing before record 4")


ODD: dict[str, tuple[str, str]] = {
    "a body of bytes": ("sqlite", "UPDATE audit SET body = x'ff00' WHERE sequence = 3"),
    "a time of text": ("sqlite", "UPDATE audit SET at = 'noon' WHERE sequence = 3"),
    "a time without end": ("sqlite", "UPDATE audit SET at = 9e999 WHERE sequence = 3"),
    "a time that is none": ("postgres", "UPDATE audit SET at = 'NaN' WHERE sequence = 3"),
    "a list of what is forgotten": (
        "sqlite",
        "UPDATE audit SET kind = 'retention', body = '[1]' WHERE sequence = 3",
    ),
    "lists within lists of what is forgotten": (
        "sqlite",
        f"UPDATE audit SET kind = 'retention', body = '{'[' * 100_000}' WHERE sequence = 3",
    ),
}


@pytest.mark.parametrize("how", ODD)
async def test_whatever_stands_in_a_record_is_listed_and_found(
    how: str, tmp_path: Path, clock: FakeClock, request: pytest.FixtureRequest
) -> None:
    kind, statement = ODD[how]
    place = request.getfixturevalue("postgres") if kind == "postgres" else kind
    async with a_storage(place, tmp_path, clock) as storage:
        await storage.audit.append([an_entry(number) for number in range(5)])
    behind_our_back(place, tmp_path, [statement])

    async with a_storage(place, tmp_path, clock) as storage:
        report = await storage.audit.verify()
        records = await storage.audit.records()

    assert (report.sequence, report.fault) == (3, "record 3 was changed")
    listed = json.loads(json.dumps([to_builtins(item) for item in records], allow_nan=False))
    assert [item["sequence"] for item in listed] == [1, 2, 3, 4, 5]


async def test_a_retention_record_of_odd_numbers_explains_nothing(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with a_storage("sqlite", tmp_path, clock) as storage:
        await storage.audit.append([an_entry(number) for number in range(5)])
    body = '{"first": 1, "last": "x", "hash": 1}'
    odd = f"UPDATE audit SET kind = 'retention', body = '{body}' WHERE sequence = 3"
    behind_our_back("sqlite", tmp_path, ["DELETE FROM audit WHERE sequence = 1", odd])

    async with a_storage("sqlite", tmp_path, clock) as storage:
        report = await storage.audit.verify()

    assert (report.sequence, report.fault) == (
        1,
        "record 1 is missing, and no retention record says so",
    )
