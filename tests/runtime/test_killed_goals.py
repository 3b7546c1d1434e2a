"""A goal whose process is killed goes on in the next one, and repeats no step that ended."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engines.dag.made import Team, a_step, task_of

from pegboard import Pegboard, tool
from pegboard.core.model_messages import ModelRequest, ToolMessage
from pegboard.core.principal import LOCAL
from pegboard.features.conversations import NewMessage
from pegboard.testing import Turn

ASK = """
import asyncio, pathlib, sys
from tests.runtime.test_killed_goals import ask_and_die

asyncio.run(ask_and_die(pathlib.Path(sys.argv[1])))
"""
ROOT = Path(__file__).parents[2]
MESSAGE = NewMessage(text="Look up a and b.", engine="dag", key="once")


def work(text: str, request: ModelRequest) -> Turn:
    if isinstance(request.messages[-1], ToolMessage):
        return Turn(text=f"{task_of(text)} is done")
    return Turn(calls=((f"look_{task_of(text)}", {}),))


def make_board(folder: Path, team: Team, look_b: Callable[[], str]) -> Pegboard:
    """A board with two tools, and data on SQLite."""
    log = folder / "calls.txt"

    def look_a() -> str:
        with log.open("a") as file:
            file.write("a\n")
        return "found"

    (folder / "board.yaml").write_text("sources: []\n")
    tools = [
        tool(name="look_a", effect="write")(look_a),
        tool(name="look_b", effect="read")(look_b),
    ]
    return Pegboard(folder / "board.yaml", data=folder / "data", model=team.model, tools=tools)


async def ask_and_die(folder: Path) -> None:
    """Send the message; the process dies in the second step, once the first has ended."""
    log = folder / "calls.txt"
    first = asyncio.Event()

    def die() -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    def slow(text: str, request: ModelRequest) -> Turn:
        turn = work(text, request)
        if turn.text:
            first.set()
        return turn

    team = Team([[a_step("a"), a_step("b", "a")]], work=slow)
    async with make_board(folder, team, die) as board:
        await board.conversations.send(MESSAGE, principal=LOCAL)
        await first.wait()
        await asyncio.sleep(60)
    raise AssertionError(f"it lives; {log.read_text()}")


@pytest.mark.slow
@pytest.mark.timeout(90)
async def test_a_killed_goal_goes_on_where_it_was(tmp_path: Path) -> None:
    killed = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", ASK, str(tmp_path)], cwd=ROOT, check=False
    )
    team = Team([], work=work)
    async with make_board(tmp_path, team, lambda: "found") as board:
        await board.resume_interrupted()
        exchange = await board.conversations.send(MESSAGE, principal=LOCAL)
        events = [
            event
            async for event in board.conversations.follow(
                exchange.conversation,
                after=(exchange.number, 0),
                until=exchange.id,
                principal=LOCAL,
            )
        ]

    assert killed.returncode == -signal.SIGKILL
    assert (tmp_path / "calls.txt").read_text() == "a\n"
    assert team.roles() == ["work", "judge", "answer"]
    assert events[-1].data["text"] == "All done."
    assert [event.event for event in events].count("plan") == 1
    states = [
        (e.data["step_id"], e.data["state"])
        for e in events
        if e.event == "step" and "step_id" in e.data
    ]
    assert states.count(("a", "completed")) == states.count(("b", "completed")) == 1
