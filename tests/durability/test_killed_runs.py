"""`kill -9` of a process that plays runs, at fifteen moments, and what must be true afterwards."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.storage.made import ROOT

KILLS = 15
"""Each of three words with each of five pauses after it."""
TOOLS = '''
"""Tools whose effect outlives them: a line in a file."""

import os
from pathlib import Path

from pegboard import tool

EFFECTS = os.open(Path(__file__).parent / "effects.txt", os.O_CREAT | os.O_WRONLY | os.O_APPEND)


def _happens(line: str) -> str:
    os.write(EFFECTS, f"{line}\\n".encode())
    return line


@tool(effect="write")
def pay(step: str) -> str:
    """Pay."""
    return _happens(step)


@tool(effect="write")
def guarded(step: str) -> str:
    """Pay once a person agrees."""
    return _happens(step)


@tool(effect="read")
def look(step: str) -> str:
    """Look."""
    return step
'''
BOARD = """
sources: [{kind: functions, name: my, config: {files: [steps.py]}}]
policy: {ask: [my__guarded]}
"""
PLAYING = """
import asyncio, os, sys
from pathlib import Path
from pegboard.core.graph import Edge, Graph, Node, Wait
from pegboard.core.ports.approval_store import ApprovalQuery
from pegboard.core.ports.run_store import RunQuery
from pegboard.core.principal import LOCAL
from pegboard.runtime import Pegboard, Settings

import pegboard.durability, pegboard.features.approvals, pegboard.features.runs
import pegboard.graphs, pegboard.planning, pegboard.sources.functions.source, pegboard.storage

FOLDER = Path(sys.argv[1])

def say(word, name):
    print(word, name, flush=True)

def a_graph(name):
    def node(id, tool, *after):
        edges = tuple(Edge(node=each) for each in after)
        return Node(id=id, tool=f"my__{tool}", input={"step": f"{name}/{id}"}, edges=edges)
    ask = Node(id="ask", kind="wait", wait=Wait(question="Go on?"), edges=(Edge(node="see"),))
    return Graph(
        name=name,
        nodes=(
            node("one", "pay"), node("see", "look", "one"), ask,
            node("two", "guarded", "see"), node("three", "pay", "two", "ask"),
        ),
    )

def effects():
    path = FOLDER / "effects.txt"
    return path.read_text().split("\\n") if path.exists() else []

async def answered(board, run, pending):
    name = run.start.graph["name"]
    match pending.kind:
        case "unknown":
            has = f"{name}/{pending.step}" in effects()
            say("unknown", f"{name}/{pending.step}")
            verdict = {"answer": "happened" if has else "did_not_happen", "output": None}
            await board.runs.answer(run.start.run_id, pending.id, verdict, principal=LOCAL)
        case "person":
            await board.runs.answer(run.start.run_id, pending.id, "yes", principal=LOCAL)
        case _:
            pass  # an approval, which is decided where approvals are

async def gone_on(board, run_id):
    view = await board.runs.wait(run_id, principal=LOCAL)
    while not view.result.state.is_final:
        for pending in view.result.pending:
            await answered(board, view.run, pending)
        query = ApprovalQuery(run_id=run_id)
        for approval in (await board.approvals.list(query, principal=LOCAL)).approvals:
            if approval.state == "pending":
                say("asked", f"{approval.id} {run_id}")
                await board.approvals.decide(approval.id, "approve", principal=LOCAL)
                say("approved", f"{approval.id} {run_id}")
        await asyncio.sleep(0.001)
        view = await board.runs.wait(run_id, principal=LOCAL)
    say("ended", f"{view.result.state.value} {run_id}")

async def plays(board, life, number):
    for turn in range(100_000):
        name = f"{life}.{number}.{turn}"
        run = await board.runs.start_graph(a_graph(name), key=name, principal=LOCAL)
        say("started", f"{run.id} {name}")
        await gone_on(board, run.id)

async def main(life):
    settings = Settings(board=FOLDER / "board.yaml", data=FOLDER / "data", reload="off")
    async with Pegboard(settings=settings) as board, asyncio.TaskGroup() as group:
        say("open", "board")
        await board.runs.follow()
        for view in (await board.runs.list(RunQuery(limit=500), principal=LOCAL)).runs:
            if not view.run.state.is_final:
                group.create_task(gone_on(board, view.run.start.run_id))
        for number in range(0 if life == "last" else 3):
            group.create_task(plays(board, life, number))

