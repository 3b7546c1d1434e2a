"""The text of an answer that was stopped or has failed."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from tests.features.conversations.made import ORDER, a_board, ask, find_order

from pegboard.core.model_messages import (
    AssistantMessage,
    ModelPart,
    ModelRequest,
    ModelResponse,
    UserMessage,
)
from pegboard.core.ports.run_store import RunEvent
from pegboard.core.principal import LOCAL
from pegboard.errors import Unavailable
from pegboard.features.conversations import NewMessage
from pegboard.features.conversations.unfinished_text import read_unfinished_text
from pegboard.features.conversations.views import render_markdown
from pegboard.testing import ScriptedModel, Turn

HALF = "Order 7 costs"


class HaltingModel(ScriptedModel):
    """A model that never comes to the end of half an answer."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        async for part in super().stream(request):
            if isinstance(part, ModelResponse) and part.message.text == HALF:
                await asyncio.Event().wait()
            yield part


class BreakingModel(ScriptedModel):
    """A model whose connection breaks in the middle of half an answer."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        async for part in super().stream(request):
            if isinstance(part, ModelResponse) and part.message.text == HALF:
                raise Unavailable("the connection broke")
            yield part


@pytest.mark.parametrize(
    ("kind", "attempts", "state"),
    [(HaltingModel, 1, "cancelled"), (BreakingModel, 2, "failed")],
    ids=["stopped", "failed"],
)
async def test_the_text_so_far_is_kept_exported_and_shown_to_the_model(
    tmp_path: Path, kind: type[ScriptedModel], attempts: int, state: str
) -> None:
    turns = (ORDER, *[Turn(text=HALF)] * attempts, Turn(text="12.50 euros."))
    async with a_board(tmp_path, *turns, kind=kind, tools=(find_order,)) as (board, model):
        service = board.conversations
        sent = await service.send(NewMessage(text="What is it?"), principal=LOCAL)
        id_ = sent.conversation
        async for event in service.follow(id_, until=sent.id, principal=LOCAL):
            if event.event == "text_delta":
                break
        await service.stop(id_, principal=LOCAL)
        events = [event async for event in service.follow(id_, until=sent.id, principal=LOCAL)]
        conversation, (ended,) = await service.get(id_, principal=LOCAL)
        await ask(board, "Go on.", conversation=id_)

    shown = [
        m.text for m in model.requests[-1].messages if isinstance(m, UserMessage | AssistantMessage)
    ]
    assert (ended.state, ended.answer, events[-1].data["text"]) == (state, HALF, HALF)
    assert [item["role"] for item in ended.messages] == ["assistant", "tool", "assistant"]
    assert f"## Answer\n\n{HALF}\n" in render_markdown(conversation, [ended])
    assert shown == ["What is it?", "", HALF, "Go on."]


def an_event(kind: str, node: str = "agent", **data: object) -> RunEvent:
    return RunEvent(kind=kind, at=0.0, data={"node": node, **data})


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ([], ""),
        ([an_event("step", turn=1), an_event("text_delta", text="a ")], ""),
        ([an_event("step", turn=2), an_event("step", turn=2)], ""),
        (
            [
                an_event("step", turn=2),
                an_event("text_delta", text="void"),
                an_event("step", turn=2),
                an_event("text_delta", text="a "),
                an_event("text_delta", "agent/t1-0/delegate/agent", text="not this"),
                an_event("text_delta", text="b"),
            ],
            "a b",
        ),
    ],
    ids=["none", "a-finished-turn", "no-text", "an-unfinished-turn"],
)
async def test_only_the_text_of_the_turn_in_progress_is_read(
    events: Sequence[RunEvent], text: str
) -> None:
    async def follow() -> AsyncIterator[RunEvent]:
        for event in events:
            yield event

    assert await read_unfinished_text(follow(), node="agent", finished_turns=1) == text
