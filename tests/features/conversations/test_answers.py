"""The runs that answer messages."""

from pathlib import Path

import pytest
from msgspec import structs
from tests.features.conversations.made import ORDER, TOTAL, a_board
from tests.features.conversations.test_history import an_exchange

from pegboard.core.graph import NodeState
from pegboard.core.ports.conversation_store import Conversation
from pegboard.core.principal import LOCAL
from pegboard.core.run import NodeRun, RunResult
from pegboard.features.conversations.answers import chat_graph, read_end, run_key_of
from pegboard.features.runs.start import run_id_for
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
    assert steered == ("m2",)


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


def test_no_key_of_a_caller_takes_the_run_of_a_message() -> None:
    assert run_id_for(LOCAL, "m1") != run_id_for(LOCAL, run_key_of("m1"))
    assert not run_key_of("m1").isprintable()
