"""`pegboard serve` as a process: it listens, answers, and ends when told to."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path

import pytest
from tests.cli.conftest import Command

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def server(folder: Path) -> Generator[subprocess.Popen[str]]:
    """A server on a free port, ended by its id whatever happens."""
    command = [sys.executable, "-m", "pegboard", "serve", "--port", "0", "--data", "data"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def terminal(folder: Path) -> Generator[tuple[subprocess.Popen[bytes], int]]:
    """A server on a terminal of its own, and the other end of that terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pegboard", "serve", "--port", "0"]
    process = subprocess.Popen(command, cwd=folder, stdout=theirs, stderr=theirs)
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


def execute(address: str, name: str) -> None:
    """Call a tool; how it ends does not matter."""
    headers = {"content-type": "application/json"}
    body = json.dumps({"name": name}).encode()
    asked = urllib.request.Request(f"{address}/execute", body, headers)
    with suppress(urllib.error.HTTPError):
        urllib.request.urlopen(asked, timeout=30).close()


@pytest.mark.slow
def test_on_a_terminal_it_shows_its_board_and_a_line_a_call(
    terminal: tuple[subprocess.Popen[bytes], int], folder: Path
) -> None:
    process, shown = terminal
    start = read_until(shown, "no tool\n\n")
    execute(start.splitlines()[0].rpartition(" ")[2], "my__crash")
    call = read_until(shown, ")\n")
    (folder / "board.yaml").write_text("souces: []")
    refused = read_until(shown, "'sources'?\n")
    process.send_signal(signal.SIGINT)

    assert [line for line in start.splitlines()[1:] if not line.startswith("  console ")] == [
        "  board     board.yaml",
        "  data      in memory: nothing is kept when the server stops; --data DIR keeps it",
        "  tools     6",
        "  sources   my  5 tools",
        "  warnings  deny rule '*crash_not*' (board.yaml:4): it matches no tool",
        "",
    ]
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d  call    my__crash +failed +(< 1|\d+) ms  "
        r"'my__crash' failed\.  \(ValueError: the password is hunter2 in tools\.py:\d+\)  "
        r"\(error id e_\w+\)\n",
        call,
    )
    assert "  error   reload refused, the board is unchanged: board.yaml:1: souces" in refused
    assert process.wait(timeout=50) == 0


@pytest.mark.slow
def test_elsewhere_it_writes_json_to_stderr(folder: Path) -> None:
    command = [sys.executable, "-m", "pegboard", "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip().rpartition(" ")[2]
        execute(address, "my__greet")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=50)

    lines = [json.loads(line) for line in said.splitlines()]
    assert [line["event"] for line in lines] == ["source", "server", "call"]
    assert lines[1]["url"] == address
    assert (lines[2]["tool"], lines[2]["status"]) == ("my__greet", "invalid")


@pytest.mark.slow
def test_it_tells_its_address_answers_and_ends_with_0(server: subprocess.Popen[str]) -> None:
    assert server.stdout is not None
    line = server.stdout.readline()
    address = line.strip().rpartition(" ")[2]

    with urllib.request.urlopen(f"{address}/readyz", timeout=30) as answer:
        status = answer.status
    server.send_signal(signal.SIGTERM)

    assert line.startswith("Pegboard listens on http://127.0.0.1:")
    assert status == 200
    assert server.wait(timeout=50) == 0


def test_it_refuses_to_listen_beyond_loopback_without_a_token(pegboard: Command) -> None:
    done = pegboard("serve", "--host", "0.0.0.0")

    assert done.returncode == 2
    assert "PEGBOARD_TOKEN" in done.stderr


def test_it_needs_a_board_that_is_there(pegboard: Command) -> None:
    done = pegboard("serve", "--board", "no.yaml")

    assert done.returncode == 2
    assert "pegboard init" in done.stderr
