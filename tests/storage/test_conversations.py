"""Conversations and their exchanges, in every storage."""

from typing import Any

import pytest
from msgspec import structs
from tests.storage.made import NOON
from tests.storage.test_runs import a_result as a_run_result
from tests.storage.test_runs import a_start as a_run_start

from pegboard.core.ports.conversation_store import (
    Conversation,
    ConversationGrant,
    ConversationQuery,
    Exchange,
)
from pegboard.core.principal import Principal
from pegboard.errors import ConversationNotFound, InvalidRequest
from pegboard.storage import Storage


def a_conversation(id: str = "c1", **changes: Any) -> Conversation:
    fields: dict[str, Any] = {"principal": "ada", "created_at": NOON, "updated_at": NOON}
    return Conversation(id=id, **(fields | changes))


def an_exchange(id: str = "x1", **changes: Any) -> Exchange:
    fields: dict[str, Any] = {
        "conversation": "c1",
        "text": f"message {id}",
        "run_id": f"r_{id}",
        "created_at": NOON,
    }
    return Exchange(id=id, **(fields | changes))


@pytest.fixture
async def kept(storage: Storage) -> Storage:
    await storage.conversations.create(a_conversation())
    return storage


async def test_a_conversation_is_found_changed_and_deleted(kept: Storage, other: Storage) -> None:
    changed = await other.conversations.update("c1", {"title": "Pears \ud800", "agent": "shop"})

    assert changed is not None
    assert (changed.agent, changed.principal) == ("shop", "ada")
    assert await kept.conversations.get("c1") == changed
    assert await kept.conversations.delete("c1")
    assert not await other.conversations.delete("c1")
    assert await other.conversations.get("c1") is None
    assert await kept.conversations.update("c1", {"title": "x"}) is None


async def test_an_id_is_taken_once(kept: Storage) -> None:
    with pytest.raises(InvalidRequest, match="already"):
        await kept.conversations.create(a_conversation(title="another"))


async def test_one_exchange_works_and_the_others_queue(kept: Storage, other: Storage) -> None:
    first = await kept.conversations.append(an_exchange("x1"))
    second = await other.conversations.append(an_exchange("x2", parent="x1"))

    assert (first.state, second.state) == ("working", "queued")
    assert first.number < second.number
    assert await kept.conversations.append(an_exchange("x1", text="twice")) == first
    assert list(await kept.conversations.exchanges("c1")) == [first, second]
    assert await kept.conversations.of_run("r_x2") == second
    assert await kept.conversations.exchange("x3") is None
    assert list(await other.conversations.working()) == [first]
    conversation = await kept.conversations.get("c1")
    assert conversation is not None
    assert conversation.head == "x2"


async def test_one_exchange_is_found_by_its_number_and_state(kept: Storage, other: Storage) -> None:
    assert await kept.conversations.last_number("c1") == 0
    first = await kept.conversations.append(an_exchange("x1"))
    await kept.conversations.create(a_conversation("c2"))
    await kept.conversations.append(an_exchange("y1", conversation="c2"))
    second = await kept.conversations.append(an_exchange("x2"))
    third = await kept.conversations.append(an_exchange("x3"))
    find = other.conversations.next_exchange

    assert await find("c1") == first
    assert await find("c1", number=first.number) == first
    assert await find("c1", number=first.number + 1) == second
    assert await find("c1", number=third.number + 1) is None
    assert await find("c1", states={"queued", "completed"}) == second
    assert await find("c1", number=third.number, states={"queued"}) == third
    assert await find("c1", states={"steered"}) is None
    assert await find("c9") is None
    assert await other.conversations.last_number("c1") == third.number


@pytest.mark.slow
async def test_the_conversations_of_runs_are_found_at_once(kept: Storage, other: Storage) -> None:
    await kept.conversations.create(a_conversation("c2", principal="bob"))
    for number in range(250):  # more than one statement takes
        await kept.conversations.append(an_exchange(f"x{number}"))
    await kept.conversations.append(an_exchange("y1", conversation="c2"))
    runs = [f"r_x{number}" for number in range(250)]
    found = await other.conversations.conversations_of_runs([*runs, "r_y1", "r_none", "r_y1"])

    assert {run_id: item.id for run_id, item in found.items()} == {
        **dict.fromkeys(runs, "c1"),
        "r_y1": "c2",
    }
    assert found["r_y1"] == await kept.conversations.get("c2")
    assert await other.conversations.conversations_of_runs([]) == {}


async def test_a_message_comes_after_the_head_unless_it_names_another(
    kept: Storage, other: Storage
) -> None:
    first = await kept.conversations.append(an_exchange("x1"))
    second = await other.conversations.append(an_exchange("x2"))
    third = await kept.conversations.append(an_exchange("x3", parent="x1"), changes={"agent": "a"})
    conversation = await other.conversations.get("c1")

    assert [item.parent for item in (first, second, third)] == ["", "x1", "x1"]
    assert conversation is not None
    assert (conversation.head, conversation.agent) == ("x3", "a")


