"""Messages that are sent while an answer is in progress: read by it, or withdrawn."""

import asyncio
from pathlib import Path

import pytest
from tests.features.conversations.made import a_board, ask

from pegboard import tool
from pegboard.core.model_messages import UserMessage
from pegboard.core.principal import LOCAL
from pegboard.errors import MessageNotQueued, Unavailable
from pegboard.features.conversations import NewMessage
from pegboard.features.conversations.views import render_markdown
from pegboard.testing import Turn


async def test_a_message_steers_the_answer_in_progress(tmp_path: Path) -> None:
    gate, begun = asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        """Wait."""
        begun.set()
        await gate.wait()
        return "waited"

    turns = (Turn(calls=(("wait", {}),)), Turn(text="En français.", expects=("French",)))
    async with a_board(tmp_path, *turns, tools=(wait,)) as (board, _):
        service = board.conversations
        first = await service.send(NewMessage(text="hi"), principal=LOCAL)
        await begun.wait()
        steer = NewMessage(text="in French", conversation=first.conversation, when="steer")
        second = await service.send(steer, principal=LOCAL)
        assert (second.state, second.steers, first.steers) == ("queued", True, False)
        gate.set()
        events = [
            e async for e in service.follow(first.conversation, until=second.id, principal=LOCAL)
        ]
        _, exchanges = await service.get(first.conversation, principal=LOCAL)

    assert [item.state for item in exchanges] == ["completed", "steered"]
    assert exchanges[0].messages[2] == {"role": "user", "text": "in French"}
    assert events[-1].data["state"] == "steered"


async def test_a_message_is_read_or_withdrawn_and_never_both(tmp_path: Path) -> None:
    """Of two messages, the first is withdrawn before the agent can read it, the second after."""
    calls = [(asyncio.Event(), asyncio.Event()) for _ in range(2)]

    async def wait(number: int) -> str:
        """Wait."""
        begun, gate = calls[number]
        begun.set()
        await gate.wait()
        return "waited"

    turns = (
        Turn(calls=(("wait", {"number": 0}),)),
        Turn(calls=(("wait", {"number": 1}),)),
        Turn(text="En français."),
        Turn(text="De rien."),
    )
    async with a_board(tmp_path, *turns, tools=(wait,)) as (board, model):
        service = board.conversations
        first = await service.send(NewMessage(text="hi"), principal=LOCAL)
        id_ = first.conversation
        await calls[0][0].wait()
        sent = [
            await service.send(
                NewMessage(text=text, conversation=id_, when="steer"), principal=LOCAL
            )
            for text in ("in Latin", "in French")
        ]
        await service.withdraw(id_, sent[0].id, principal=LOCAL)
        calls[0][1].set()
        await calls[1][0].wait()
        _, busy = await service.get(id_, principal=LOCAL)
        with pytest.raises(MessageNotQueued, match="has read the message"):
            await service.withdraw(id_, sent[1].id, principal=LOCAL)
        with pytest.raises(MessageNotQueued, match="withdrawn already"):
            await service.withdraw(id_, sent[0].id, principal=LOCAL)
        calls[1][1].set()
        async for _ in service.follow(id_, until=first.id, principal=LOCAL):
            pass
        await ask(board, "merci", conversation=id_)
        conversation, exchanges = await service.get(id_, principal=LOCAL)

    assert [item.state for item in busy] == ["working", "withdrawn", "steered"]
    said = [[m.text for m in it.messages if isinstance(m, UserMessage)] for it in model.requests]
    assert said == [
        ["hi"],
        ["hi", "in French"],
        ["hi", "in French"],
        ["hi", "in French", "merci"],
    ]
    exported = render_markdown(conversation, exchanges)
    assert (exported.count("in Latin"), exported.count("in French")) == (0, 1)


async def test_a_message_that_a_failing_turn_has_read_is_kept(tmp_path: Path) -> None:
    gate, begun = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> str:
        """Wait."""
        begun.set()
        await gate.wait()
        return "waited"

    error = Turn(error=Unavailable("the provider is busy"))
    async with a_board(tmp_path, Turn(calls=(("wait", {}),)), error, tools=(wait,)) as (board, _):
        service = board.conversations
        first = await service.send(NewMessage(text="hi"), principal=LOCAL)
        id_ = first.conversation
        await begun.wait()
        steer = NewMessage(text="in French", conversation=id_, when="steer")
        await service.send(steer, principal=LOCAL)
        gate.set()
        async for _ in service.follow(id_, until=first.id, principal=LOCAL):
            pass
        _, exchanges = await service.get(id_, principal=LOCAL)

    assert [item.state for item in exchanges] == ["failed", "steered"]
    assert exchanges[0].messages[-1] == {"role": "user", "text": "in French"}


async def test_what_stops_an_answer_is_answered_before_what_waited_longer(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def wait() -> str:
        """Wait for ever."""
        begun.set()
        await asyncio.Event().wait()
        return ""

    turns = (Turn(calls=(("wait", {}),)), Turn(text="It is three."), Turn(text="It is two."))
    async with a_board(tmp_path, *turns, tools=(wait,)) as (board, model):
        service = board.conversations
        first = await service.send(NewMessage(text="one"), principal=LOCAL)
        id_ = first.conversation
        await begun.wait()
        waiting = await service.send(NewMessage(text="two", conversation=id_), principal=LOCAL)
        following = service.follow(id_, until=waiting.id, principal=LOCAL)
        queued = await anext(following)
        await service.send(NewMessage(text="three", conversation=id_, when="stop"), principal=LOCAL)
        events = [event async for event in following]
        conversation, exchanges = await service.get(id_, principal=LOCAL)

    said = [m.text for m in model.requests[-1].messages if isinstance(m, UserMessage)]
    assert (queued.event, queued.data["text"]) == ("message_queued", "two")
    assert [e.data["text"] for e in events if e.event == "run_started"] == ["three", "two"]
    assert said == ["one", "three", "two"]
    assert [(it.text, it.state) for it in exchanges] == [
        ("one", "cancelled"),
        ("three", "completed"),
        ("two", "completed"),
    ]
    assert conversation.head == waiting.id
