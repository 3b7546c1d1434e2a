"""The runs that answer messages."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from tests.features.conversations.made import ORDER, TOTAL, a_board, ask
from tests.features.conversations.test_history import an_exchange

from pegboard.core.graph import NodeState
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.ports.conversation_store import Conversation
from pegboard.core.ports.durability import RunStart
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.run import NodeRun, RunResult
from pegboard.errors import RunNotFound
from pegboard.features.conversations import NewMessage
from pegboard.features.conversations.answers import (
    answers_message,
    chat_graph,
    read_end,
    run_key_of,
)
from pegboard.features.runs.start import run_id_for
from pegboard.graphs import write_graph
from pegboard.runtime import Pegboard
from pegboard.testing import Turn


def test_the_graph_of_a_message_is_one_agent() -> None:
    conversation = Conversation(id="c", principal="ada", model="fast:m")
    (node,) = chat_graph(an_exchange("m1"), conversation)

    assert node.kind == "agent"
    assert node.config == {"model": "fast:m", "conversation": "c", "message": "m1"}


@pytest.mark.parametrize(
    ("agent", "engine", "wanted"),
    [("shop", "", "own"), ("shop", "dag", "dag"), ("", "auto", "auto")],
    ids=["the agent's engine", "another one", "the generic assistant"],
)
def test_an_engine_is_a_goal(agent: str, engine: str, wanted: str) -> None:
    conversation = Conversation(id="c", principal="ada", agent=agent, engine=engine)
    (node,) = chat_graph(an_exchange("m1"), conversation)

    assert (node.kind, node.config["engine"]) == ("goal", wanted)


def test_the_end_of_a_run_is_the_end_of_its_message() -> None:
    output = {"text": "Hi.", "messages": [{"role": "assistant"}], "received": ["m2"]}
    node = NodeRun(id="agent", state=NodeState.CANCELLED, output=output)
    result = RunResult(run_id="r", state=NodeState.CANCELLED, nodes=(node,))
    ended, steered = read_end(an_exchange("m1"), result, 5.0)

    assert (ended.state, ended.answer, ended.finished_at) == ("cancelled", "Hi.", 5.0)
    assert ended.messages == ({"role": "assistant"},)
    assert (steered, ended.finish) == (("m2",), "stop")


def test_an_answer_that_the_model_cut_off_says_why() -> None:
    output = {"text": "Hi", "messages": [], "finish": "length"}
    node = NodeRun(id="agent", state=NodeState.COMPLETED, output=output)
    result = RunResult(run_id="r", state=NodeState.COMPLETED, nodes=(node,))

    assert read_end(an_exchange("m1"), result, 5.0)[0].finish == "length"


async def test_what_a_crash_left_between_two_steps_is_continued(tmp_path: Path) -> None:
    """A message whose run never began, as when the process died in between."""
    data = tmp_path / "data"
    async with a_board(tmp_path, data=data) as (board, _):
        store = board._open.storage.conversations
        await store.create(Conversation(id="c", principal=LOCAL.id))
        left = structs.replace(an_exchange("m1"), run_id=run_id_for(LOCAL, run_key_of("m1")))
        await store.append(left)
    async with a_board(tmp_path, ORDER, TOTAL, Turn(text="x"), data=data) as (board, _):
        await board.resume_interrupted()
        events = [
            event async for event in board.conversations.follow("c", until="m1", principal=LOCAL)
        ]

    assert events[-1].data["text"] == "It is 12.50 euros."


async def test_what_another_server_leaves_is_continued_while_this_one_runs(tmp_path: Path) -> None:
    async with a_board(tmp_path, Turn(text="Hi.")) as (board, _):
        board.conversations._answers._every = 0.02
        await board.resume_interrupted()
        await leave(board, ADA)
        store = board._open.storage.conversations
        while (left := await store.exchange("m1")) is None or left.state == "working":  # noqa: ASYNC110 - nobody follows it
            await asyncio.sleep(0.02)

    assert (left.state, left.answer) == ("completed", "Hi.")


async def test_runs_that_still_wait_for_a_person_are_not_read_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    looks = 0
    async with a_board(tmp_path, Turn(calls=(("refund", {"number": 7}),))) as (board, _):
        sent = await board.conversations.send(NewMessage(text="Refund 7."), principal=LOCAL)
        runs, store = board._open.storage.runs, board._open.storage.conversations
        while (run := await runs.get(sent.run_id)) is None or run.state != NodeState.WAITING:  # noqa: ASYNC110 - nobody follows it
            await asyncio.sleep(0.02)
        get, working = runs.get, store.working

        async def note(id_: str) -> Any:
            read.append(id_)
            return await get(id_)

        async def count() -> Any:
            nonlocal looks
            looks += 1
            return await working()

        monkeypatch.setattr(runs, "get", note)
        monkeypatch.setattr(store, "working", count)
        board.conversations._answers._every = 0.01
        await board.conversations._answers.recover()
        while looks < 4:  # noqa: ASYNC110 - nobody follows it
            await asyncio.sleep(0.01)

    assert read == []


ADA = Principal(id="ada", scopes=frozenset({"orders"}), roles=frozenset({"clerk"}))
WRITER = Principal(id="ada", scopes=frozenset({"orders", "write"}))


async def test_a_run_that_never_began_has_the_rights_of_who_sent_the_message(
    tmp_path: Path,
) -> None:
    async with a_board(tmp_path, Turn(text="Hi.")) as (board, _):
        await leave(board, ADA)
        await board.conversations.get("c", principal=Principal(id="ada"))
        run = await board._open.storage.runs.get(run_id_for(ADA, run_key_of("m1")))

    assert run is not None
    assert run.start.principal == ADA


async def test_a_message_that_waited_has_the_rights_of_who_sent_it(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def wait() -> str:
        """Wait."""
        await gate.wait()
        return "waited"

    turns = (Turn(calls=(("wait", {}),)), Turn(text="One."), Turn(text="Two."))
    async with a_board(tmp_path, *turns, tools=(wait,)) as (board, _):
        service = board.conversations
        first = await service.send(NewMessage(text="one"), principal=WRITER)
        second = await service.send(
            NewMessage(text="two", conversation=first.conversation), principal=ADA
        )
        gate.set()
        following = service.follow(first.conversation, until=second.id, principal=ADA)
        assert [event async for event in following]
        runs = [await board._open.storage.runs.get(item.run_id) for item in (first, second)]

    assert [run and run.start.principal for run in runs] == [WRITER, ADA]


async def test_a_start_in_progress_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, gate, starts = asyncio.Event(), asyncio.Event(), list[str]()
    async with a_board(tmp_path, Turn(text="Hi.")) as (board, _):
        start_graph = board.runs.start_graph

        async def start_late(*given: Any, **wanted: Any) -> Any:
            starts.append(wanted["key"])
            begun.set()
            await gate.wait()
            return await start_graph(*given, **wanted)

        monkeypatch.setattr(board.runs, "start_graph", start_late)
        await leave(board, ADA)
        async with asyncio.TaskGroup() as group:
            group.create_task(board.conversations.get("c", principal=ADA))
            await begun.wait()
            second = group.create_task(board.conversations.get("c", principal=ADA))
            following = board.conversations.follow("c", until="m1", principal=ADA)
            first_event = group.create_task(anext(following))
            gate.set()
        rest = [event async for event in following]

    assert starts == [run_key_of("m1")]
    assert [item.id for item in second.result()[1]] == ["m1"]
    assert (first_event.result().event, rest[-1].event) == ("run_started", "done")


async def leave(board: Pegboard, principal: Principal) -> None:
    """Store a message without its run, as a process that dies in between does."""
    store = board._open.storage.conversations
    await store.create(Conversation(id="c", principal=principal.id))
    left = structs.replace(
        an_exchange("m1"), principal=principal, run_id=run_id_for(principal, run_key_of("m1"))
    )
    await store.append(left)


def test_no_key_of_a_caller_takes_the_run_of_a_message() -> None:
    assert run_id_for(LOCAL, "m1") != run_id_for(LOCAL, run_key_of("m1"))
    assert not run_key_of("m1").isprintable()


async def test_a_deleted_conversation_leaves_nothing_in_its_runs_and_all_in_the_history(
    tmp_path: Path,
) -> None:
    async with a_board(tmp_path, ORDER, TOTAL, data=tmp_path / "data") as (board, _):
        _, id_ = await ask(board, "the secret of order 7")
        _, (exchange,) = await board.conversations.get(id_, principal=LOCAL)
        await board.conversations.delete(id_, principal=LOCAL)
        with pytest.raises(RunNotFound):
            await board.runs.get(exchange.run_id, principal=LOCAL)
        listed = await board.runs.list(principal=LOCAL)
        calls = await board.history.calls(HistoryQuery())

    assert listed.runs == ()
    assert [call["tool"] for call in calls.calls] == ["find_order"]


async def test_a_run_that_ends_after_its_conversation_was_deleted_is_deleted(
    tmp_path: Path,
) -> None:
    gate, begun = asyncio.Event(), asyncio.Event()

    async def wait() -> str:
        """Wait."""
        begun.set()
        await gate.wait()
        return "waited"

    turns = (Turn(calls=(("wait", {}),)), Turn(text="Hi."))
    async with a_board(tmp_path, *turns, tools=(wait,)) as (board, _):
        sent = await board.conversations.send(NewMessage(text="hello"), principal=LOCAL)
        await begun.wait()
        await board._open.storage.conversations.delete(sent.conversation)
        gate.set()
        async with asyncio.timeout(5):
            while (await board.runs.list(principal=LOCAL)).runs:  # noqa: ASYNC110 - its end is stored in the background
                await asyncio.sleep(0.01)


def test_only_a_run_of_a_message_is_one() -> None:
    principal = Principal(id="ada")
    conversation = Conversation(id="c", principal="ada")
    graph = write_graph(chat_graph(an_exchange("m1"), conversation))
    own = run_id_for(principal, run_key_of("m1"))
    starts = [
        RunStart(run_id=run_id, graph=graph, params={}, principal=principal, created_at=0.0)
        for run_id in (own, "r_another")
    ]

    assert list(map(answers_message, starts)) == [True, False]
