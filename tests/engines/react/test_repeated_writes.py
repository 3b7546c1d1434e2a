"""Writes of an answer that another one replaces, and what the caller is asked before a second."""

from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import a_board, ask
from tests.features.conversations.test_questions import answer, until

from pegboard import tool
from pegboard.core.model_messages import ToolMessage
from pegboard.core.principal import LOCAL
from pegboard.features.conversations import ChatEvent, NewMessage
from pegboard.runtime import Pegboard, Settings
from pegboard.testing import ScriptedModel, Turn

PAID: list[int] = []


@tool(effect="write")
def pay(number: int) -> str:
    """Pay an order."""
    PAID.append(number)
    return f"order {number} is paid"


@tool(effect="write", idempotent=True)
def mark(number: int) -> str:
    """Mark an order."""
    PAID.append(number)
    return f"order {number} is marked"


@tool(effect="write")
def fail(number: int) -> str:
    """Fail."""
    PAID.append(number)
    raise ValueError(str(number))


def calls(name: str, **arguments: Any) -> Turn:
    return Turn(calls=((name, arguments),))


async def first_answer(board: Pegboard) -> tuple[str, str]:
    """The conversation of an answered message, and that message."""
    PAID.clear()
    sent = await board.conversations.send(NewMessage(text="pay order 7"), principal=LOCAL)
    following = board.conversations.follow(sent.conversation, until=sent.id, principal=LOCAL)
    async with aclosing(following) as events:
        await until(events, "done")
    return sent.conversation, sent.id


async def answer_again(board: Pegboard, action: str, text: str = "") -> list[ChatEvent]:
    """The events of an answer that replaces the first one, whose question is answered so."""
    conversation, replaced = await first_answer(board)
    new = NewMessage(text=text, conversation=conversation, instead_of=replaced)
    sent = await board.conversations.send(new, principal=LOCAL)
    seen: list[ChatEvent] = []
    async for event in board.conversations.follow(conversation, until=sent.id, principal=LOCAL):
        seen.append(event)
        if event.event == "question_required":
            await answer(board, event, action)
    return seen


def data_of(events: list[ChatEvent], kind: str) -> list[Any]:
    return [event.data for event in events if event.event == kind]


TURNS = (calls("pay", number=7), Turn(text="Paid."), calls("pay", number=7), Turn(text="Well."))


@pytest.mark.parametrize("text", ["", "pay order 7, please"], ids=["tried again", "edited"])
async def test_a_second_write_is_made_only_if_the_caller_agrees(tmp_path: Path, text: str) -> None:
    async with a_board(tmp_path, *TURNS, tools=(pay,)) as (board, _):
        events = await answer_again(board, "accept", text)

    (asked,) = data_of(events, "question_required")
    assert asked["tool"] == "pay"
    assert "second time" in asked["text"]
    assert '{"number":7}' in asked["text"]
    assert [end["state"] for end in data_of(events, "tool_finished")] == ["completed"]
    assert PAID == [7, 7]


async def test_a_second_write_that_the_caller_refuses_is_not_made(tmp_path: Path) -> None:
    async with a_board(tmp_path, *TURNS, tools=(pay,)) as (board, model):
        events = await answer_again(board, "decline")
        told = [item.text for item in model.requests[-1].messages if isinstance(item, ToolMessage)]

    (end,) = data_of(events, "tool_finished")
    assert (end["tool"], end["state"], end["error_code"]) == ("pay", "failed", "access_denied")
    assert "not agreed to a second one" in told[-1]
    assert PAID == [7]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (calls("pay", number=7), calls("pay", number=8)),
        (calls("mark", number=7), calls("mark", number=7)),
        (calls("fail", number=7), calls("fail", number=7)),
    ],
    ids=["other arguments", "an idempotent tool", "one that has failed"],
)
async def test_another_call_is_not_asked_about(tmp_path: Path, first: Turn, second: Turn) -> None:
    turns = (first, Turn(text="Done."), second, Turn(text="Done."), Turn(text="Done."))
    async with a_board(tmp_path, *turns, tools=(pay, mark, fail)) as (board, _):
        events = await answer_again(board, "decline")

    assert data_of(events, "question_required") == []
    assert len(PAID) == 2


async def test_a_write_of_the_next_message_is_not_asked_about(tmp_path: Path) -> None:
    turns = (*TURNS[:2], Turn(text="No."), calls("pay", number=7), Turn(text="Paid."))
    async with a_board(tmp_path, *turns, tools=(pay,)) as (board, _):
        events = await answer_again(board, "decline")
        conversation = events[0].data["conversation"]
        events, _ = await ask(board, "pay it again", conversation=conversation)

    assert data_of(events, "question_required") == []
    assert PAID == [7, 7]


async def test_a_call_through_a_meta_tool_is_the_call_of_its_tool(tmp_path: Path) -> None:
    inner = Turn(calls=(("call_tool", {"name": "pay", "arguments": {"number": 7}}),))
    settings = Settings.from_environment().replace(max_listed_tools=0, selected_tools=0)
    model = ScriptedModel(inner, TURNS[1], inner, TURNS[3], TURNS[3])
    async with Pegboard(None, tools=(pay,), model=model, settings=settings) as board:
        events = await answer_again(board, "decline")

    assert [asked["tool"] for asked in data_of(events, "question_required")] == ["pay"]
    assert PAID == [7]
