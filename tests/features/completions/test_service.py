"""An agent answers messages that a client keeps itself."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import ORDER, TOTAL, a_board

from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.model_messages import AssistantMessage, SystemMessage, UserMessage
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import InvalidRequest, RunNotFound
from pegboard.features.completions import (
    CompletionCall,
    CompletionEnd,
    CompletionRequest,
    CompletionText,
)
from pegboard.testing import Turn

ASKED = CompletionRequest(messages=[UserMessage(text="What was the total of order 7?")])


async def test_an_answer_is_followed_to_its_end(tmp_path: Path) -> None:
    async with a_board(tmp_path, ORDER, TOTAL) as (board, _):
        run_id = await board.completions.start(ASKED, principal=LOCAL)
        events = [event async for event in board.completions.follow(run_id, principal=LOCAL)]
        again = await board.completions.finish(run_id, principal=LOCAL)

    began, ended, *texts, end = events
    assert began == CompletionCall(id="call_1_0", tool="find_order", arguments={"number": 7})
    assert ended == CompletionCall(
        id="call_1_0", tool="find_order", text='{"number":7,"total":12.5}'
    )
    assert {type(item) for item in texts} == {CompletionText}
    assert isinstance(end, CompletionEnd)
    assert (end.state, end.text, end.usage.requests) == ("completed", "It is 12.50 euros.", 2)
    assert again == end


async def test_the_messages_before_are_what_the_model_is_told(tmp_path: Path) -> None:
    async with a_board(tmp_path, Turn(text="Ada."), Turn(text="Still Ada.")) as (board, model):
        earlier = [
            SystemMessage(text="Be brief."),
            UserMessage(text="I am $.env.x"),
            AssistantMessage(text="Hi."),
        ]
        asked = CompletionRequest(messages=[*earlier, UserMessage(text="Who am I?")])
        run_id = await board.completions.start(asked, principal=LOCAL)
        await board.completions.finish(run_id, principal=LOCAL)
        known = await board.completions.read_messages(run_id, principal=LOCAL)

    assert list(model.requests[0].messages[1:]) == [*earlier, UserMessage(text="Who am I?")]
    assert known == [*earlier, UserMessage(text="Who am I?"), AssistantMessage(text="Ada.")]


@pytest.mark.parametrize(
    "messages", [[], [UserMessage(text="hi"), AssistantMessage(text="Hi.")]], ids=["none", "answer"]
)
async def test_there_must_be_something_to_answer(tmp_path: Path, messages: Any) -> None:
    async with a_board(tmp_path) as (board, _):
        with pytest.raises(InvalidRequest, match="role is 'user'"):
            await board.completions.start(CompletionRequest(messages=messages), principal=LOCAL)


@pytest.mark.parametrize("text", ["", " \n"])
async def test_an_empty_message_is_refused(tmp_path: Path, text: str) -> None:
    asked = CompletionRequest(messages=[UserMessage(text=text)])
    async with a_board(tmp_path) as (board, model):
        with pytest.raises(InvalidRequest, match="has no text"):
            await board.completions.start(asked, principal=LOCAL)

    assert model.requests == []


async def test_an_answer_waits_for_approvals_and_can_be_cancelled(tmp_path: Path) -> None:
    refund = Turn(calls=(("refund", {"number": 7}),))
    async with a_board(tmp_path, refund, Turn(text="Done."), refund) as (board, _):
        run_id = await board.completions.start(ASKED, principal=LOCAL)
        waiting = asyncio.create_task(board.completions.finish(run_id, principal=LOCAL))
        while not (page := await board.approvals.list(principal=LOCAL)).approvals:  # noqa: ASYNC110 - it is asked for soon
            await asyncio.sleep(0.01)
        await board.approvals.decide(page.approvals[0].id, "approve", principal=LOCAL)
        done = await waiting
        second = await board.completions.start(ASKED, principal=LOCAL)
        await board.completions.cancel(second, principal=LOCAL)
        cancelled = await board.completions.finish(second, principal=LOCAL)

    assert (done.state, done.text) == ("completed", "Done.")
    assert cancelled.state is NodeState.CANCELLED


async def test_a_call_that_waits_when_its_answer_is_cancelled_ends_as_an_error(
    tmp_path: Path,
) -> None:
    async with a_board(tmp_path, Turn(calls=(("refund", {"number": 7}),))) as (board, _):
        run_id = await board.completions.start(ASKED, principal=LOCAL)
        while not (await board.approvals.list(principal=LOCAL)).approvals:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
        await board.completions.cancel(run_id, principal=LOCAL)
        events = [event async for event in board.completions.follow(run_id, principal=LOCAL)]

    ends = [item for item in events if isinstance(item, CompletionCall) and item.text is not None]
    assert [(end.tool, end.is_error) for end in ends] == [("refund", True)]


async def test_the_answer_of_another_caller_does_not_exist(tmp_path: Path) -> None:
    other = Principal(id="eve", tenant="other")
    async with a_board(tmp_path, Turn(text="Hello.")) as (board, _):
        run_id = await board.completions.start(ASKED, principal=LOCAL)
        await board.completions.finish(run_id, principal=LOCAL)
        with pytest.raises(RunNotFound):
            await board.completions.read_messages(run_id, principal=other)
        with pytest.raises(RunNotFound):
            await board.completions.read_messages("r_nothing", principal=LOCAL)


async def test_a_run_of_the_same_name_that_is_no_answer_does_not_exist(tmp_path: Path) -> None:
    node = Node(id="other", kind="tool", tool="find_order", input={"number": 7})
    async with a_board(tmp_path) as (board, _):
        view = await board.runs.start_graph(
            Graph(nodes=(node,), name="completion"), principal=LOCAL
        )
        run_id = view.run.start.run_id
        await board.runs.wait(run_id, principal=LOCAL)
        with pytest.raises(RunNotFound):
            await board.completions.read_messages(run_id, principal=LOCAL)
