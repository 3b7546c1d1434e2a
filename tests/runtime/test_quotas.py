"""Quotas on a board: what models cost counts for the person who asks, and defaults of the file."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import text_of
from tests.runtime.people import found, invite

from pegboard import Pegboard, ToolContext, tool
from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.model_messages import ModelRequest, ModelUsage, UserMessage
from pegboard.core.ports.accounts.quota_store import Quota
from pegboard.core.ports.chat_model import complete
from pegboard.core.principal import Principal
from pegboard.errors import ConfigError, QuotaExceeded, Unavailable
from pegboard.execution.limits.quotas import QuotaMeter
from pegboard.features.conversations import ChatEvent, NewMessage
from pegboard.features.identity.quotas import QuotaSubject
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.accounts.quotas import meter_model
from pegboard.storage.memory.quotas import MemoryQuotas
from pegboard.storage.sql.accounts.quotas import SqlQuotas
from pegboard.testing import ScriptedModel, Turn

COST = QuotaSubject(measure="cost", window="month", person="bob")
AGENT: dict[str, Any] = {
    "tool_id": "helper_v1",
    "name": "Helper",
    "type": "Subagent",
    "effect": "read",
    "input_schema": {"query": "string"},
    "agent_config": {"model": "gpt-4", "tools": ["look"]},
}


@tool(effect="read")
def look(at: str) -> str:
    """Look at something."""
    return at


async def ask(board: Pegboard, text: str, *, principal: Principal) -> list[ChatEvent]:
    """Send a message of a caller, and follow the answer."""
    exchange = await board.conversations.send(NewMessage(text=text), principal=principal)
    following = board.conversations.follow(
        exchange.conversation, until=exchange.id, principal=principal
    )
    return [event async for event in following]


def paid(text: str = "", **calls: str) -> Turn:
    """An answer that costs 40 cents."""
    named = tuple((name, {"at": at}) for name, at in calls.items())
    return Turn(text=text, calls=named, usage=ModelUsage(requests=1, input_tokens=1, cost=0.4))


@pytest.mark.slow
async def test_what_a_model_costs_counts_for_the_person_who_asks() -> None:
    model = ScriptedModel(paid(look="a"), paid("done"), paid("to ada"))
    async with Pegboard(model=model, tools=[look]) as board:
        ada = await found(board)
        bob = await invite(board, ada, "bob", "editor")
        await board.identity.quotas.put(COST, 0.5, principal=ada)

        answered = await ask(board, "look", principal=bob)
        refused = await ask(board, "look", principal=bob)
        other = await ask(board, "look", principal=ada)
        (state,) = await board.identity.quotas.list(principal=bob)

    assert text_of(answered) == "done"
    assert state.state.used == pytest.approx(0.8)
    assert "quota_exceeded" in str(refused)
    assert "The quota of $0.50 of model cost a month of this account is used up" in str(refused)
    assert text_of(other) == "to ada"


@pytest.mark.slow
async def test_an_agent_that_is_a_tool_costs_its_caller_once() -> None:
    model = ScriptedModel(paid("done"), name="gpt-4")
    async with Pegboard(model=model, tools=[look]) as board:
        ada = await found(board)
        bob = await invite(board, ada, "bob", "editor")
        await board.catalogue.register([AGENT], principal=ada)
        await board.identity.quotas.put(COST, 0.3, principal=ada)

        done = await board.call("helper", {"query": "x"}, ToolContext(principal=bob))
        refused = await board.call("helper", {"query": "x"}, ToolContext(principal=bob))
        (state,) = await board.identity.quotas.list(principal=bob)

    assert (done.text, done.is_error) == ("done", False)
    assert "used up: $0.40 used" in refused.text
    assert state.state.used == pytest.approx(0.4)


async def test_a_board_that_closes_while_it_stores_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "board.yaml"
    file.write_text("quotas: {person: {calls_per_day: 2}}\n")
    settings = Settings(board=file, data=tmp_path / "data")
    add, storing = SqlQuotas.add, asyncio.Event()

    async def add_slowly(store: SqlQuotas, usages: Any) -> dict[str, float]:
        total = await add(store, usages)
        storing.set()
        await asyncio.sleep(0.1)  # cancelled here, it is stored and nobody knows
        return total

    monkeypatch.setattr(SqlQuotas, "add", add_slowly)
    async with Pegboard(settings=settings, tools=[look]) as board:
        ctx: ToolContext[Any] = ToolContext(principal=await found(board))
        await board.call("look", {"at": "x"}, ctx)
        await storing.wait()
    async with Pegboard(settings=settings, tools=[look]) as board:
        second = await board.call("look", {"at": "x"}, ctx)
        third = await board.call("look", {"at": "x"}, ctx)

    assert (second.is_error, third.is_error) == (False, True)


async def test_the_board_file_has_defaults_and_a_restart_counts_on(tmp_path: Path) -> None:
    file = tmp_path / "board.yaml"
    file.write_text("quotas: {person: {calls_per_day: 2}}\n")
    settings = Settings(board=file, data=tmp_path / "data")
    async with Pegboard(settings=settings, tools=[look]) as board:
        ctx: ToolContext[Any] = ToolContext(principal=await found(board))
        local = [await board.call("look", {"at": "x"}) for _ in range(3)]
        assert not any(result.is_error for result in local)
        assert not (await board.call("look", {"at": "x"}, ctx)).is_error

    async with Pegboard(settings=settings, tools=[look]) as board:
        second = await board.call("look", {"at": "x"}, ctx)
        third = await board.call("look", {"at": "x"}, ctx)
        file.write_text("quotas: {person: {calls_per_day: 3}}\n")
        await board.reload()
        fourth = await board.call("look", {"at": "x"}, ctx)

    assert not second.is_error
    assert isinstance(third.error, QuotaExceeded)
    assert not fourth.is_error


async def test_a_wrong_default_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "board.yaml"
    file.write_text("quotas:\n  person: {calls_per_day: -1}\n")

    with pytest.raises(ConfigError, match=r"board\.yaml:2"):
        async with Pegboard(file):
            pass


async def test_an_answer_that_fails_holds_nothing_of_a_quota() -> None:
    ada, cost = Principal(id="u_ada", user="u_ada"), ModelUsage(requests=1, cost=0.25)
    store = MemoryQuotas(ClosableLock())
    meter = QuotaMeter(store, is_shared=True)
    await meter.put(Quota(measure="cost", window="day", limit=1.0, person="u_ada"))
    turns = Turn(text="Yes.", usage=cost), Turn(error=Unavailable("gone"))
    model = meter_model(ScriptedModel(*turns), meter, ada)
    request = ModelRequest(messages=(UserMessage(text="?"),))

    await complete(model, request)
    with pytest.raises(Unavailable):
        await complete(model, request)
    await meter.save()

    assert [item.used for item in await store.usage(at=0.0)] == [0.25]