async def test_a_message_can_come_before_those_that_wait(kept: Storage, other: Storage) -> None:
    first = await kept.conversations.append(an_exchange("x1"))
    for name in ("x2", "x3", "x4"):
        await kept.conversations.append(an_exchange(name))
    await kept.conversations.withdraw("x2")
    new = await other.conversations.append(an_exchange("x5"), is_next=True)
    order = await kept.conversations.exchanges("c1")
    conversation = await kept.conversations.get("c1")
    end = await kept.conversations.finish(structs.replace(first, state="cancelled"))
    following = await other.conversations.next_exchange("c1", number=new.number + 1)

    assert [(it.id, it.parent, it.state) for it in order] == [
        ("x1", "", "working"),
        ("x2", "x1", "withdrawn"),
        ("x5", "x2", "queued"),
        ("x3", "x5", "queued"),
        ("x4", "x3", "queued"),
    ]
    assert conversation is not None
    assert conversation.head == "x4"
    assert end is not None
    assert (end.next and end.next.id, following and following.id) == ("x5", "x3")
    assert await kept.conversations.of_run("r_x4") == order[-1]


async def test_only_the_last_message_is_replaced_and_only_once(
    kept: Storage, other: Storage
) -> None:
    async def answer(id: str, **wanted: Any) -> Exchange:
        sent = await other.conversations.append(an_exchange(id), **wanted)
        await kept.conversations.finish(structs.replace(sent, state="completed"))
        return sent

    await answer("x1")
    await kept.conversations.append(an_exchange("x2"))
    await kept.conversations.append(an_exchange("x3"))
    with pytest.raises(InvalidRequest, match="in progress"):
        await answer("x4", instead_of="x2")
    await kept.conversations.withdraw("x3")
    with pytest.raises(InvalidRequest, match="in progress"):
        await answer("x4", instead_of="x2")
    second = await kept.conversations.exchange("x2")
    assert second is not None
    await kept.conversations.finish(structs.replace(second, state="completed"))
    edited = await answer("x4", instead_of="x2")
    with pytest.raises(InvalidRequest, match="last message"):
        await answer("x5", instead_of="x2", changes={"agent": "shop"})
    for foreign in ("x9", "y1"):
        with pytest.raises(ConversationNotFound):
            await answer("x5", instead_of=foreign)

    conversation = await kept.conversations.get("c1")
    assert edited.parent == "x1"
    assert conversation is not None
    assert (conversation.head, conversation.agent) == ("x4", "")


async def test_a_deleted_conversation_takes_no_message(kept: Storage, other: Storage) -> None:
    await other.conversations.delete("c1")

    with pytest.raises(ConversationNotFound):
        await kept.conversations.append(an_exchange("x1"))
    assert await other.conversations.exchange("x1") is None


async def test_the_end_of_one_begins_the_next_once(kept: Storage, other: Storage) -> None:
    first = await kept.conversations.append(an_exchange("x1"))
    for name in ("x2", "x3", "x4", "x5"):
        await kept.conversations.append(an_exchange(name))
    assert await other.conversations.withdraw("x2")
    ended = structs.replace(
        first, state="completed", answer="Yes.", messages=({"role": "user"},), finished_at=NOON + 5
    )
    finished = await other.conversations.finish(ended, steered=["x3"])

    assert finished is not None
    assert finished.exchange == ended
    assert finished.next is not None
    assert (finished.next.id, finished.next.state) == ("x4", "working")
    assert await kept.conversations.finish(ended) is None
    states = {item.id: item.state for item in await kept.conversations.exchanges("c1")}
    assert states == {
        "x1": "completed",
        "x2": "withdrawn",
        "x3": "steered",
        "x4": "working",
        "x5": "queued",
    }
    conversation = await kept.conversations.get("c1")
    assert conversation is not None
    assert conversation.updated_at == NOON + 5


async def test_who_sent_a_message_and_its_request_are_stored(kept: Storage, other: Storage) -> None:
    ada = Principal(id="ada", scopes=frozenset({"a", "b"}), roles=frozenset({"clerk"}))
    sent = await kept.conversations.append(an_exchange(principal=ada, request="digest"))
    await other.conversations.finish(structs.replace(sent, state="completed"))
    known = await other.conversations.exchange("x1")

    assert known == structs.replace(sent, state="completed")
    assert (sent.principal, sent.request) == (ada, "digest")


async def test_only_what_waits_can_be_withdrawn(kept: Storage) -> None:
    await kept.conversations.append(an_exchange("x1"))

    assert not await kept.conversations.withdraw("x1")
    assert not await kept.conversations.withdraw("nothing")


