"""`serve_stdio` as the process it is, and the client that starts it."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from tests.servers.mcp.test_handlers import words
from tests.sources.mcp.opening import children

from pegboard.servers.mcp.stdio.relay import CUT_OFF
from pegboard.servers.mcp.stdio.serve import GRACE, _is_running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

MODULE = '''
import asyncio
import atexit
import pathlib
import subprocess
import sys

from pegboard import tool

print("printed while importing")
atexit.register(print, "printed at the end")


@tool(effect="read")
def greet(name: str = "you") -> str:
    """Print, and greet somebody."""
    print("printed while greeting")
    sys.stdout.flush()
    subprocess.run(["echo", "a child prints"], check=True)
    return f"Hello {name}! stdin has {sys.stdin.read()!r}"


@tool(effect="write")
async def linger() -> str:
    """Take a while."""
    pathlib.Path("begun").touch()
    await asyncio.sleep(60)
    return "done"


@tool(effect="read")
async def brief() -> str:
    """Take a second."""
    await asyncio.sleep(1)
    return "done"


@tool(effect="read")
async def stubborn() -> str:
    """Take a while, whatever anybody says."""
    while True:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            pass
'''
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(name: str, number: int = 2) -> dict[str, Any]:
    params = {"name": name, "arguments": {}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "my_tools.py").write_text(MODULE)
    (tmp_path / "board.yaml").write_text(
        "sources: [{kind: functions, name: my, config: {files: [my_tools.py]}}]\n"
    )
    return tmp_path


def started(folder: Path, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
    usual = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    return subprocess.Popen(
        [sys.executable, "-m", "pegboard", "mcp", *arguments],
        cwd=folder,
        env={**usual, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def say(process: "subprocess.Popen[str]", *messages: Any) -> None:
    assert process.stdin is not None
    for message in messages:
        text = message if isinstance(message, str) else json.dumps(message)
        process.stdin.write(text + "\n")
    process.stdin.flush()


def heard(process: "subprocess.Popen[str]") -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


async def test_a_client_starts_lists_calls_and_ends_it(folder: Path, era: str) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "pegboard", "mcp"], cwd=folder
    )
    with (folder / "stderr").open("w+") as stderr:
        async with Client(stdio_client(server, errlog=stderr), mode=era) as client:
            names = [item.name for item in (await client.list_tools()).tools]
            async with asyncio.TaskGroup() as group:
                calls = [
                    group.create_task(client.call_tool("my__greet", {"name": f"{n}"}))
                    for n in range(10)
                ]
        stderr.seek(0)
        printed = stderr.read()

    assert "my__greet" in names
    assert [words(item.result()) for item in calls] == [
        f"Hello {n}! stdin has ''" for n in range(10)
    ]
    assert {"printed while importing", "printed while greeting", "a child prints"} <= set(
        printed.splitlines()
    )
    assert not children()


def test_stdout_carries_nothing_but_the_protocol(folder: Path) -> None:
    process = started(folder, PEGBOARD_LOG="stderr")
    say(process, INITIALIZE, INITIALIZED, call("my__greet"))
    first, second = heard(process), heard(process)
    out, err = process.communicate(timeout=80)

    assert first["result"]["serverInfo"]["name"] == "pegboard"
    assert second["result"]["content"][0]["text"].startswith("Hello you!")
    assert out == ""
    assert '"event": "call"' in err
    assert {"printed while importing", "printed at the end"} <= set(err.splitlines())
    assert process.returncode == 0


def test_a_signal_ends_it_although_the_client_writes_nothing(folder: Path) -> None:
    codes = {number: _end_by(number, folder) for number in (signal.SIGTERM, signal.SIGINT)}

    history = subprocess.run(
        [sys.executable, "-m", "pegboard", "history", "--data", "data", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert codes == {signal.SIGTERM: 0, signal.SIGINT: 0}
    assert [row["status"] for row in json.loads(history.stdout)["calls"]] == ["cancelled"] * 2


def _end_by(number: signal.Signals, folder: Path) -> int:
    """How a process ends that gets this signal while a call runs."""
    process = started(folder, "--data", "data")
    say(process, INITIALIZE, INITIALIZED)
    heard(process)
    say(process, call("my__linger"))
    _wait_for_start(folder)
    (folder / "begun").unlink()
    process.send_signal(number)
    process.wait(timeout=80)
    process.communicate()
    return process.returncode


def _wait_for_start(folder: Path) -> None:
    end = time.monotonic() + 40
    while not (folder / "begun").exists():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_end_of_stdin_ends_it_and_what_does_not_end_by_itself(folder: Path) -> None:
    process = started(folder)
    say(process, INITIALIZE, INITIALIZED, call("my__stubborn", 2), call("my__linger", 3))
    heard(process)
    began = time.monotonic()
    out, err = process.communicate(timeout=40)

    answers = [json.loads(line) for line in out.splitlines()]
    assert GRACE < time.monotonic() - began < GRACE + 32
    assert [item["error"]["message"] for item in answers if item["id"] == 3] == [CUT_OFF]
    assert process.returncode == 0
    assert "could not be cancelled" in err


def test_what_runs_at_the_end_of_stdin_is_answered_first(folder: Path) -> None:
    process = started(folder)
    say(process, INITIALIZE, INITIALIZED, call("my__brief", 2), call("my__brief", 3))
    out, _ = process.communicate(timeout=80)  # which closes stdin

    answers = {item["id"]: item["result"] for item in map(json.loads, out.splitlines())}
    assert process.returncode == 0
    assert [answers[key]["content"][0]["text"] for key in (2, 3)] == ["done", "done"]


def test_lines_that_are_no_messages_are_answered_and_skipped(folder: Path) -> None:
    process = started(folder, PEGBOARD_MAX_REQUEST_BYTES="100000")
    say(process, "no json", "", '{"jsonrpc": "2.0"}', "x" * 150_000, "y" * 90_000, INITIALIZE)
    answers = [heard(process) for _ in range(5)]
    process.communicate(timeout=80)

    errors = [(item["id"], item["error"]["code"]) for item in answers[:4]]
    assert errors == [(None, -32700), (None, -32600), (None, -32600), (None, -32700)]
    assert answers[4]["id"] == 1


def test_a_client_that_stops_reading_does_not_keep_it(folder: Path) -> None:
    process = started(folder)
    say(process, INITIALIZE, INITIALIZED)
    heard(process)
    assert process.stdout is not None
    process.stdout.close()
    say(process, *(call("my__greet", number) for number in range(2, 6)))
    assert process.stdin is not None
    process.stdin.close()

    assert process.wait(timeout=80) == 0
    assert process.stderr is not None
    process.stderr.close()


def test_a_part_of_the_board_is_served(folder: Path) -> None:
    process = started(folder, "--as", "my", "--exclude", "*stub*")
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    say(process, INITIALIZE, INITIALIZED, listing)
    heard(process)
    names = [item["name"] for item in heard(process)["result"]["tools"]]
    process.communicate(timeout=80)

    assert names == ["brief", "greet", "linger"]


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (["--as", "nothing"], {}, "There is no source 'nothing' on the board; it has my."),
        (["--only", "my__gret"], {}, "Nothing on the board matches 'my__gret'; did you mean 'my__"),
        (["--board", "none.yaml"], {}, "There is no board file none.yaml"),
        ([], {"PEGBOARD_LOG": "stdout"}, "PEGBOARD_LOG is stdout, which carries the protocol"),
    ],
    ids=["source", "glob", "board", "log"],
)
def test_what_cannot_be_served_is_told_in_one_line(
    folder: Path, arguments: list[str], environment: dict[str, str], said: str
) -> None:
    process = started(folder, *arguments, **environment)
    out, err = process.communicate(timeout=80)

    assert (process.returncode, out) == (2, "")
    (line,) = [line for line in err.splitlines() if not line.startswith("printed ")]
    assert re.fullmatch(f"pegboard: {re.escape(said)}.*", line)


def test_a_process_that_has_ended_is_told_from_one_that_has_made_way() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass

    assert _is_running(os.getpid())
    assert not _is_running(ended.pid)
    assert not _is_running(0)
