"""What every storage promises, run over each of them."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.storage.made import NOON, a_record, a_result, a_start, a_storage, a_written
from tests.storage.made import an_outcome as outcome

from pegboard.core.event import SourceChanged, digest_of
from pegboard.core.ports.store import HistoryQuery
from pegboard.core.principal import Principal
from pegboard.core.result import ResultMeta, TextPart, ToolResult
from pegboard.errors import InvalidRequest, ToolFailed, Unavailable
from pegboard.storage import Storage
from pegboard.testing import FakeClock


@pytest.fixture(params=["memory", "sqlite"])
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def storage(kind: str, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Storage]:
    async with a_storage(kind, tmp_path, clock) as opened:
        yield opened


async def ids(storage: Storage, **query: Any) -> list[str]:
    page = await storage.history.calls(HistoryQuery(**query))
    return [row["call_id"] for row in page.calls]


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
            "principal": "ada",
            "tenant": "acme",
            "arguments_digest": digest_of({"q": "pear"}),
        }
    ]


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


async def test_messages_and_details_are_redacted(
    kind: str, tmp_path: Path, clock: FakeClock
) -> None:
    def redact(text: str) -> str:
        return text.replace("s3cret", "***")

    async with a_storage(kind, tmp_path, clock, redact=redact) as storage:
        storage.listener.on_event(
            a_record(status="failed", error_id="e1", error_message="s3cret", error_detail="s3cret")
        )
        page = await storage.history.calls(HistoryQuery())
        detail = await storage.history.detail("e1")

    assert "s3cret" not in repr((page.calls, detail))


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
        await storage.journal.started(a_start(f"old{number}", started_at=NOON + number // 4))
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


async def test_a_started_write_is_unknown_until_its_record_comes(storage: Storage) -> None:
    await storage.journal.started(a_start("w1"))
    await storage.journal.started(a_start("w2"))

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
    await storage.journal.started(a_start("w1"))
    await storage.journal.started(a_start("w1", tool="other"))
    storage.listener.on_event(a_written("w1"))
    await storage.journal.started(a_start("w1"))

    page = await storage.history.calls(HistoryQuery())
    assert [(row["tool"], row["status"]) for row in page.calls] == [("shop__refund", "completed")]


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


async def test_history_itself_never_carries_the_detail(storage: Storage) -> None:
    storage.listener.on_event(a_record(status="failed", error_id="e1", error_detail="Traceback"))

    page = await storage.history.calls(HistoryQuery())

    assert "Traceback" not in repr(page.calls)


async def test_a_stored_result_comes_back_to_its_owner_alone(storage: Storage) -> None:
    result = a_result(body=bytes(range(256)), media_type="image/png")
    await storage.results.put(result)

    assert await storage.results.get(result.handle, "acme/ada") == result
    assert await storage.results.get(result.handle, "acme/bob") is None
    assert await storage.results.get("pegboard://results/other", "acme/ada") is None


async def test_a_result_put_again_replaces_the_first(storage: Storage) -> None:
    await storage.results.put(a_result(body=b"first"))
    await storage.results.put(a_result(body=b"second"))

    kept = await storage.results.get("pegboard://results/r1", "acme/ada")
    assert kept is not None
    assert kept.body == b"second"


async def test_an_expired_result_is_gone_before_and_after_the_sweep(
    storage: Storage, clock: FakeClock
) -> None:
    await storage.results.put(a_result("short", expires_at=NOON + 10))
    await storage.results.put(a_result("long", expires_at=NOON + 100))

    clock.advance(10)
    before = await storage.results.get("short", "acme/ada")
    await storage.sweep()
    clock.jump(-10)
    after = await storage.results.get("short", "acme/ada")

    assert before is None
    assert after is None
    assert await storage.results.get("long", "acme/ada") is not None


async def test_a_key_is_taken_once_and_its_holder_is_told(storage: Storage) -> None:
    first = await storage.outcomes.claim(outcome())
    second = await storage.outcomes.claim(outcome(digest="e" * 64, created_at=NOON + 1))

    assert first is None
    assert second == outcome()


async def test_a_settled_key_gives_the_first_outcome_again(storage: Storage) -> None:
    result = ToolResult(
        content=(TextPart("done"),),
        structured={"refunded": [1, 2.5, None]},
        meta=ResultMeta(call_id="c1", attempts=2),
    )
    await storage.outcomes.claim(outcome())
    await storage.outcomes.settle("acme/ada", "k1", result)

    assert await storage.outcomes.claim(outcome()) == outcome(result=result)


async def test_a_settled_outcome_is_out_of_its_makers_reach(storage: Storage) -> None:
    value = {"refunded": 1}
    await storage.outcomes.claim(outcome())
    await storage.outcomes.settle("acme/ada", "k1", ToolResult(structured=value))
    value["refunded"] = 2

    again = await storage.outcomes.claim(outcome())
    assert again is not None
    assert again.result is not None
    assert again.result.structured == {"refunded": 1}


async def test_a_failed_outcome_gives_its_typed_error_again(storage: Storage) -> None:
    error = ToolFailed("Order 17 is already shipped.", error_id="e9")
    await storage.outcomes.claim(outcome())
    await storage.outcomes.settle("acme/ada", "k1", ToolResult(is_error=True, error=error))

    again = await storage.outcomes.claim(outcome())
    assert again is not None
    assert again.result is not None
    with pytest.raises(ToolFailed, match="already shipped") as caught:
        again.result.unwrap()
    assert caught.value.error_id == "e9"


async def test_keys_of_different_owners_are_different_keys(storage: Storage) -> None:
    await storage.outcomes.claim(outcome())

    assert await storage.outcomes.claim(outcome(owner="acme/bob")) is None


async def test_a_released_key_is_free_and_a_settled_one_stays(storage: Storage) -> None:
    await storage.outcomes.claim(outcome("free"))
    await storage.outcomes.release("acme/ada", "free")
    await storage.outcomes.claim(outcome("kept"))
    await storage.outcomes.settle("acme/ada", "kept", ToolResult(content="done"))
    await storage.outcomes.release("acme/ada", "kept")

    assert await storage.outcomes.claim(outcome("free")) is None
    assert await storage.outcomes.claim(outcome("kept")) is not None


@pytest.mark.parametrize("swept", [False, True], ids=["unswept", "swept"])
async def test_a_key_is_free_again_after_its_time(
    kind: str, tmp_path: Path, clock: FakeClock, swept: bool
) -> None:
    async with a_storage(kind, tmp_path, clock, outcome_ttl=60.0) as storage:
        await storage.outcomes.claim(outcome())
        clock.advance(59)
        held = await storage.outcomes.claim(outcome())
        clock.advance(1)
        if swept:
            await storage.sweep()
        freed = await storage.outcomes.claim(outcome(created_at=clock.time()))

    assert held is not None
    assert freed is None


async def test_of_many_who_claim_at_once_exactly_one_gets_the_key(storage: Storage) -> None:
    async with asyncio.TaskGroup() as group:
        claims = [group.create_task(storage.outcomes.claim(outcome())) for _ in range(50)]

    assert [claim.result() for claim in claims].count(None) == 1


async def test_eight_threads_with_their_own_loops_use_it_at_once(storage: Storage) -> None:
    async def work(name: str) -> list[bool]:
        for number in range(25):
            await storage.journal.started(a_start(f"{name}-{number}"))
            storage.listener.on_event(a_written(f"{name}-{number}"))
            await storage.results.put(a_result(f"{name}-{number}", body=name.encode()))
        return [await storage.outcomes.claim(outcome(f"k{n}")) is None for n in range(25)]

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
        storage.journal.started(a_start()),
        storage.history.calls(HistoryQuery()),
        storage.history.detail("e1"),
        storage.results.put(a_result()),
        storage.results.get("x", "y"),
        storage.outcomes.claim(outcome()),
        storage.outcomes.settle("acme/ada", "k1", ToolResult()),
        storage.outcomes.release("acme/ada", "k1"),
        storage.flush(),
        storage.sweep(),
    ]
    for operation in refused:
        with pytest.raises(Unavailable, match="closed"):
            await operation

    assert storage.dropped == 1
