"""Several servers decide and use the approvals of one database; nobody gets around them."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.storage.conftest import postgres, postgres_server

from pegboard import ToolContext, ToolRegistry, tool
from pegboard.core.event import ApprovalChanged, Event
from pegboard.core.ports.approval_store import Approval, ApprovalQuery
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import ApprovalDecided, ApprovalRequired
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.features.approvals import Approvals
from pegboard.features.approvals.service import Decision
from pegboard.storage import Storage, open_storage

__all__ = ["postgres", "postgres_server"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]
ADA = Principal(id="ada", tenant="acme")
PAID: list[int] = []


@tool(effect="admin")
async def refund(order: int) -> str:
    """Refund an order."""
    PAID.append(order)
    return f"refunded {order}"


class Heard:
    def __init__(self) -> None:
        self.decided: list[str] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, ApprovalChanged) and event.by and event.state != "used":
            self.decided.append(event.state)


class Server:
    """A registry over the shared approvals."""

    def __init__(self, storage: Storage, heard: Heard) -> None:
        kit = CallEnvironment(approvals=storage.approvals, emitter=Emitter([heard]))
        self.registry = ToolRegistry([refund], environment=kit)
        self.approvals = Approvals(self.registry)

    async def call(self, order: int) -> Any:
        ctx: ToolContext[Any] = ToolContext(principal=ADA)
        return await self.registry.call("refund", {"order": order}, ctx)

    async def asked(self, order: int) -> str:
        error = (await self.call(order)).error
        assert isinstance(error, ApprovalRequired)
        return error.approval_id


@pytest.fixture(params=["sqlite", "postgres"])
async def servers(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[Server, Server, Heard, Any]]:
    """Two servers on one database, and a hand that changes its rows behind their backs."""
    PAID.clear()
    heard = Heard()
    if request.param == "postgres":
        place = request.getfixturevalue("postgres")
        async with open_storage(place) as one, open_storage(place) as other:
            yield Server(one, heard), Server(other, heard), heard, _hand(place)
        return
    async with open_storage(tmp_path) as one:
        yield Server(one, heard), Server(one, heard), heard, _hand(tmp_path)


def _hand(place: Path | str) -> Any:
    def change(statement: str) -> None:
        if isinstance(place, str):
            with psycopg.connect(place) as connection:
                connection.execute(statement.encode())
            return
        with sqlite3.connect(place / "pegboard.db") as connection:
            connection.execute(statement)
        connection.close()

    return change


async def _tried(*work: Any) -> list[Any]:
    tasks = [asyncio.ensure_future(item) for item in work]
    await asyncio.wait(tasks)
    return [task.exception() or task.result() for task in tasks]


Servers = tuple[Server, Server, Heard, Any]


async def test_of_decisions_at_once_one_holds_and_one_is_told(servers: Servers) -> None:
    one, other, heard, _ = servers
    for order in range(10):
        approval = await one.asked(order)
        decisions: tuple[Decision, ...] = ("approve", "deny")
        work = [
            each.approvals.decide(approval, d, principal=LOCAL)
            for each in (one, other)
            for d in decisions
        ]
        outcomes = await _tried(*work)
        kept = await other.approvals.get(approval, principal=LOCAL)

        won = [item for item in outcomes if isinstance(item, Approval)]
        assert [type(item) for item in outcomes].count(ApprovalDecided) == 3
        assert [item.state for item in won] == [kept.state] == [heard.decided[-1]]
    assert len(heard.decided) == 10


async def test_of_calls_at_once_one_runs(servers: Servers) -> None:
    one, other, _, _ = servers
    await one.approvals.decide(await other.asked(1), "approve", principal=LOCAL)
    await _tried(*(server.call(1) for server in (one, other) for _ in range(5)))

    assert PAID == [1]


@pytest.mark.parametrize(
    "forged",
    [
        pytest.param("""'"order":2', '"order":3'""", id="other arguments"),
        pytest.param("""'"edited_digest":"', '"edited_digest":"0'""", id="another digest"),
    ],
)
async def test_edited_arguments_that_somebody_changed_run_nothing(
    servers: Servers, forged: str
) -> None:
    one, other, _, change = servers
    approval = await one.asked(1)
    await one.approvals.decide(approval, "edit", arguments={"order": 2}, principal=LOCAL)
    change(f"UPDATE approvals SET body = replace(body, {forged})")
    result = await other.call(1)

    assert result.error.code == "approval_required"
    assert PAID == []


async def test_an_approval_is_good_for_no_other_call(servers: Servers) -> None:
    one, other, _, _ = servers
    await one.approvals.decide(await one.asked(1), "approve", principal=LOCAL)

    assert (await other.call(2)).error.code == "approval_required"
    assert PAID == []


async def test_thousands_that_wait_are_listed_once_each(servers: Servers) -> None:
    one, other, _, _ = servers
    store = one.registry.environment.approvals
    async with asyncio.TaskGroup() as group:
        for number in range(2_000):
            approval = Approval(
                id=f"a{number}", digest="d", tool="refund", principal="ada", tenant="acme",
                created_at=float(number // 7),
            )  # fmt: skip
            group.create_task(store.ask(approval))
            if not number % 500:
                await asyncio.sleep(0.05)
    seen: list[str] = []
    query = ApprovalQuery(state="pending", limit=200)
    while True:
        page = await other.approvals.list(query, principal=LOCAL)
        seen += [approval.id for approval in page.approvals]
        if not page.next_cursor:
            break
        query = ApprovalQuery(state="pending", limit=200, cursor=page.next_cursor)
        await other.approvals.decide(
            seen[-1], "deny", principal=LOCAL
        )  # what is decided meanwhile skips nothing

    assert len(seen) == 2_000
    assert len(set(seen)) == 2_000
