"""What a tool asks while `pegboard run` runs it is prompted for at a terminal."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.cli.conftest import Command

TOOLS = '''
from pegboard import ToolContext, tool
from pegboard.core.elicitation import Question

FORM = {"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]}


@tool(effect="read")
async def order(*, ctx: ToolContext) -> str:
    """Order a shirt; ask for its size."""
    answer = await ctx.ask(Question(message="Which size?", schema=FORM))
    return f"{answer.action} {dict(answer.content or {})}"
'''
PLAN = {"nodes": [{"id": "buy", "tool": "my__order"}], "output": "$.steps.buy.output"}


@pytest.fixture
def asking(folder: Path) -> Path:
    (folder / "tools.py").write_text(TOOLS)
    (folder / "plan.json").write_text(json.dumps(PLAN))
    return folder


@pytest.fixture
def terminal(asking: Path) -> Generator[tuple[subprocess.Popen[bytes], int]]:
    """The run on a terminal of its own, and the other end of that terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pegboard", "run", "plan.json"]
    environment = {key: value for key, value in os.environ.items() if "PEGBOARD" not in key}
    environment["PYTHONFAULTHANDLER"] = "1"  # one that hangs says where, see `ended`
    process = subprocess.Popen(
        command, cwd=asking, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    yield process, ours
    process.kill()
    process.communicate()
    os.close(ours)


def read_until(terminal: int, text: str) -> str:
    """What a terminal shows up to a text."""
    shown = ""
    while text not in shown:
        shown += os.read(terminal, 65536).decode().replace("\r\n", "\n")
    return shown


def ended(process: "subprocess.Popen[bytes]", screen: int) -> int:
    """The exit code of a process; where it hangs, the failure has the stacks of its threads."""
    try:
        return process.wait(40)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        pytest.fail(f"It hangs:\n{read_until(screen, 'Extension modules')}")


@pytest.mark.timeout(60)  # a process starts
def test_the_person_at_the_terminal_answers(terminal: tuple[subprocess.Popen[bytes], int]) -> None:
    process, screen = terminal
    asked = read_until(screen, "Answer?")
    os.write(screen, b"y\n")
    read_until(screen, "size (a number)")
    os.write(screen, b"42\n")
    shown = read_until(screen, "accept {'size': 42}")

    assert ended(process, screen) == 0
    assert "asks, by its tool my__order:\n  | Which size?" in asked
    assert "completed" in shown


@pytest.mark.timeout(60)  # a process starts
def test_a_run_can_be_interrupted_while_it_asks(
    terminal: tuple[subprocess.Popen[bytes], int],
) -> None:
    process, screen = terminal
    read_until(screen, "Answer?")
    process.send_signal(signal.SIGINT)

    assert ended(process, screen) in {1, 130}


def test_without_a_terminal_a_run_that_is_not_stored_declines(
    asking: Path, pegboard: Command
) -> None:
    done = pegboard("run", "plan.json")

    assert (asking / "plan.json").exists()
    assert done.stdout.endswith('"decline {}"\n')
    assert "Declined: there is no terminal to answer at" in done.stderr
