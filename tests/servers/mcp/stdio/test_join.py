"""Several `pegboard mcp` on one data directory: the second joins the first, and takes over."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from tests.durability.served import Server, until
from tests.servers.mcp.test_handlers import words

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

MODULE = '''
import asyncio
import os
from pathlib import Path

from pegboard import tool


@tool(effect="read")
def which() -> str:
    """Say which process runs this."""
    return str(os.getpid())


@tool(effect="write")
async def linger() -> str:
    """Take a while."""
    Path("begun").touch()
    await asyncio.sleep(60)
    return "done"
'''
BOARD = "sources: [{kind: functions, name: my, config: {files: [tools.py]}}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(MODULE)
    (tmp_path / "board.yaml").write_text(BOARD)
    return tmp_path


def _environment(**changes: str) -> dict[str, str]:
    own = {key: value for key, value in os.environ.items() if not key.startswith("PEGBOARD_")}
    return {**own, "PYTHONPATH": os.pathsep.join(sys.path), **changes}


def _command(folder: Path, *options: str, **environment: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "pegboard", "mcp", "--data", "data", *options],
        cwd=folder,
        env=_environment(**environment),
    )


@asynccontextmanager
async def _client(
    folder: Path, *options: str, mode: str = "auto", **environment: str
) -> AsyncGenerator[tuple[Client, int]]:
    """A client and the process that it starts."""
    before = {child.pid for child in psutil.Process().children()}
    stdio = stdio_client(_command(folder, *options, **environment))
    async with Client(stdio, mode=mode) as client:
        (pid,) = {child.pid for child in psutil.Process().children()} - before
        yield client, pid


async def _which(client: Client) -> int:
    return int(words(await client.call_tool("my__which", {})))


async def test_a_second_process_joins_the_first(folder: Path, era: str) -> None:
    async with _client(folder) as (one, first), _client(folder, mode=era) as (two, second):
        names = [tool.name for tool in (await two.list_tools()).tools]
        ran = (await _which(one), await _which(two))

    assert first != second
    assert ran == (first, first)
    assert {"my__which", "my__linger"} <= set(names)


async def test_a_joined_process_has_its_own_selection(folder: Path) -> None:
    async with (
        _client(folder),
        _client(folder, "--only", "my__which") as (two, _),
        _client(folder, "--as", "my") as (three, _),
    ):
        some = [tool.name for tool in (await two.list_tools()).tools]
        own = [tool.name for tool in (await three.list_tools()).tools]

    assert some == ["my__which"]
    assert sorted(own) == ["linger", "which"]


async def test_a_selection_of_what_is_not_there_is_refused(folder: Path) -> None:
    async with _client(folder):
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "pegboard", "mcp", "--data", "data", "--source", "mine"],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 2
    assert "mine" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["ends", "dies"])
async def test_when_the_first_ends_a_joined_process_takes_over(
    folder: Path, number: signal.Signals, era: str
) -> None:
    with _start(folder) as stdio:
        await _until_announced(folder)
        async with (
            _client(folder, mode=era) as (two, second),
            _client(folder, mode=era) as (three, third),
        ):
            before = await _which(two)
            lingering = asyncio.create_task(two.call_tool("my__linger", {}))
            await asyncio.to_thread(until, (folder / "begun").exists)
            stdio.send_signal(number)
            with pytest.raises(Exception, match=r"ended before it answered|Connection closed"):
                _raise_error(await lingering)
            after = {await _which_now(two), await _which_now(three)}

    assert before == stdio.pid
    assert len(after) == 1
    assert after < {second, third}


async def _which_now(client: Any) -> int:
    """The process that answers after a takeover; a request that met the end of one is repeated."""
    for _ in range(50):
        try:
            return await _which(client)
        except MCPError as error:
            if "ended before it answered" not in str(error):
                raise
    raise AssertionError("no process took over")


def _raise_error(result: Any) -> None:
    if result.is_error:
        raise RuntimeError(words(result))


async def _until_announced(folder: Path) -> dict[str, str]:
    lock = folder / "data" / "lock"

    def look() -> bool:
        return lock.is_file() and lock.read_text().count("\n") == 2

    await asyncio.to_thread(until, look)
    return json.loads(lock.read_text().splitlines()[1])


def _start(folder: Path, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "pegboard", "mcp", "--data", "data"],
        cwd=folder,
        env=_environment(**environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def test_a_process_with_other_settings_does_not_take_over(folder: Path) -> None:
    with _start(folder) as first:
        await _until_announced(folder)
        second = _start(folder, PEGBOARD_CALL_TIMEOUT="7")
        assert second.stderr is not None
        joined = await asyncio.to_thread(second.stderr.readline)
        first.kill()
        await asyncio.to_thread(second.wait)
        _, said = second.communicate()

    assert f"joined process {first.pid}" in joined
    assert second.returncode == 2
    assert "other settings" in said


async def test_another_board_is_not_joined(folder: Path) -> None:
    (folder / "other.yaml").write_text("sources: []\n")
    async with _client(folder):
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "pegboard", "mcp", "--data", "data", "--board", "other.yaml"],
            cwd=folder,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.returncode == 2
    assert "other.yaml" in done.stderr


async def test_mcp_joins_a_server_and_commands_find_an_mcp_process(folder: Path) -> None:
    with Server(folder, environment={"PEGBOARD_DATA": "data"}) as server:
        async with _client(folder) as (client, _):
            served_by = await _which(client)

    async with _client(folder) as (client, pid):
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "pegboard", "call", "my__which", "--data", "data"],
            cwd=folder,
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    assert served_by == server.process.pid
    assert (done.returncode, done.stdout) == (0, f"{pid}\n")


@pytest.mark.parametrize(
    "line",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b'{"token": "guessed"}\n',
        b'{"token": 1}\n',
        b"x" * 200_000 + b"\n",
    ],
    ids=["a browser", "a wrong token", "no text", "long"],
)
async def test_without_the_token_of_the_start_nothing_is_answered(
    folder: Path, line: bytes
) -> None:
    async with _client(folder):
        holder = await _until_announced(folder)
        host, _, port = holder["mcp"].rpartition(":")
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(line)
            answer = await asyncio.to_thread(connection.recv, 100)

    assert answer == b""


def _serve(folder: Path) -> Server:
    return Server(folder, environment={"PEGBOARD_DATA": "data"})


async def test_a_server_that_starts_takes_over_and_what_held_the_directory_joins_it(
    folder: Path, era: str
) -> None:
    async with _client(folder, mode=era) as (one, _), _client(folder, mode=era) as (two, _):
        await _until_announced(folder)
        before = {await _which(one), await _which(two)}
        with await asyncio.to_thread(_serve, folder) as server:
            during = {await _which_now(one), await _which_now(two)}
        after = {await _which_now(one), await _which_now(two)}

    assert len(before) == len(after) == 1
    assert during == {server.process.pid} != after


async def test_a_call_that_runs_when_a_server_starts_is_answered_first(folder: Path) -> None:
    (folder / "tools.py").write_text(MODULE.replace("sleep(60)", "sleep(0.5)"))
    async with _client(folder) as (client, _):
        await _until_announced(folder)
        lingering = asyncio.create_task(client.call_tool("my__linger", {}))
        await asyncio.to_thread(until, (folder / "begun").exists)
        with await asyncio.to_thread(_serve, folder):
            result = await lingering

    assert words(result) == "done"


async def test_a_server_of_another_board_does_not_take_over(folder: Path) -> None:
    (folder / "other.yaml").write_text("sources: []\n")
    async with _client(folder) as (client, pid):
        await _until_announced(folder)
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-m", "pegboard", "serve", "--data", "data", "--board", "other.yaml"],
            cwd=folder,
            env=_environment(PEGBOARD_PORT="0"),
            capture_output=True,
            text=True,
            check=False,
        )
        served_by = await _which(client)

    assert done.returncode == 2
    assert f"process {pid} ('pegboard mcp'" in done.stderr
    assert "It serves the board" in done.stderr
    assert served_by == pid
