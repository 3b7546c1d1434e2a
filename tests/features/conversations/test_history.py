"""What came before a message."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from tests.features.conversations.made import a_board, ask, find_order
from tests.storage.made import NOON

from pegboard import tool
from pegboard.core.model_messages import AssistantMessage, ToolMessage, UserMessage
from pegboard.core.ports.conversation_store import Conversation, ConversationStore, Exchange
from pegboard.core.principal import LOCAL
from pegboard.errors import Unavailable
from pegboard.features.conversations import NewMessage
from pegboard.features.conversations.history import find_branch, read_history
from pegboard.storage import MemoryStorage
from pegboard.testing import Turn

YES = {"role": "assistant", "text": "yes"}


def an_exchange(id: str, parent: str = "", **changes: Any) -> Exchange:
    fields: dict[str, Any] = {"conversation": "c", "run_id": f"r_{id}", "created_at": NOON}
    return Exchange(id=id, text=f"ask {id}", parent=parent, **(fields | changes))


def test_a_branch_leads_from_the_first_to_the_last() -> None:
    tree = [an_exchange("a"), an_exchange("b", "a"), an_exchange("x", "a"), an_exchange("c", "x")]

    assert [item.id for item in find_branch(tree, "c")] == ["a", "x", "c"]
    assert find_branch(tree, "nothing") == []


def test_a_branch_that_leads_in_a_circle_ends() -> None:
    assert len(find_branch([an_exchange("a", "b"), an_exchange("b", "a")], "a")) == 2


class CountedExchanges(list[Exchange]):
    """Exchanges that count how often all of them are read."""

    reads = 0

    def __iter__(self) -> Iterator[Exchange]:
        self.reads += 1
        return super().__iter__()


@pytest.mark.parametrize("count", [2, 200], ids=str)
async def test_a_long_conversation_is_read_as_often_as_a_short_one(count: int) -> None:
    counted = CountedExchanges(
        an_exchange(f"e{number}", f"e{number - 1}", number=number, state="completed")
        for number in range(count)
    )

    class Store:
        async def exchanges(self, conversation: str) -> list[Exchange]:
            return counted

    history = await read_history(cast("ConversationStore", Store()), "c", f"e{count - 1}")

    assert len(history.messages) == count - 1
    assert counted.reads == 2


async def test_only_what_was_answered_on_the_branch_is_history() -> None:
    async with MemoryStorage() as storage:
        store = storage.conversations
        await store.create(Conversation(id="c", principal="ada"))
        first = await store.append(an_exchange("a"))
        await store.append(an_exchange("gone", "a"))
        await store.append(an_exchange("b", "gone"))
        await store.withdraw("gone")
        ended = Exchange(
            id="a",
            conversation="c",
            text=first.text,
            run_id=first.run_id,
            created_at=NOON,
            state="completed",
            messages=(YES,),
        )
        await store.finish(ended)
        history = await read_history(store, "c", "b")

    assert history.messages == (UserMessage(text="ask a"), AssistantMessage(text="yes"))
    assert history.run_id == "r_a"


@pytest.mark.parametrize("text", ["", "refund order 8"], ids=["tried-again", "edited"])
async def test_what_a_failed_answer_has_done_is_known_to_the_next_attempt(
    tmp_path: Path, text: str
) -> None:
    steered, begun = asyncio.Event(), asyncio.Event()

    @tool(effect="write")
    async def pay(number: int) -> str:
        """Pay an order."""
        begun.set()
        await steered.wait()
        return f"order {number} is paid"

    turns = (
        Turn(text="I pay.", calls=(("pay", {"number": 7}),)),
        Turn(text="Wait.", calls=(("find_order", {"number": 7}),)),
        Turn(error=Unavailable("the provider is busy")),
        Turn(text="It was paid."),
        Turn(text="Goodbye."),
    )
    async with a_board(tmp_path, *turns, tools=(pay, find_order)) as (board, model):
        service = board.conversations
        first = await service.send(NewMessage(text="pay order 7"), principal=LOCAL)
        await begun.wait()
        id_ = first.conversation
        await service.send(
            NewMessage(text="and be quick", conversation=id_, when="steer"), principal=LOCAL
        )
        steered.set()
        async for _ in service.follow(id_, until=first.id, principal=LOCAL):
            pass
        await ask(board, text, conversation=id_, instead_of=first.id)
        again = model.requests[-1].messages
        await ask(board, "thanks", conversation=id_)
        later = model.requests[-1].messages

    assert [m.text for m in again if isinstance(m, ToolMessage)] == [
        "order 7 is paid",
        '{"number":7,"total":12.5}',
    ]
    said = [m.text for m in again if isinstance(m, UserMessage) and not m.is_note]
    assert said == ["pay order 7", "and be quick", text or "pay order 7"]
    assert later[: len(again)] == again
