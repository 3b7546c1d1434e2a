import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx2
import pytest
import typer

from pegboard.cli.client.remote import RemoteBoard
from pegboard.cli.exit_codes import Exit
from pegboard.cli.output.runs import (
    QuestionPrompts,
    list_questions,
    print_and_exit,
    print_run,
    watch_run,
)
from pegboard.core.graph import Graph, NodeState
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.run_store import RunEvent, StoredRun
from pegboard.core.principal import LOCAL
from pegboard.core.run import NodeRun, PendingStep, RunResult
from pegboard.errors import RunNotFound
from pegboard.features.runs import RunView

START = RunStart(run_id="r1", graph={}, params={}, principal=LOCAL, created_at=1.0)


def a_run(state: NodeState, **changes: object) -> dict[str, Any]:
    node = NodeRun(id="a", state=state, started_at=1.0, duration_ms=5.0)
    result = RunResult(run_id="r1", state=state, nodes=(node,), **changes)  # pyright: ignore[reportArgumentType] - any field of it
    run = StoredRun(start=START, state=state)
    return RunView(run=run, graph=Graph(nodes=(), name="g"), result=result).to_dict()


@pytest.mark.parametrize(
    ("state", "code"),
    [
        pytest.param(NodeState.COMPLETED, Exit.DONE, id="completed"),
        pytest.param(NodeState.FAILED, Exit.FAILED, id="failed"),
        pytest.param(NodeState.CANCELLED, Exit.FAILED, id="cancelled"),
        pytest.param(NodeState.WAITING, Exit.UNAVAILABLE, id="waiting"),
    ],
)
def test_the_exit_code_says_how_a_run_is(state: NodeState, code: Exit) -> None:
    with pytest.raises(typer.Exit) as ended:
        print_and_exit(a_run(state), json=True)

    assert ended.value.exit_code == code


def test_people_see_the_error_and_what_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    pending = PendingStep(
        id="a", step="a", kind="unknown", message="Cut off.", choices=("happened",)
    )
    error = {"code": "timeout", "message": "Too late."}
    with pytest.raises(typer.Exit):
        print_and_exit(a_run(NodeState.WAITING, pending=(pending,), error=error), json=False)

    said = capsys.readouterr()
    assert said.out.startswith("r1  waiting  g\n")
    assert "Too late." in said.err
    assert (
        "waits for unknown at a: Cut off.\n  pegboard runs answer r1 a ANSWER  # happened\n"
        in said.err
    )


class Slow:
    """Runs of a machine that has much to do: it tells of a run after it rests."""

    def __init__(self) -> None:
        self.cause: Exception | None = None

    async def wait_for_run(self, run_id: str) -> dict[str, Any]:
        return a_run(NodeState.WAITING)

    async def last_event(self, run_id: str) -> int:
        if self.cause is not None:
            raise self.cause
        return 2

    async def follow_run(self, run_id: str, *, after: int) -> AsyncIterator[RunEvent]:
        await asyncio.sleep(0.3)
        for number, state in enumerate(("in_progress", "waiting"), 1):
            data = {"node": "a", "state": state}
            yield RunEvent(sequence=number, at=1.0, kind="node_changed", data=data)
            await asyncio.sleep(0.05)
        await asyncio.sleep(60)


async def test_what_has_happened_is_told_although_the_run_rests(
    capsys: pytest.CaptureFixture[str],
) -> None:
    board: Any = Slow()
    await watch_run(board, "r1", quiet=False, questions=QuestionPrompts())

    assert capsys.readouterr().err == "in_progress  a\nwaiting      a\n"


async def test_what_is_not_known_any_more_is_not_waited_for() -> None:
    board: Any = Slow()
    board.cause = RunNotFound("r1")

    assert (await watch_run(board, "r1", quiet=False, questions=QuestionPrompts()))[
        "state"
    ] == NodeState.WAITING


