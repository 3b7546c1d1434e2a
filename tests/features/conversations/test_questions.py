"""What a tool asks in a chat, and who may answer it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import a_board

from pegboard import tool
from pegboard.core.context import ToolContext
from pegboard.core.elicitation import Question
from pegboard.core.event import BoardChanged, Event
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    AlreadyAnswered,
    ConversationNotFound,
    ElicitationUnavailable,
    InvalidRequest,
    RunNotFound,
)
from pegboard.features.conversations import ChatEvent, NewMessage
from pegboard.runtime import Pegboard
from pegboard.testing import Turn

SIZE = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}


@tool(effect="write")
async def order(ctx: ToolContext[Any]) -> str:
    """Order a shirt; ask for its size."""
    answer = await ctx.ask(Question(message="Which size?", schema=SIZE))
    return f"{answer.action} {dict(answer.content)}"


@tool(effect="write")
async def shop(ctx: ToolContext[Any]) -> str:
    """Let another tool order."""
    return (await ctx.call("order")).text


@tool(effect="write")
async def pester(ctx: ToolContext[Any]) -> str:
    """Ask and take back, again and again."""
    asked = 0
    with suppress(ElicitationUnavailable):
        while True:
            asking = asyncio.create_task(ctx.ask(Question(message="Now?", schema={})))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            asking.cancel()
            with suppress(asyncio.CancelledError):
                await asking
            asked += 1
    return str(asked)


@tool(effect="write", timeout=0.2)
async def hurry(ctx: ToolContext[Any]) -> str:
    """Have little time; ask."""
    return (await ctx.ask(Question(message="Sure?"))).action


TOOLS = (order, shop, hurry, pester)


def calls(name: str) -> Turn:
    return Turn(calls=((name, {}),))


@asynccontextmanager
async def a_chat(
    folder: Path, *turns: Any, **known: Any
) -> AsyncGenerator[tuple[Pegboard, AsyncGenerator[ChatEvent]]]:
    """A board that answers a message with these turns, and the events of its answer."""
    async with a_board(folder, *turns, tools=TOOLS, **known) as (board, _):
        sent = await board.conversations.send(NewMessage(text="A shirt."), principal=LOCAL)
        following = board.conversations.follow(sent.conversation, until=sent.id, principal=LOCAL)
        async with aclosing(following) as events:
            yield board, events


async def until(events: AsyncGenerator[ChatEvent], kind: str) -> ChatEvent:
    """The next event of a kind."""
    async for event in events:
        if event.event == kind:
            return event
    raise AssertionError(f"no {kind}")


async def answer(board: Pegboard, asked: ChatEvent, action: Any, content: Any = None) -> str:
    data = asked.data
    return await board.conversations.questions.answer(
        data["conversation"], data["question"], action, content, principal=LOCAL
    )


async def test_the_answer_of_a_person_reaches_the_tool_that_asks(tmp_path: Path) -> None:
    async with a_chat(tmp_path, calls("order"), Turn(text="Done.")) as (board, events):
        asked = await until(events, "question_required")
        state = await answer(board, asked, "accept", {"size": 7})
        settled = await until(events, "question_settled")
        finished = await until(events, "tool_finished")
        await until(events, "done")

    assert asked.data["text"] == "Which size?"
    assert (asked.data["tool"], asked.data["source"]) == ("order", "")
    assert asked.data["schema"]["properties"] == {"size": {"type": "integer"}}
    assert asked.data["expires_at"] > asked.data["at"]
    assert state == "accepted"
    assert settled.data["question"] == asked.data["question"]
    assert (settled.data["state"], settled.data["content"]) == ("accepted", {"size": 7})
    assert finished.data["text"] == "accept {'size': 7}"


async def test_stopping_the_answer_settles_its_question(tmp_path: Path) -> None:
    async with a_chat(tmp_path, calls("order")) as (board, events):
        asked = await until(events, "question_required")
        await board.conversations.stop(asked.data["conversation"], principal=LOCAL)
        settled = await until(events, "question_settled")
        done = await until(events, "done")

    assert (settled.data["state"], done.data["state"]) == ("cancelled", "cancelled")


async def test_a_second_answer_and_one_that_does_not_fit_are_refused(tmp_path: Path) -> None:
    async with a_chat(tmp_path, calls("order"), Turn(text="Done.")) as (board, events):
        asked = await until(events, "question_required")
        with pytest.raises(InvalidRequest, match="size"):
            await answer(board, asked, "accept", {"size": "large"})
        with pytest.raises(InvalidRequest):
            await answer(board, asked, "accept", {"size": 1, "colour": "red"})
        for huge in (10**400, 2**60):
            with pytest.raises(InvalidRequest, match="large"):
                await answer(board, asked, "accept", {"size": huge})
        run_id = await run_of(board, asked)
        shown = (await board.runs.get(run_id, principal=LOCAL)).questions
        await answer(board, asked, "accept", {"size": 1})
        with pytest.raises(AlreadyAnswered):
            await answer(board, asked, "decline")
        await until(events, "done")
        after = (await board.runs.get(run_id, principal=LOCAL)).questions

    assert [item.id for item in shown] == [asked.data["question"]]
    assert after == ()


async def test_another_caller_gets_what_a_question_that_is_not_there_answers(
    tmp_path: Path,
) -> None:
    other = Principal(id="mallory", tenant="elsewhere")
    async with a_chat(tmp_path, calls("order")) as (board, events):
        asked = await until(events, "question_required")
        conversation, question = asked.data["conversation"], asked.data["question"]
        answers = board.conversations.questions
        with pytest.raises(ConversationNotFound):
            await answers.answer(conversation, question, "decline", principal=other)
        with pytest.raises(ConversationNotFound):
            await answers.answer(conversation, "q_0", "decline", principal=LOCAL)
        with pytest.raises(RunNotFound):
            await board.runs.questions.answer(
                await run_of(board, asked), question, "decline", principal=other
            )


async def test_an_answer_is_audited_without_its_content(tmp_path: Path) -> None:
    class Heard:
        def __init__(self) -> None:
            self.events: list[Event] = []

        def on_event(self, event: Event) -> None:
            self.events.append(event)

    heard = Heard()
    async with a_chat(tmp_path, calls("order"), Turn(text="Done.")) as (board, events):
        board.registry.environment.emitter.add(heard)
        asked = await until(events, "question_required")
        await answer(board, asked, "accept", {"size": 7})
        await until(events, "done")

    changes = [event for event in heard.events if isinstance(event, BoardChanged)]
    answered = next(event for event in changes if event.action == "answered")
    assert answered.detail["answer"] == "accept"
    assert "content" not in answered.detail


async def test_a_restart_tells_that_a_question_is_lost_and_repeats_no_write(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    async with a_chat(tmp_path, calls("order"), data=data) as (board, events):
        asked = await until(events, "question_required")
        run_id = await run_of(board, asked)

    async with a_board(tmp_path, data=data, tools=TOOLS) as (board, _):
        await board.runs.follow()
        view = await board.runs.wait(run_id, principal=LOCAL)
        stored = [event async for event in _stored(board, run_id)]

    settled = [event for event in stored if event.kind == "question_settled"]
    assert [event.data["state"] for event in settled][:1] == ["lost"]
    assert len([event for event in stored if event.kind == "question_required"]) == 1
    assert [item.kind for item in view.result.pending] == ["unknown"]
    assert view.questions == ()


async def _stored(board: Pegboard, run_id: str) -> AsyncGenerator[Any]:
    last = await board.runs.last_event(run_id, principal=LOCAL)
    async for event in board.runs.events(run_id, principal=LOCAL):
        yield event
        if event.sequence >= last:
            return


async def run_of(board: Pegboard, asked: ChatEvent) -> str:
    """The run that answers a message."""
    _, exchanges = await board.conversations.get(asked.data["conversation"], principal=LOCAL)
    return exchanges[-1].run_id
