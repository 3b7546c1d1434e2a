"""What a tool asks while a run calls it, and how long it waits."""

import asyncio
from pathlib import Path

import pytest
from tests.features.conversations.test_questions import a_chat, answer, calls, run_of, until

from pegboard.core.principal import LOCAL
from pegboard.errors import AlreadyAnswered
from pegboard.testing import Turn


async def test_no_time_of_a_call_passes_while_it_asks(tmp_path: Path) -> None:
    async with a_chat(tmp_path, calls("hurry"), Turn(text="Done.")) as (board, events):
        asked = await until(events, "question_required")
        await asyncio.sleep(0.5)  # more than the tool has
        await answer(board, asked, "accept")
        finished = await until(events, "tool_finished")

    assert finished.data["text"] == "accept"


async def test_a_tool_within_a_tool_asks_under_its_own_name(tmp_path: Path) -> None:
    async with a_chat(tmp_path, calls("shop"), Turn(text="Done.")) as (board, events):
        asked = await until(events, "question_required")
        await answer(board, asked, "decline")
        finished = await until(events, "tool_finished")

    assert asked.data["tool"] == "order"
    assert finished.data["text"] == "decline {}"


async def test_a_question_without_an_answer_expires(tmp_path: Path) -> None:
    async with a_chat(tmp_path, calls("order"), Turn(text="Done."), wait=0.05) as (board, events):
        asked = await until(events, "question_required")
        settled = await until(events, "question_settled")
        finished = await until(events, "tool_finished")
        with pytest.raises(AlreadyAnswered):
            await board.runs.questions.answer(
                await run_of(board, asked), asked.data["question"], "decline", principal=LOCAL
            )

    assert settled.data["state"] == "expired"
    assert finished.data["text"] == "cancel {}"


async def test_a_tool_that_asks_and_takes_back_without_end_is_refused(tmp_path: Path) -> None:
    async with a_chat(tmp_path, calls("pester"), Turn(text="Done.")) as (_, events):
        seen = [event async for event in events]

    asked = [event for event in seen if event.event == "question_required"]
    settled = [event.data["state"] for event in seen if event.event == "question_settled"]
    assert len(asked) == 50
    assert settled == ["lost"] * 50
