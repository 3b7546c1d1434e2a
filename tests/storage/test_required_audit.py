"""An audit trail that has to have a call before it runs, in every storage."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.storage.made import NOON, a_start, a_storage, a_written, ids

from pegboard.core.ports.audit_store import AuditRecord
from pegboard.errors import AuditUnavailable, Unavailable
from pegboard.storage import Storage
from pegboard.storage.audit_entries import start_not_audited
from pegboard.testing import FakeClock


@pytest.fixture
async def strict(kind: str, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Storage]:
    """A storage whose trail is required."""
    redact = _without_secrets
    async with a_storage(kind, tmp_path, clock, audit_starts=True, redact=redact) as opened:
        yield opened


def _without_secrets(text: str) -> str:
    return text.replace("hush", "***")


async def trail(storage: Storage) -> list[AuditRecord]:
    return list(await storage.audit.records())


async def test_the_start_of_a_write_is_in_the_trail_before_it_runs(strict: Storage) -> None:
    await strict.journal.record_start(a_start("w1", idempotency_key="hush-17", decision="allow"))
    [start] = await trail(strict)
    unfinished = await ids(strict, unfinished=True)
    strict.listener.on_event(a_written("w1"))
    strict.auditor.on_event(a_written("w1"))
    await strict.flush()
    report = await strict.audit.verify()

    body = json.loads(start.body)
    assert (start.kind, start.at, start.tenant) == ("start", NOON, "acme")
    assert (body["call_id"], body["tool"], body["principal"]) == ("w1", "shop__refund", "ada")
    assert (body["idempotency_key"], body["decision"]) == ("***-17", "allow")
    assert unfinished == ["w1"]
    assert [record.kind for record in await trail(strict)] == ["start", "call"]
    assert (report.checked, report.fault) == (2, "")


async def test_a_read_is_in_the_trail_only_where_it_is_audited(strict: Storage) -> None:
    assert not strict.journal.wants(effect="read", decision="allow", handler="function")
    assert strict.journal.wants(effect="read", decision="ask", handler="function")
    await strict.journal.record_start(a_start("r1", effect="read", decision="ask"))

    assert [record.kind for record in await trail(strict)] == ["start"]
    assert await ids(strict) == []  # it may be made again, whatever became of it


async def test_a_read_that_the_trail_does_not_want_leaves_no_start(strict: Storage) -> None:
    """The path of its tool asks the journal, as others of its calls are wanted."""
    await strict.journal.record_start(a_start("r1", effect="read", decision="allow"))

    assert await trail(strict) == []
    assert await ids(strict) == []


async def test_all_reads_are_in_it_where_all_are_audited(
    kind: str, tmp_path: Path, clock: FakeClock
) -> None:
    options = {"audit_starts": True, "audit_reads": "all"}
    async with a_storage(kind, tmp_path, clock, **options) as storage:
        assert storage.journal.wants(effect="read", decision="allow", handler="function")
        await storage.journal.record_start(a_start("r1", effect="read", started_at=float("nan")))
        [start] = await trail(storage)

    assert start.at == 0.0


async def test_nothing_waits_for_a_trail_that_nobody_requires(storage: Storage) -> None:
    assert not storage.journal.wants(effect="read", decision="ask", handler="function")
    assert storage.journal.wants(effect="write", decision="allow", handler="function")
    await storage.journal.record_start(a_start("w1"))

    assert await trail(storage) == []
    assert await ids(storage, unfinished=True) == ["w1"]


async def test_many_starts_at_once_make_one_chain(strict: Storage) -> None:
    async with asyncio.TaskGroup() as group:
        for number in range(30):
            group.create_task(strict.journal.record_start(a_start(f"w{number}")))
            strict.auditor.on_event(a_written(f"v{number}"))
    await strict.flush()
    report = await strict.audit.verify()

    assert (report.checked, report.fault) == (60, "")


async def test_a_start_that_the_trail_cannot_take_is_refused_with_the_reason(
    strict: Storage,
) -> None:
    await strict.close()

    with pytest.raises(AuditUnavailable, match="'shop__refund' was not run") as caught:
        await strict.journal.record_start(a_start("w1"))

    assert caught.value.nothing_done
    assert str(caught.value).endswith("to the audit trail first. The storage is closed.")


def test_what_the_database_says_of_later_is_kept() -> None:
    later = start_not_audited("pay", Unavailable("Its disk is full.", retry_after=3.0))
    never = start_not_audited("pay", Unavailable("It has lost its head.", permanent=True))

    assert (later.retry_after, later.retryable, never.retryable) == (3.0, True, False)
