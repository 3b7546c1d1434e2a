"""What the model of a board is shown over the messages of a conversation, and after a restart."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import json
from tests.assembly.made import NAMES, many_tools, names_of
from tests.engines.dag.made import Team, a_step
from tests.features.conversations.made import ask
from tests.runtime.people import found

from pegboard.core.model_messages import ModelRequest, ModelUsage, UserMessage
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.principal import LOCAL
from pegboard.features.conversations import NewMessage
from pegboard.features.identity.quotas import QuotaSubject
from pegboard.runtime import Pegboard, Settings
from pegboard.testing import ScriptedModel, Turn

BOARD = """
sources: []
policy: {ask: [photo__delete]}
always_listed: [tax__create]
agents:
  - {name: music, tools: ["song__*", "p*"], always_listed: [poem__delete]}
  - {name: travel, tools: [flight__create, hotel__create]}
"""
ANSWER = Turn(text="Done.")


@asynccontextmanager
async def a_board(folder: Path, *turns: Any, **known: Any) -> AsyncGenerator[Any]:
    (folder / "board.yaml").write_text(BOARD)
    model = ScriptedModel(*turns)
    registry = many_tools()
    async with Pegboard(folder / "board.yaml", model=model, tools=list(registry), **known) as board:
        yield board, model


def prefix(request: ModelRequest) -> bytes:
    """What the provider reads from its cache where a request begins like this one."""
    return json.encode(request.tools)


async def test_a_conversation_keeps_its_list_and_its_messages_to_the_byte(tmp_path: Path) -> None:
    async with a_board(tmp_path, ANSWER, ANSWER, ANSWER) as (board, model):
        _, id_ = await ask(board, "Create an invoice.")
        await ask(board, "Delete the parcel.", conversation=id_)
        await ask(board, "Thanks!", conversation=id_)
        _, exchanges = await board.conversations.get(id_, principal=LOCAL)
    first, second, third = model.requests

    listed = names_of(first.tools)
    assert listed[0] == "tax__create"
    assert {"invoice__create", "find_tools", "call_tool"} <= set(listed)
    assert prefix(first) == prefix(second) == prefix(third)
    assert second.messages[: len(first.messages)] == first.messages
    assert third.messages[: len(second.messages)] == second.messages
    note = second.messages[-1]
    assert isinstance(note, UserMessage)
    assert note.is_note
    assert '"parcel__delete"' in note.text
    assert exchanges[1].messages[0]["is_note"] is True


async def test_an_unlisted_tool_is_found_and_called(tmp_path: Path) -> None:
    turns = [
        Turn(calls=(("find_tools", {"query": "delete a poem", "limit": 1}),)),
        Turn(calls=(("call_tool", {"name": "poem__delete"}),), expects=("poem__delete",)),
        Turn(text="Gone.", expects=("poem__delete",)),
    ]
    async with a_board(tmp_path, *turns) as (board, model):
        events, _ = await ask(board, "Create an invoice.")
        model.assert_exhausted()
        records = (await board.history.calls(HistoryQuery())).calls

    started = [event.data["tool"] for event in events if event.event == "tool_started"]
    assert started == ["find_tools", "poem__delete"]
    assert [record["tool"] for record in records] == ["poem__delete"]


async def test_an_approval_of_call_tool_is_that_of_the_inner_call(tmp_path: Path) -> None:
    call = ("call_tool", {"name": "photo__delete", "arguments": {"id": 7}})
    seen: list[Any] = []
    async with a_board(
        tmp_path, Turn(calls=(call,)), Turn(text="Gone.", expects=("photo__delete",))
    ) as (board, _):
        exchange = await board.conversations.send(
            NewMessage(text="Create an invoice."), principal=LOCAL
        )
        async for event in board.conversations.follow(
            exchange.conversation, until=exchange.id, principal=LOCAL
        ):
            seen.append((event.event, event.data.get("tool"), event.data.get("arguments")))
            if event.event == "approval_required":
                await board.approvals.decide(
                    str(event.data["approval"]), "approve", principal=LOCAL
                )
        _, exchanges = await board.conversations.get(exchange.conversation, principal=LOCAL)

        [approval] = (await board.approvals.list(principal=LOCAL)).approvals

    assert ("approval_required", "photo__delete", {"id": 7}) in seen
    assert ("tool_started", "photo__delete", {"id": 7}) in seen
    assert approval.tool == "photo__delete"
    assert exchanges[0].answer == "Gone."


async def test_another_agent_has_a_list_of_its_own(tmp_path: Path) -> None:
    async with a_board(tmp_path, ANSWER, ANSWER, ANSWER) as (board, model):
        _, id_ = await ask(board, "Create an invoice.")
        await ask(board, "Create a song.", conversation=id_, agent="music")
        await ask(board, "Book a hotel.", conversation=id_, agent="travel")

    _, music, travel = map(names_of, (request.tools for request in model.requests))
    assert {name.split("__")[0] for name in music[:-2]} <= {"song", "parcel", "photo", "poem"}
    assert travel == ["flight__create", "hotel__create", "find_tools", "call_tool"]


@pytest.mark.slow
async def test_a_list_survives_a_restart(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with a_board(tmp_path, ANSWER, data=data) as (board, model):
        _, id_ = await ask(board, "Create an invoice.")
    async with a_board(tmp_path, ANSWER, data=data) as (board, again):
        await ask(board, "Delete the parcel.", conversation=id_)

    assert prefix(again.requests[0]) == prefix(model.requests[0])


async def test_a_withdrawn_tool_makes_the_list_anew(tmp_path: Path) -> None:
    async with a_board(tmp_path, ANSWER, ANSWER) as (board, model):
        _, id_ = await ask(board, "Create an invoice.")
        await board.switches.off("tool", "invoice__create", principal=LOCAL)
        await ask(board, "Create an invoice.", conversation=id_)

    assert "invoice__create" in names_of(model.requests[0].tools)
    assert "invoice__create" not in names_of(model.requests[1].tools)
    assert len(NAMES) > 12


async def test_a_goal_goes_on_with_the_list_of_its_conversation(tmp_path: Path) -> None:
    team = Team([[a_step("a"), a_step("b")]])
    model_turns = [ANSWER, *[team.answer] * 5, ANSWER]
    async with a_board(tmp_path, *model_turns) as (board, model):
        model.supports_schema = True
        _, id_ = await ask(board, "Create an invoice.")
        await ask(board, "Delete the parcel.", conversation=id_, engine="dag")
        await ask(board, "Thanks!", conversation=id_, engine="react")
        _, exchanges = await board.conversations.get(id_, principal=LOCAL)
    first, last = model.requests[0], model.requests[-1]

    assert [item["role"] for item in exchanges[1].messages] == ["user", "user", "assistant"]
    assert [item["is_note"] for item in exchanges[1].messages[:2]] == [True, True]
    assert prefix(first) == prefix(last)
    assert any('"parcel__delete"' in message.text for message in last.messages)


@pytest.mark.parametrize(
    ("wanted", "setting", "expected"),
    [(False, True, 2), (True, False, 1), (True, None, 2), (False, None, 1)],
)
async def test_a_model_re_orders_where_the_file_or_before_it_the_setting_says_so(
    wanted: bool, setting: bool | None, expected: int, tmp_path: Path
) -> None:
    order = Turn(text='{"tools": ["parcel__delete"]}')
    turns = (order, ANSWER) if expected == 2 else (ANSWER,)
    settings = Settings(rerank_tools=setting, selected_tools=1)
    async with a_board(tmp_path, *turns, settings=settings) as (board, model):
        (tmp_path / "board.yaml").write_text(f"{BOARD}rerank_tools: {str(wanted).lower()}\n")
        await board.reload()
        await ask(board, "Create or delete a parcel.")
        model.assert_exhausted()

    listed = names_of(model.requests[-1].tools)
    assert listed[1] == ("parcel__delete" if expected == 2 else "parcel__create")


async def test_the_cost_of_an_order_counts_for_the_quota_of_the_person(tmp_path: Path) -> None:
    used = ModelUsage(requests=1, input_tokens=1, cost=0.4)
    turns = [Turn(text='{"tools": []}', usage=used), Turn(text="Done.", usage=used)]
    async with a_board(tmp_path, *turns, settings=Settings(rerank_tools=True)) as (board, _):
        ada = await found(board)
        subject = QuotaSubject(measure="cost", window="month", person="ada")
        await board.identity.quotas.put(subject, 5.0, principal=ada)
        message = NewMessage(text="Create or delete a parcel.")
        sent = await board.conversations.send(message, principal=ada)
        events = board.conversations.follow(sent.conversation, until=sent.id, principal=ada)
        [done] = [event.data async for event in events if event.event == "done"]
        (state,) = await board.identity.quotas.list(principal=ada)

    assert state.state.used == pytest.approx(0.8)
    assert done["usage"]["cost"] == pytest.approx(0.8)
