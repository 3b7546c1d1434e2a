"""Conversations on a store that answers late, or is away for a moment."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import ORDER, TOTAL, a_board, kinds, text_of

from pegboard.core.principal import LOCAL
from pegboard.errors import Unavailable
from pegboard.features.conversations import NewMessage
from pegboard.testing import Turn


async def test_who_follows_goes_on_when_the_store_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_board(tmp_path, ORDER, TOTAL) as (board, _):
        exchange = await board.conversations.send(NewMessage(text="Order 7?"), principal=LOCAL)
        storage = board._open.storage
        for store, name in (
            (storage.runs, "events"),
            (storage.runs, "get"),
            (storage.conversations, "next_exchange"),
            (storage.conversations, "exchange"),
        ):
            monkeypatch.setattr(store, name, _gone_at_first(getattr(store, name)))
        following = board.conversations.follow(
            exchange.conversation, after=(exchange.number, 0), until=exchange.id, principal=LOCAL
        )
        events = [event async for event in following]

    ids = [event.id for event in events if event.id]
    assert kinds(events)[-1] == "done"
    assert len(ids) == len(set(ids))
    assert text_of(events) == "It is 12.50 euros."


async def test_stopping_stops_an_answer_that_began_while_the_queue_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates = [asyncio.Event(), asyncio.Event()]
    begun = [asyncio.Event(), asyncio.Event()]
    count = iter(range(2))

    async def wait() -> str:
        """Wait."""
        number = next(count)
        begun[number].set()
        await gates[number].wait()
        return "waited"

    turns = (Turn(calls=(("wait", {}),)), Turn(text="one"), Turn(calls=(("wait", {}),)))
    async with a_board(tmp_path, *turns, tools=(wait,)) as (board, _):
        service = board.conversations
        first = await service.send(NewMessage(text="first"), principal=LOCAL)
        second = await service.send(
            NewMessage(text="second", conversation=first.conversation), principal=LOCAL
        )
        await begun[0].wait()
        store = board._open.storage.conversations
        read = store.exchanges

        async def answer_late(conversation: str) -> Any:
            monkeypatch.undo()
            found = await read(conversation)
            gates[0].set()
            await begun[1].wait()
            return found

        monkeypatch.setattr(store, "exchanges", answer_late)
        assert await service.stop(first.conversation, principal=LOCAL)
        following = service.follow(
            first.conversation, after=(second.number, 0), until=second.id, principal=LOCAL
        )
        async with asyncio.timeout(5):
            events = [event async for event in following]
        _, exchanges = await service.get(first.conversation, principal=LOCAL)

    assert kinds(events)[-1] == "done"
    assert [item.state for item in exchanges] == ["completed", "cancelled"]


def _gone_at_first(read: Any) -> Any:
    """A read that fails once, when it is called the second time."""
    count = iter((False, True))

    async def fail(*args: Any, **more: Any) -> Any:
        if next(count, False):
            raise Unavailable("gone", retry_after=1.0, nothing_done=True)
        return await read(*args, **more)

    return fail
