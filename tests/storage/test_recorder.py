"""What is recorded of a call, in every storage."""

from pathlib import Path
from typing import Any

import pytest
from tests.storage.made import NOON, a_record, a_start, a_storage, a_written, ids

from pegboard.core.event import SourceChanged, digest_of
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.storage import Storage
from pegboard.testing import FakeClock


async def test_a_recorded_call_is_shown_whole(storage: Storage) -> None:
    storage.listener.on_event(a_record(arguments='{"q": "pear"}', reason="own tool", attempts=1))

    page = await storage.history.calls(HistoryQuery())

    assert page.next_cursor == ""
    assert page.calls == [
        {
            "call_id": "c1",
            "tool": "shop__find",
            "status": "completed",
            "started_at": NOON,
            "duration_ms": 1.5,
            "version": "",
            "source": "shop",
            "effect": "read",
            "decision": "",
            "reason": "own tool",
            "attempts": 1,
            "cached": False,
            "replayed": False,
            "truncated": False,
            "bytes_in": 0,
            "bytes_out": 0,
            "error_code": "",
            "error_id": "",
            "error_message": "",
            "run_id": "",
            "parent_id": "",
            "handler": "",
            "toolkit": "",
            "credential": "",
            "idempotency_key": "",
            "untrusted": False,
            "instead_of": "",
            "model": "",
            "tokens": None,
            "cached_tokens": None,
            "cost": None,
            "principal": "ada",
            "tenant": "acme",
            "arguments_digest": digest_of({"q": "pear"}),
        }
    ]


async def test_a_started_write_can_be_matched_to_its_callers_key(storage: Storage) -> None:
    await storage.journal.record_start(a_start(idempotency_key="order-17", decision="allow"))

    (row,) = (await storage.history.calls(HistoryQuery(unfinished=True))).calls
    assert (row["idempotency_key"], row["decision"]) == ("order-17", "allow")


async def test_arguments_are_digested_as_they_are_when_the_call_ends(storage: Storage) -> None:
    arguments = {"q": "pear"}

    storage.listener.on_event(a_record(arguments=arguments))
    arguments["q"] = "changed later"

    page = await storage.history.calls(HistoryQuery())
    assert page.calls[0]["arguments_digest"] == digest_of({"q": "pear"})


@pytest.mark.parametrize(
    "arguments",
    ['{"token": "s3cret"}', b'{"token": "s3cret"}', {"token": "s3cret"}],
    ids=["text", "bytes", "mapping"],
)
async def test_arguments_are_stored_redacted_only_if_the_operator_says_so(
    kind: str, tmp_path: Path, clock: FakeClock, arguments: Any
) -> None:
    def redact(text: str) -> str:
        return text.replace("s3cret", "***")

    async with a_storage(kind, tmp_path, clock, store_arguments=True, redact=redact) as storage:
        storage.listener.on_event(a_record(arguments=arguments))
        page = await storage.history.calls(HistoryQuery())

    assert page.calls[0]["arguments"] == '{"token": "***"}'


@pytest.mark.parametrize(
    "changes",
    [
        {"arguments": {1: 2, "a": 3}},
        {"arguments": '["' * 50_000},
        {"arguments": "[" * 50_000 + "]" * 50_000},
        {"tool": "half \ud800", "reason": "nul \x00 and \udfff"},
    ],
    ids=["keys that do not sort", "not JSON", "nested too deep", "half a surrogate pair"],
)
async def test_a_call_with_odd_content_is_recorded_like_any_other(
    storage: Storage, changes: dict[str, Any]
) -> None:
    storage.listener.on_event(a_record("odd", **changes))
    storage.listener.on_event(a_record("next"))

    assert sorted(await ids(storage)) == ["next", "odd"]
    assert storage.dropped == 0


async def test_events_that_are_no_calls_are_not_history(storage: Storage) -> None:
    storage.listener.on_event(SourceChanged(source="shop", status="ready"))
    storage.listener.on_event(a_start())

    assert await ids(storage) == []


async def test_a_started_write_is_unknown_until_its_record_comes(storage: Storage) -> None:
    await storage.journal.record_start(a_start("w1"))
    await storage.journal.record_start(a_start("w2"))

    before = await storage.history.calls(HistoryQuery(unfinished=True))
    storage.listener.on_event(a_written("w1", attempts=1, status="failed"))
    after = await storage.history.calls(HistoryQuery(unfinished=True))
    everything = await storage.history.calls(HistoryQuery())

    assert [row["call_id"] for row in before.calls] == ["w2", "w1"]
    assert {row["status"] for row in before.calls} == {"unknown"}
    assert {row["reason"] for row in before.calls} == {"started, outcome unknown"}
    assert before.calls[0]["arguments_digest"] == "d" * 64
    assert [row["call_id"] for row in after.calls] == ["w2"]
    assert [(row["call_id"], row["status"]) for row in everything.calls] == [
        ("w2", "unknown"),
        ("w1", "failed"),
    ]


async def test_a_start_that_comes_twice_or_late_changes_nothing(storage: Storage) -> None:
    await storage.journal.record_start(a_start("w1"))
    await storage.journal.record_start(a_start("w1", tool="other"))
    storage.listener.on_event(a_written("w1"))
    await storage.journal.record_start(a_start("w1"))

    page = await storage.history.calls(HistoryQuery())
    assert [(row["tool"], row["status"]) for row in page.calls] == [("shop__refund", "completed")]