@pytest.mark.parametrize(
    ("pending", "command"),
    [
        (
            PendingStep(id="a/~1", step="a", kind="approval", choices=("approve", "deny")),
            "runs answer r1 'a/~1' approve --data data  # or deny",
        ),
        (
            PendingStep(id="a", step="a", kind="person", message="Which?"),
            "runs answer r1 a ANSWER --data data",
        ),
        (
            PendingStep(id="a", step="a", kind="event", event="paid"),
            "runs send r1 paid MESSAGE --data data",
        ),
        (PendingStep(id="~limit", step="", kind="time", until=0.0), "runs resume r1 --data data"),
    ],
    ids=["an approval", "a question", "a message", "a time"],
)
def test_people_are_told_what_to_type(
    pending: PendingStep, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_run(a_run(NodeState.WAITING, pending=(pending,)), options=" --data data")

    assert capsys.readouterr().err.endswith(f"\n  pegboard {command}\n")


def test_nobody_is_told_to_go_on_with_what_is_not_kept(capsys: pytest.CaptureFixture[str]) -> None:
    pending = PendingStep(id="a", step="a", kind="person", message="Which?")
    print_run(a_run(NodeState.WAITING, pending=(pending,)), is_kept=False)

    said = capsys.readouterr().err
    assert "pegboard runs" not in said
    assert "use --data DIR" in said


def test_the_cause_of_a_failed_run_is_one_command_away(capsys: pytest.CaptureFixture[str]) -> None:
    error = {"code": "tool_failed", "message": "'t' failed.", "error_id": "e_1"}
    print_run(a_run(NodeState.FAILED, error=error), options=" --data data")

    assert capsys.readouterr().err.endswith(
        "pegboard: 't' failed.\n  pegboard history --error e_1 --data data\n"
    )


def test_a_run_that_another_process_took_over_says_when(
    capsys: pytest.CaptureFixture[str],
) -> None:
    takeovers = [{"at": 0.0, "cause": "lost"}, {"at": 0.0, "cause": "stopped"}]
    print_run({**a_run(NodeState.COMPLETED), "takeovers": takeovers})
    lost, stopped = capsys.readouterr().err.splitlines()

    assert lost.endswith("the server process was lost, and another one took over")
    assert stopped.endswith("the server process was stopped, and another one took over")


class Asked:
    """A run that goes on once a tool has its answer."""

    def __init__(self) -> None:
        self.replies: list[tuple[str, str, Any]] = []
        self.has_answer = asyncio.Event()

    async def wait_for_run(self, run_id: str) -> dict[str, Any]:
        del run_id
        with suppress(TimeoutError):
            async with asyncio.timeout(0.3):
                await self.has_answer.wait()
        return a_run(NodeState.COMPLETED if self.replies else NodeState.WAITING)

    async def last_event(self, run_id: str) -> int:
        del run_id
        return 1

    async def follow_run(self, run_id: str, *, after: int) -> AsyncIterator[RunEvent]:
        del run_id, after
        data = {"question": "q1", "tool": "my__order", "text": "Which size?", "schema": FORM}
        yield RunEvent(sequence=1, at=1.0, kind="question_required", data=data)

    async def answer_run_question(
        self, run_id: str, question: str, action: str, content: Any = None
    ) -> str:
        del run_id
        self.replies.append((question, action, content))
        self.has_answer.set()
        return "accepted"


FORM = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}


@pytest.mark.parametrize("quiet", [False, True])
async def test_without_a_terminal_the_command_that_answers_is_printed(
    quiet: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    board: Any = Asked()
    questions = QuestionPrompts(options=" --data data")
    await watch_run(board, "r1", quiet=quiet, questions=questions)

    said = capsys.readouterr().err
    assert "the tool my__order asks:\n  | Which size?" in said
    assert "\n  pegboard runs answer r1 q1 --data data  # or --decline\n" in said
    assert board.replies == []


async def test_what_no_other_command_can_answer_is_declined(
    capsys: pytest.CaptureFixture[str],
) -> None:
    board: Any = Asked()
    await watch_run(board, "r1", quiet=True, questions=QuestionPrompts(is_kept=False))

    assert board.replies == [("q1", "decline", None)]
    assert "there is no terminal to answer at" in capsys.readouterr().err


async def test_the_questions_of_other_callers_are_listed_with_what_answers_them() -> None:
    asked: list[str] = []
    pending = [{"id": "ask", "message": "Well?"}]
    run = {"run_id": "r_1", "created_at": 0, "graph": "trip", "pending": pending}

    def serve(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return httpx2.Response(200, json={"runs": [run], "next_cursor": None})

    transport = httpx2.MockTransport(serve)
    async with httpx2.AsyncClient(transport=transport, base_url="http://server/v1") as client:
        board = RemoteBoard(client, "http://server")
        page = await board.list_runs(state="", limit=20, cursor="", assigned=True)
    ((id_, _, graph, question, text),) = list_questions(page["runs"])

    assert asked == ["http://server/v1/runs?limit=20&assigned=true"]
    assert (id_, graph, question, text) == ("r_1", "trip", "ask", "Well?")
