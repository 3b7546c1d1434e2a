"""A board whose audit trail is required refuses what it could not prove."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from pydantic import SecretStr
from tests.servers.http.made import client_of
from tests.storage.conftest import postgres, postgres_server
from tests.storage.databases.conftest import own_postgres, own_server

from pegboard import Pegboard, Policy, tool
from pegboard.core.principal import LOCAL
from pegboard.errors import ApprovalRequired, AuditUnavailable, ConfigError
from pegboard.runtime import Settings
from pegboard.runtime.wiring.storage import create_storage

__all__ = ["own_postgres", "own_server", "postgres", "postgres_server"]
PAID: list[int] = []


@tool(effect="write")
async def pay(amount: int) -> str:
    """Pay."""
    PAID.append(amount)
    return f"paid {amount}"


@tool(effect="read")
async def look() -> str:
    """Look."""
    return "seen"


def a_board(**settings: Any) -> Pegboard:
    PAID.clear()
    given = Settings.model_validate({"audit_required": True, **settings})
    return Pegboard(settings=given, tools=[pay, look])


async def on_the_writer(board: Pegboard, pragma: str) -> None:
    """A change of the connection that writes, which rests once all is flushed or refused."""
    writer = cast("Any", board)._opened.storage._database._writer
    await asyncio.to_thread(writer._transaction.driver.execute, f"PRAGMA {pragma}")


async def refused(board: Pegboard) -> AuditUnavailable:
    error = (await board.call("pay", {"amount": 0})).error
    assert isinstance(error, AuditUnavailable)
    return error


async def test_a_call_is_proved_before_it_runs(tmp_path: Path) -> None:
    async with a_board(data=tmp_path) as board:
        await board.call("pay", {"amount": 1})
        await board.call("look")
        records = await board.audit.records(principal=LOCAL)
        report = await board.audit.verify(principal=LOCAL)

    kinds = [record.kind for record in records if record.kind in {"start", "call"}]
    assert (kinds, PAID, report.fault) == (["start", "call"], [1], "")


async def test_on_a_full_disk_nothing_runs_that_could_not_be_proved(tmp_path: Path) -> None:
    async with a_board(data=tmp_path) as board:
        await board.flush()
        await on_the_writer(board, "max_page_count = 1")  # never less than there is
        error = None
        for amount in range(1, 200):  # what fits into the last page is proved
            result = await board.call("pay", {"amount": amount})
            if error := result.error:
                break
        seen = await board.call("look")
        again = await refused(board)
        await on_the_writer(board, "max_page_count = 1000000")
        done = await board.call("pay", {"amount": 999})
        starts = await board.audit.records(kind="start", limit=1000, principal=LOCAL)
        report = await board.audit.verify(principal=LOCAL)

    assert isinstance(error, AuditUnavailable)
    assert "its disk is full" in str(again)
    assert (again.nothing_done, again.code) == (True, "audit_unavailable")
    assert (seen.text, done.text) == ("seen", "paid 999")
    assert len(starts) == len(PAID)
    assert report.fault == ""


async def test_a_database_that_can_only_be_read_refuses_over_http_too(tmp_path: Path) -> None:
    async with a_board(data=tmp_path) as board, client_of(board) as client:
        await board.flush()
        await on_the_writer(board, "query_only = 1")
        body = {"name": "pay", "input": {"amount": 1}}
        answer = await client.post("/execute", json=body)
        await on_the_writer(board, "query_only = 0")
        done = await client.post("/execute", json=body)

    assert (answer.status_code, answer.json()["code"]) == (503, "audit_unavailable")
    assert "could not be written to the audit trail" in answer.json()["detail"]
    assert (done.status_code, PAID) == (200, [1])


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_a_postgresql_that_is_stopped_or_read_only_refuses(
    own_server: Any, own_postgres: str
) -> None:
    async with a_board(database=SecretStr(own_postgres)) as board:
        await asyncio.to_thread(own_server.stop)
        stopped = await refused(board)
        await asyncio.to_thread(own_server.start)
        done = await board.call("pay", {"amount": 7})
        _only_read(own_postgres)
        only_read = await refused(board)
        seen = await board.call("look")

    assert "cannot be reached" in str(stopped)
    assert stopped.retry_after == 1.0
    assert "it is read-only" in str(only_read)
    assert (done.text, seen.text, PAID) == ("paid 7", "seen", [7])


def _only_read(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("ALTER DATABASE own SET default_transaction_read_only = on")
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'pegboard'"
        )


async def test_a_key_is_free_again_after_a_refusal(tmp_path: Path) -> None:
    async with a_board(data=tmp_path) as board, client_of(board) as client:
        key = {"Idempotency-Key": "k1"}
        body = {"name": "pay", "input": {"amount": 1}}
        await board.switches.off("writes", principal=LOCAL)
        denied = await client.post("/execute", json=body, headers=key)
        await board.switches.on("writes", principal=LOCAL)
        done = await client.post("/execute", json=body, headers=key)

    assert (denied.status_code, done.status_code, PAID) == (403, 200, [1])


async def test_a_trail_in_memory_can_be_required_where_it_is_on() -> None:
    async with a_board(audit="on") as board:
        done = await board.call("pay", {"amount": 1})
        records = await board.audit.records(kind="start", principal=LOCAL)

    assert (done.text, len(records)) == ("paid 1", 1)


@pytest.mark.parametrize("settings", [{}, {"audit": "off", "data": Path("data")}], ids=str)
def test_without_a_trail_none_can_be_required(settings: dict[str, Any]) -> None:
    wanted = Settings.model_validate({"audit_required": True, **settings})

    with pytest.raises(ConfigError, match=r"^PEGBOARD_AUDIT_REQUIRED: there is no audit trail"):
        create_storage(wanted, redact=None)


@pytest.mark.timeout(60)
async def test_nothing_is_decided_that_could_not_be_proved_but_turning_off(tmp_path: Path) -> None:
    """An approval stays pending and what is off stays off; what is turned off is off at once."""
    async with a_board(data=tmp_path) as board, client_of(board) as client:
        board.registry.apply(replace(board.registry.environment, policy=Policy(ask=("pay",))))
        asked = (await board.call("pay", {"amount": 1})).error
        assert isinstance(asked, ApprovalRequired)
        await client.post("/switches", json={"turn": "off", "kind": "tool", "name": "look"})
        await board.flush()
        await on_the_writer(board, "query_only = 1")
        answers = [
            await client.post(f"/approvals/{asked.approval_id}", json={"decision": "approve"}),
            await client.post("/switches", json={"turn": "on", "kind": "tool", "name": "look"}),
            await client.post(
                "/switches",
                json={"turn": "off", "kind": "tool", "name": "pay"},
                headers={"Idempotency-Key": "k"},
            ),
        ]
        held = [str((await board.call(name, {})).error) for name in ("look", "pay")]
        await on_the_writer(board, "query_only = 0")
        approval = await board.approvals.get(asked.approval_id, principal=LOCAL)
        async with asyncio.timeout(8):
            while True:
                if all(thrown.is_stored for thrown in await board.switches.list(principal=LOCAL)):
                    break
                await asyncio.sleep(0.05)
        await board.approvals.decide(asked.approval_id, "approve", principal=LOCAL)
        await board.switches.on("tool", "look", principal=LOCAL)
        records = [
            json.loads(item.body)
            for item in await board.audit.records(kind="decision", principal=LOCAL)
        ]
        report = await board.audit.verify(principal=LOCAL)
    async with a_board(data=tmp_path) as again:
        after = [thrown.switch.name for thrown in await again.switches.list(principal=LOCAL)]

    assert [(answer.status_code, answer.json().get("code")) for answer in answers] == [
        (503, "audit_unavailable"),
        (503, "audit_unavailable"),
        (200, None),
    ]
    assert answers[2].json()["kept"] is False
    assert all("turned off by the operator" in text for text in held)
    assert approval.state == "pending"
    assert [record["action"] for record in records] == ["approve", "turn_on"]
    assert (after, report.fault) == (["pay"], "")