# What takes long is imported once; each life is a process of its own all the same.
for line in sys.stdin:
    child = os.fork()
    if not child:
        asyncio.run(main(line.strip()))
        os._exit(0)
    say("born", child)
    _, status = os.waitpid(child, 0)
    print("\\nend", os.waitstatus_to_exitcode(status), flush=True)
"""


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_kills_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    (tmp_path / "steps.py").write_text(TOOLS)
    (tmp_path / "board.yaml").write_text(BOARD)
    said: list[str] = []
    with nursery(tmp_path) as process:
        for kill in range(KILLS):
            said += killed(process, kill)
        said += lived(process, "last")
    words = {word: lines_of(said, word) for word in ("started", "asked", "approved", "unknown")}
    names = dict(line.split(" ") for line in words["started"])
    runs, calls, approvals = kept(tmp_path)
    effects = Counter((tmp_path / "effects.txt").read_text().split("\n")[:-1])
    made = {
        f"{names.get(run, run)}/{step}" for run, step, _ in (key.split(":", 2) for key in calls)
    }

    assert len(names) > KILLS
    assert set(names) <= set(runs), "a run is lost"
    assert Counter(runs.values()) == {"completed": len(runs)}
    assert [step for step, times in effects.items() if times > 1] == [], "a step was done twice"
    assert len(effects) == 3 * len(runs)
    assert {step for step in effects if step.rpartition("/")[0] in names.values()} <= made
    assert {line.split(" ")[0] for line in words["asked"]} <= set(approvals)
    assert {line.split(" ")[0] for line in words["approved"]} <= set(approvals)
    assert set(approvals.values()) == {"used"}, "an answer was given for nothing"
    assert words["unknown"], "no kill fell into a call"


def lines_of(said: list[str], word: str) -> list[str]:
    """What was said with a word, without it; a line that the kill cut off is none."""
    return [line.partition(" ")[2] for line in said if line.startswith(f"{word} ")]


@contextmanager
def nursery(folder: Path) -> Generator["subprocess.Popen[str]"]:
    """A process that bears the lives that are named to it, one after the other."""
    process = subprocess.Popen(
        [sys.executable, "-c", PLAYING, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:  # with the life that it waits for
            os.killpg(process.pid, signal.SIGKILL)


def killed(process: "subprocess.Popen[str]", life: int) -> list[str]:
    """What a life said that was killed: at some moment, or right after it said a word.

    An approval is being decided when it was asked for, and decided but not used when it was
    approved.
    """
    word = ("open", "asked", "approved")[life % 3]
    said = lived(process, str(life), word=word, after=0.03 * (life % 5) + 0.001 * life)
    assert said[-1] == f"end {-signal.SIGKILL}"
    return said


def lived(
    process: "subprocess.Popen[str]", life: str, *, word: str = "", after: float = 0.0
) -> list[str]:
    """What a life said, to its end or until it is killed some time after it said a word."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{life}\n")
    process.stdin.flush()
    child, said, is_told = 0, [""], False
    while not said[-1].startswith("end "):
        said.append(process.stdout.readline().rstrip("\n"))
        if said[-1].startswith("born "):
            child = int(said[-1].removeprefix("born "))
        if word and said[-1].startswith(f"{word} "):
            is_told = True
        if is_told and child:
            time.sleep(after)
            os.kill(child, signal.SIGKILL)
            word, is_told = "", False
    return said


def kept(folder: Path) -> tuple[dict[str, str], list[str], dict[str, str]]:
    """States of runs and approvals by id, and the keys of all calls that write."""
    with closing(sqlite3.connect(folder / "data" / "pegboard.db")) as connection:
        runs = dict(connection.execute("SELECT id, state FROM runs"))
        approvals = dict(connection.execute("SELECT id, state FROM approvals"))
        records = [json.loads(body) for (body,) in connection.execute("SELECT body FROM calls")]
    return runs, [record["idempotency_key"] for record in records if record["run_id"]], approvals
