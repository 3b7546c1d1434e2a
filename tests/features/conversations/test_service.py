"""Conversations on a board: asked, followed, stopped, edited, continued after a restart."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import ORDER, TOTAL, a_board, ask, kinds, text_of

from pegboard import tool
from pegboard.core.model_messages import UserMessage
from pegboard.core.ports.conversation_store import ConversationQuery
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    ConversationNotFound,
    IdempotencyConflict,
    InvalidRequest,
    MessageNotQueued,
    Unavailable,
)
from pegboard.features.conversations import MessageFile, NewMessage
from pegboard.features.conversations.history import find_branch
from pegboard.features.conversations.stream import read_position
from pegboard.runtime import Pegboard
from pegboard.testing import Turn


async def test_a_question_is_answered_with_tools_and_every_event_is_stored(tmp_path: Path) -> None:
    async with a_board(tmp_path, ORDER, TOTAL) as (board, model):
        events, id_ = await ask(board, "What was the total of order 7?")
        conversation, exchanges = await board.conversations.get(id_, principal=LOCAL)
        run = await board.runs.get(exchanges[0].run_id, principal=LOCAL)
        again = [
            event
            async for event in board.conversations.follow(
                id_, after=(exchanges[0].number, 0), until=exchanges[0].id, principal=LOCAL
            )
        ]
        model.assert_exhausted()

    assert kinds(events) == [
        "run_started", "step", "usage", "tool_started", "tool_finished", "step", "text_delta",
        "usage", "done",
    ]  # fmt: skip
    assert text_of(events) == "It is 12.50 euros."
    assert events[-1].data["state"] == "completed"
    assert again == events
    assert conversation.title == "What was the total of order 7?"
    assert (exchanges[0].state, exchanges[0].answer) == ("completed", "It is 12.50 euros.")
    assert len(exchanges[0].messages) == 3
    assert run.to_dict()["usage"] == {"requests": 2}


async def test_a_second_message_comes_with_what_was_said_before(tmp_path: Path) -> None:
    async with a_board(tmp_path, ORDER, TOTAL, Turn(text="Yes.")) as (board, model):
        _, id_ = await ask(board, "What was the total of order 7?")
        await ask(board, "Really?", conversation=id_)

    roles = [type(message).__name__ for message in model.requests[-1].messages]
    assert roles == [
        "SystemMessage", "UserMessage", "AssistantMessage", "ToolMessage", "AssistantMessage",
        "UserMessage",
    ]  # fmt: skip


async def test_an_approval_parks_the_answer_and_its_decision_goes_on(tmp_path: Path) -> None:
    asked = Turn(calls=(("refund", {"number": 7}),))
    async with a_board(tmp_path, asked, Turn(text="Done.", expects=("refunded",))) as (board, _):
        exchange = await board.conversations.send(
            NewMessage(text="Refund order 7"), principal=LOCAL
        )
        seen: list[str] = []
        async for event in board.conversations.follow(
            exchange.conversation, until=exchange.id, principal=LOCAL
        ):
            seen.append(event.event)
            if event.event == "approval_required":
                assert event.data["arguments"] == {"number": 7}
                await board.approvals.decide(
                    str(event.data["approval"]), "approve", principal=LOCAL
                )
        _, exchanges = await board.conversations.get(exchange.conversation, principal=LOCAL)

    assert seen.count("approval_required") == 1
    assert exchanges[0].answer == "Done."


async def test_messages_queue_are_withdrawn_and_answered_in_order(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def wait() -> str:
        """Wait."""
        await gate.wait()
        return "waited"

    turns = (Turn(calls=(("wait", {}),)), Turn(text="one"), Turn(text="three", expects=("third",)))
    async with a_board(tmp_path, *turns, tools=(wait,)) as (board, _):
        service = board.conversations
        first = await service.send(NewMessage(text="first"), principal=LOCAL)
        second = await service.send(
            NewMessage(text="second", conversation=first.conversation), principal=LOCAL
        )
        third = await service.send(
            NewMessage(text="third", conversation=first.conversation), principal=LOCAL
        )
        await service.withdraw(first.conversation, second.id, principal=LOCAL)
        with pytest.raises(MessageNotQueued, match="being answered"):
            await service.withdraw(first.conversation, first.id, principal=LOCAL)
        following = service.follow(
            first.conversation, after=(third.number, 0), until=third.id, principal=LOCAL
        )
        queued = await anext(following)
        gate.set()
        events = [queued, *[event async for event in following]]
        _, exchanges = await service.get(first.conversation, principal=LOCAL)

    assert (first.state, second.state, third.state) == ("working", "queued", "queued")
    assert [item.state for item in exchanges] == ["completed", "withdrawn", "completed"]
    assert kinds(events) == ["message_queued", "run_started", "step", "text_delta", "usage", "done"]
    assert text_of(events) == "three"


async def test_stopping_keeps_what_was_said_and_ends_the_queue(tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def wait() -> str:
        """Wait for ever."""
        begun.set()
        await asyncio.Event().wait()
        return ""

    turns = (Turn(text="One moment.", calls=(("wait", {}),)), Turn(text="Hello again."))
    async with a_board(tmp_path, *turns, tools=(wait,)) as (board, _):
        service = board.conversations
        first = await service.send(NewMessage(text="hi"), principal=LOCAL)
        await service.send(
            NewMessage(text="more", conversation=first.conversation), principal=LOCAL
        )
        await begun.wait()
        assert await service.stop(first.conversation, principal=LOCAL)
        _, exchanges = await service.get(first.conversation, principal=LOCAL)
        events, _ = await ask(board, "still there?", conversation=first.conversation)

    assert [item.state for item in exchanges] == ["cancelled", "withdrawn"]
    assert exchanges[0].messages[0]["text"] == "One moment."
    assert text_of(events) == "Hello again."


async def test_the_last_message_is_edited_on_a_branch_of_its_own(tmp_path: Path) -> None:
    turns = (Turn(text="A pear."), Turn(text="A plum."), Turn(text="An apple."))
    async with a_board(tmp_path, *turns) as (board, model):
        _, id_ = await ask(board, "a fruit")
        await ask(board, "another", conversation=id_)
        _, (first, second) = await board.conversations.get(id_, principal=LOCAL)
        with pytest.raises(InvalidRequest, match="last message"):
            await board.conversations.send(
                NewMessage(text="x", conversation=id_, instead_of=first.id), principal=LOCAL
            )
        await ask(board, "a red one", conversation=id_, instead_of=second.id)
        conversation, exchanges = await board.conversations.get(id_, principal=LOCAL)

    assert [item.parent for item in exchanges] == ["", first.id, first.id]
    assert conversation.head == exchanges[2].id
    asked = [m.text for m in model.requests[-1].messages if isinstance(m, UserMessage)]
    assert asked == ["a fruit", "a red one"]


async def test_a_failed_answer_is_tried_again(tmp_path: Path) -> None:
    turns = (Turn(error=Unavailable("the provider is busy")), Turn(text="Here I am."))
    async with a_board(tmp_path, *turns) as (board, _):
        events, id_ = await ask(board, "hello")
        _, (failed,) = await board.conversations.get(id_, principal=LOCAL)
        again, _ = await ask(board, "", conversation=id_, instead_of=failed.id)

    assert kinds(events)[-2:] == ["error", "done"]
    assert events[-2].data["detail"] == "the provider is busy"
    assert text_of(again) == "Here I am."


async def test_a_conversation_goes_on_after_a_restart(tmp_path: Path) -> None:
    data = tmp_path / "data"
    asked = Turn(calls=(("refund", {"number": 7}),))
    async with a_board(tmp_path, asked, data=data) as (board, _):
        exchange = await board.conversations.send(
            NewMessage(text="Refund order 7"), principal=LOCAL
        )
        approval = ""
        async for event in board.conversations.follow(exchange.conversation, principal=LOCAL):
            if event.event == "approval_required":
                approval = str(event.data["approval"])
                break
        await board.runs.wait(exchange.run_id, principal=LOCAL)
    async with a_board(tmp_path, Turn(text="Done."), data=data) as (board, model):
        await board.approvals.decide(approval, "approve", principal=LOCAL)
        following = board.conversations.follow(
            exchange.conversation, until=exchange.id, principal=LOCAL
        )
        events = [event async for event in following]
        model.assert_exhausted()

    assert kinds(events).count("run_started") == 1
    assert text_of(events) == "Done."
    assert events[-1].data["state"] == "completed"


async def test_conversations_are_listed_renamed_searched_and_deleted(tmp_path: Path) -> None:
    async with a_board(tmp_path, Turn(text="A pear."), Turn(text="A plum.")) as (board, _):
        _, one = await ask(board, "a fruit")
        _, two = await ask(board, "a tree")
        service = board.conversations
        await service.change(one, {"title": "Fruit"}, principal=LOCAL)
        page = await service.list(principal=LOCAL)
        found = await service.list(ConversationQuery(text="PEAR"), principal=LOCAL)
        with pytest.raises(InvalidRequest):
            await service.change(one, {"head": "x"}, principal=LOCAL)
        await service.delete(two, principal=LOCAL)
        with pytest.raises(ConversationNotFound):
            await service.get(two, principal=LOCAL)
        left = await service.list(principal=LOCAL)

    assert [item.id for item in page.conversations] == [two, one]
    assert [item.title for item in found.conversations] == ["Fruit"]
    assert [item.id for item in left.conversations] == [one]


async def test_who_follows_never_reads_the_whole_conversation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_board(tmp_path, Turn(text="1"), Turn(text="2")) as (board, _):
        first, id_ = await ask(board, "one")
        await ask(board, "two", conversation=id_)
        _, (_, second) = await board.conversations.get(id_, principal=LOCAL)
        monkeypatch.delattr(type(board._open.storage.conversations), "exchanges")
        follow, position = board.conversations.follow, read_position(first[0].id)
        whole = [
            event async for event in follow(id_, after=position, until=second.id, principal=LOCAL)
        ]
        last = [event async for event in follow(id_, until=second.id, principal=LOCAL)]
        gone = [event async for event in follow(id_, until="m_gone", principal=LOCAL)]

    assert [event.data["text"] for event in whole if event.event == "done"] == ["1", "2"]
    assert [event.data["text"] for event in last if event.event == "done"] == ["2"]
    assert gone == []


async def test_nobody_sees_the_conversations_of_another(tmp_path: Path) -> None:
    bob = Principal(id="bob", scopes=frozenset({"*"}))
    async with a_board(tmp_path, Turn(text="Hello.")) as (board, _):
        _, id_ = await ask(board, "hi")
        service = board.conversations
        for refused in (
            service.get(id_, principal=bob),
            service.stop(id_, principal=bob),
            service.delete(id_, principal=bob),
            service.change(id_, {"title": "x"}, principal=bob),
            service.send(NewMessage(text="x", conversation=id_), principal=bob),
            anext(service.follow(id_, principal=bob)),
        ):
            with pytest.raises(ConversationNotFound):
                await refused
        assert not (await service.list(principal=bob)).conversations


async def test_the_same_key_is_the_same_message(tmp_path: Path) -> None:
    async with a_board(tmp_path, Turn(text="Hello.")) as (board, model):
        sent = [
            await board.conversations.send(NewMessage(text="hi", key="k"), principal=LOCAL)
            for _ in range(2)
        ]
        await ask(board, "hi", key="k")
        model.assert_exhausted()

    assert sent[0].id == sent[1].id
    assert sent[0].conversation == sent[1].conversation


async def test_a_repeated_edit_is_the_same_message_and_its_files_stay(tmp_path: Path) -> None:
    file = MessageFile(name="a.txt", data=b"first")
    async with a_board(tmp_path, Turn(text="A pear."), Turn(text="A plum.")) as (board, model):
        _, id_ = await ask(board, "a fruit")
        _, (first,) = await board.conversations.get(id_, principal=LOCAL)
        edit = NewMessage(
            text="a red one", conversation=id_, instead_of=first.id, files=[file], key="k"
        )
        edited = await board.conversations.send(edit, principal=LOCAL)
        await board.runs.wait(edited.run_id, principal=LOCAL)
        files = board.conversations._files
        assert files is not None
        path = files.folder(id_, LOCAL) / "a.txt"
        path.write_text("changed by the answer")
        again = await board.conversations.send(edit, principal=LOCAL)
        _, exchanges = await board.conversations.get(id_, principal=LOCAL)
        model.assert_exhausted()

        assert again.id == edited.id
        assert [item.answer for item in exchanges] == ["A pear.", "A plum."]
        assert path.read_text() == "changed by the answer"


@pytest.mark.parametrize(
    "changed",
    [
        {"text": "another"},
        {"text": "hi", "conversation": "c_other"},
        {"text": "hi", "model": "smart"},
        {"text": "hi", "files": [MessageFile(name="a.txt", data=b"x")]},
    ],
    ids=["text", "conversation", "model", "files"],
)
async def test_a_key_is_not_used_for_another_message(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    async with a_board(tmp_path, Turn(text="Hello.")) as (board, model):
        _, id_ = await ask(board, "hi", key="k")
        with pytest.raises(IdempotencyConflict):
            await board.conversations.send(NewMessage(**changed, key="k"), principal=LOCAL)
        _, exchanges = await board.conversations.get(id_, principal=LOCAL)
        model.assert_exhausted()

    assert [item.text for item in exchanges] == ["hi"]


async def test_two_messages_sent_at_once_are_both_on_the_branch(tmp_path: Path) -> None:
    turns = (Turn(text="Hello."), Turn(text="One."), Turn(text="Two."))
    async with a_board(tmp_path, *turns, data=tmp_path / "data") as (board, _):
        _, id_ = await ask(board, "hi")
        async with asyncio.TaskGroup() as group:
            for text in ("one", "two"):
                message = NewMessage(text=text, conversation=id_)
                group.create_task(board.conversations.send(message, principal=LOCAL))
        conversation, exchanges = await board.conversations.get(id_, principal=LOCAL)

    assert len(find_branch(exchanges, conversation.head)) == 3


@pytest.mark.parametrize(
    "refused",
    [
        {"text": " "},
        {"text": "x", "instead_of": "m_none"},
        {"text": "x", "files": [MessageFile(name="../a.txt", data=b"x")]},
    ],
    ids=["empty", "nothing to replace", "a bad file"],
)
async def test_a_refused_message_leaves_nothing_behind(
    tmp_path: Path, refused: dict[str, Any]
) -> None:
    async with a_board(tmp_path, Turn(text="Hello.")) as (board, _):
        _, id_ = await ask(board, "hi")
        before = await board.conversations.get(id_, principal=LOCAL)
        message = NewMessage(**refused, model="smart")
        for wanted in (message, replace(message, conversation=id_)):
            with pytest.raises((InvalidRequest, ConversationNotFound)):
                await board.conversations.send(wanted, principal=LOCAL)
        listed = await board.conversations.list(principal=LOCAL)

        assert [item.id for item in listed.conversations] == [id_]
        assert await board.conversations.get(id_, principal=LOCAL) == before


async def test_a_message_goes_on_although_the_end_before_it_was_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_board(tmp_path, Turn(text="One."), Turn(text="Two.")) as (board, _):
        lost = lose_an_end(board, monkeypatch)
        first = await board.conversations.send(NewMessage(text="one"), principal=LOCAL)
        await lost.wait()
        events, _ = await ask(board, "two", conversation=first.conversation)
        _, exchanges = await board.conversations.get(first.conversation, principal=LOCAL)

    assert text_of(events) == "Two."
    assert [item.state for item in exchanges] == ["completed", "completed"]


async def test_a_queued_message_goes_on_although_the_end_before_it_was_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = asyncio.Event()

    async def wait() -> str:
        """Wait."""
        await gate.wait()
        return "waited"

    turns = (Turn(calls=(("wait", {}),)), Turn(text="One."), Turn(text="Two."))
    async with a_board(tmp_path, *turns, tools=(wait,)) as (board, _):
        service, lost = board.conversations, lose_an_end(board, monkeypatch)
        first = await service.send(NewMessage(text="one"), principal=LOCAL)
        wanted = NewMessage(text="two", conversation=first.conversation)
        second = await service.send(wanted, principal=LOCAL)
        gate.set()
        await lost.wait()
        position = (second.number, 0)
        following = service.follow(
            first.conversation, after=position, until=second.id, principal=LOCAL
        )
        events = [event async for event in following]

    assert text_of(events) == "Two."


def lose_an_end(board: Pegboard, monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Let the store fail to store the next end of an exchange; the event is set when it did."""
    store, lost = board._open.storage.conversations, asyncio.Event()
    finish = store.finish

    async def fail_once(*given: Any, **wanted: Any) -> Any:
        if lost.is_set():
            return await finish(*given, **wanted)
        lost.set()
        raise Unavailable("the database is busy")

    monkeypatch.setattr(store, "finish", fail_once)
    return lost