async def test_a_queued_message_is_read_by_the_answer_or_withdrawn(
    kept: Storage, other: Storage
) -> None:
    for name in ("x1", "x2", "x3"):
        await kept.conversations.append(an_exchange(name))
    steer = other.conversations.steer
    assert await kept.conversations.withdraw("x3")

    assert [await steer("c1", name) for name in ("x1", "x2", "x2", "x3")] == [
        False, True, True, False,
    ]  # fmt: skip
    assert [await steer("c1", "none"), await steer("c2", "x1")] == [True, True]
    assert not await kept.conversations.withdraw("x2")
    known = {
        item.id: (item.state, item.read_by) for item in await other.conversations.exchanges("c1")
    }
    assert known == {"x1": ("working", ""), "x2": ("steered", "x1"), "x3": ("withdrawn", "")}


async def test_what_was_deleted_leaves_no_exchange(kept: Storage) -> None:
    first = await kept.conversations.append(an_exchange("x1"))
    await kept.conversations.delete("c1")

    assert await kept.conversations.exchange("x1") is None
    assert await kept.conversations.finish(first) is None


async def test_the_last_changed_come_first_page_by_page(storage: Storage, other: Storage) -> None:
    for number in range(5):
        await storage.conversations.create(
            a_conversation(f"c{number}", updated_at=NOON + number, principal="ada")
        )
    await storage.conversations.create(a_conversation("of-bob", principal="bob"))
    await storage.conversations.create(a_conversation("elsewhere", tenant="acme"))
    found: list[str] = []
    query = ConversationQuery(principal="ada", tenant="", limit=2)
    while True:
        page = await other.conversations.conversations(query)
        found += [item.id for item in page.conversations]
        if not page.next_cursor:
            break
        query = structs.replace(query, cursor=page.next_cursor)

    assert found == ["c4", "c3", "c2", "c1", "c0"]


@pytest.mark.parametrize(
    ("text", "found"),
    [("PEAR", ["c1"]), ("apples", ["c2"]), ("plums", ["c2"]), ("100%", ["c3"]), ("_", []), ("", 3)],
)
async def test_titles_messages_and_answers_are_searched(
    storage: Storage, text: str, found: list[str] | int
) -> None:
    await storage.conversations.create(a_conversation("c1", title="Pears"))
    await storage.conversations.create(a_conversation("c2"))
    await storage.conversations.create(a_conversation("c3", title="100% off"))
    apples = await storage.conversations.append(an_exchange(conversation="c2", text="Apples?"))
    await storage.conversations.finish(
        structs.replace(apples, state="completed", answer="No, plums.")
    )
    page = await storage.conversations.conversations(ConversationQuery(text=text))

    names = [item.id for item in page.conversations]
    assert (len(names) if isinstance(found, int) else names) == found


async def test_old_ones_are_forgotten_whole(storage: Storage, other: Storage) -> None:
    for number in range(5):
        await storage.conversations.create(a_conversation(f"c{number}", updated_at=NOON + number))
    await storage.conversations.append(an_exchange(conversation="c0", created_at=NOON))

    assert await other.conversations.forget(before=NOON + 3) == 3
    assert await storage.conversations.exchange("x1") is None
    left = await storage.conversations.conversations(ConversationQuery())
    assert [item.id for item in left.conversations] == ["c4", "c3"]


async def test_the_runs_of_a_deleted_conversation_are_deleted(
    kept: Storage, other: Storage
) -> None:
    ended, goes_on = a_run_start("r1"), a_run_start("r2")
    for run, name in ((ended, "x1"), (goes_on, "x2"), (a_run_start("r3"), "")):
        await kept.runs.create(run, owner="one")
        if name:
            await kept.conversations.append(an_exchange(name, run_id=run.run_id))
    for name in ("r1", "r3"):
        await kept.runs.store_result(a_run_result(run_id=name), "one")

    assert await other.conversations.delete("c1")
    assert await kept.runs.get_all(["r1", "r2", "r3"]) == await other.runs.get_all(["r2", "r3"])
    assert list(await kept.runs.events("r1")) == []
    assert await kept.runs.get("r1") is None


def a_grant(id: str = "gr1", **changes: Any) -> ConversationGrant:
    fields: dict[str, Any] = {"tool": "post", "version": "1.0.0", "reason": "asked"}
    return ConversationGrant(
        id=id, approval="ap1", granted_by="ada", granted_at=NOON, **(fields | changes)
    )


async def test_grants_stand_until_they_are_revoked(kept: Storage, other: Storage) -> None:
    narrow = a_grant("gr2", arguments_digest="d", shown={"text": "a"}, account="c1 2.0")
    for grant in (a_grant(), narrow, a_grant()):
        assert await other.conversations.grant("c1", grant)

    known = await kept.conversations.get("c1")
    assert known is not None
    assert known.grants == (a_grant(), narrow)
    assert await kept.conversations.revoke("c1", "gr1") == a_grant()
    assert await other.conversations.revoke("c1", "gr1") is None
    assert await other.conversations.revoke("c9", "gr2") is None
    assert not await other.conversations.grant("c9", narrow)
    left = await kept.conversations.get("c1")
    assert left is not None
    assert left.grants == (narrow,)
