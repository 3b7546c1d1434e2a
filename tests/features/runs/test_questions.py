"""The open questions of a run, and those that were lost with their process."""

from pathlib import Path
from typing import Any

from tests.features.conversations.made import a_board
from tests.features.conversations.test_questions import order

from pegboard.core.graph import Graph, Node
from pegboard.core.ports.run_store import RUN_TAKEN_OVER, RunEvent
from pegboard.core.principal import LOCAL
from pegboard.features.runs.questions import find_open_questions


def event(kind: str, question: str = "", **data: Any) -> RunEvent:
    asked = {"question": question} if question else {}
    return RunEvent(kind=kind, at=1.0, data={**asked, **data})


def open_ids(*events: RunEvent) -> list[str]:
    return [item.id for item in find_open_questions(events)]


def test_a_question_is_open_until_it_is_settled() -> None:
    asked = [event("question_required", "q_1", text="?"), event("question_required", "q_2")]

    assert open_ids(*asked) == ["q_1", "q_2"]
    assert open_ids(*asked, event("question_settled", "q_1", state="accepted")) == ["q_2"]


def test_a_question_does_not_outlive_its_process_or_its_run() -> None:
    asked = event("question_required", "q_1")

    assert open_ids(asked, event(RUN_TAKEN_OVER)) == []
    assert open_ids(asked, event("run_finished")) == []
    assert open_ids(asked, event(RUN_TAKEN_OVER), event("question_required", "q_2")) == ["q_2"]


async def test_a_tool_of_a_graph_asks_who_started_the_run(tmp_path: Path) -> None:
    graph = Graph(nodes=(Node(id="buy", tool="order"),), output="$.steps.buy.output")
    async with a_board(tmp_path, tools=(order,)) as (board, _):
        view = await board.runs.start_graph(graph, principal=LOCAL)
        asked = None
        async for seen in board.runs.events(view.id, principal=LOCAL):
            if seen.kind == "question_required":
                break
        (asked,) = (await board.runs.get(view.id, principal=LOCAL)).questions
        await board.runs.questions.answer(view.id, asked.id, "accept", {"size": 3}, principal=LOCAL)
        ended = await board.runs.wait(view.id, principal=LOCAL)

    assert asked is not None
    assert (asked.step, asked.tool, asked.text) == ("buy", "order", "Which size?")
    assert ended.result.output == "accept {'size': 3}"