async def test_without_a_model_the_message_fails_and_says_what_to_set(tmp_path: Path) -> None:
    async with Pegboard() as board:
        events, _ = await ask(board, "hi")

    assert events[-2].data["code"] == "model_not_configured"
    assert "PEGBOARD_MODEL" in str(events[-2].data["detail"])


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_an_empty_message_is_refused(tmp_path: Path, text: str) -> None:
    async with a_board(tmp_path) as (board, _):
        with pytest.raises(InvalidRequest, match="empty"):
            await board.conversations.send(NewMessage(text=text), principal=LOCAL)


async def test_a_conversation_goes_on_as_the_model_was_shown_it_last(tmp_path: Path) -> None:
    @tool(effect="read")
    def fill(number: int) -> str:
        """Fill."""
        return f"{number}" * 8_300

    turns = [Turn(calls=(("fill", {"number": number}),)) for number in range(1, 5)]
    turns += [Turn(text="Full."), Turn(text="Still full.")]
    async with a_board(tmp_path, *turns, tools=(fill,)) as (board, model):
        model.context_window = 16_300
        _, conversation = await ask(board, "Fill it.")
        await ask(board, "And now?", conversation=conversation)
    before, after = model.requests[-2].messages, model.requests[-1].messages

    assert any("was removed to save room" in message.text for message in before)
    assert after[: len(before)] == before
