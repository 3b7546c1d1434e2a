"""What came before a message."""

from typing import Any

from tests.storage.made import NOON

from pegboard.core.model_messages import AssistantMessage, UserMessage
from pegboard.core.ports.conversation_store import Conversation, Exchange
from pegboard.features.conversations.history import find_branch, read_history
from pegboard.storage import MemoryStorage

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
