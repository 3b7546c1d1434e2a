"""Several `pegboard mcp` on one data directory: the second joins the first, and takes over."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from tests.durability.served import Server, until
from tests.servers.mcp.made import ERAS
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
    """Take until the file `go` is there."""
    Path("begun").touch()
    while not Path("go").exists():
        await asyncio.sleep(0.02)
    return "done"
'''
BOARD = "sources: [{kind: functions, name: my, config: {files: [tools.py]}}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return _fill(tmp_path)


def _fill(folder: Path) -> Path:
    (folder / "tools.py").write_text(MODULE)
    (folder / "board.yaml").write_text(BOARD)
    (folder / "other.yaml").write_text("sources: []\n")
    return folder


@dataclass(frozen=True)
class Held:
    """A folder with a data directory, and the `pegboard mcp` that holds it."""

    folder: Path
    process: "subprocess.Popen[str]"


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Held]:
    """For tests after which the same process still holds the directory."""
    folder = _fill(tmp_path_factory.mktemp("held"))
    with _start(folder) as process:
        _announced(folder)
        yield Held(folder, process)
        process.kill()


def _environment(**changes: str) -> dict[str, str]:
    own = {key: value for key, value in os.environ.items() if not key.startswith("PEGBOARD_")}
    return {**own, "PYTHONPATH": os.pathsep.join(sys.path), **changes}


def _command(folder: Path, *options: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "pegboard", "mcp", "--data", "data", *options],
        cwd=folder,
        env=_environment(),
    )


@asynccontextmanager
async def _client(
    folder: Path, *options: str, mode: str = "auto", errors: TextIO = sys.stderr
) -> AsyncGenerator[tuple[Client, int]]:
    """A client and the process that it starts."""
    before = {child.pid for child in psutil.Process().children()}
    stdio = stdio_client(_command(folder, *options), errlog=errors)
    async with Client(stdio, mode=mode) as client:
        (pid,) = {child.pid for child in psutil.Process().children()} - before
        yield client, pid


async def _which(client: Client) -> int:
    return int(words(await client.call_tool("my__which", {})))


def _run(folder: Path, *command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a command on the data directory to its end."""
    return subprocess.run(
        [sys.executable, "-m", "pegboard", *command, "--data", "data"],
        cwd=folder,
        env=_environment(**environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


async def test_a_second_process_joins_the_first(held: Held) -> None:
    async with _client(held.folder, mode=ERAS[0]) as (two, second):
        names = [tool.name for tool in (await two.list_tools()).tools]
        ran = await _which(two)

    assert ran == held.process.pid != second
    assert {"my__which", "my__linger"} <= set(names)


async def test_a_joined_process_has_its_own_selection(held: Held) -> None:
    async with (
        _client(held.folder, "--only", "my__which", mode=ERAS[1]) as (two, second),
        _client(held.folder, "--as", "my", mode=ERAS[1]) as (three, _),
    ):
        some = [tool.name for tool in (await two.list_tools()).tools]
        own = [tool.name for tool in (await three.list_tools()).tools]
        ran = await _which(two)

    assert some == ["my__which"]
    assert sorted(own) == ["linger", "which"]
    assert ran == held.process.pid != second


def test_a_selection_of_what_is_not_there_is_refused(held: Held) -> None:
    done = _run(held.folder, "mcp", "--source", "mine")

    assert done.returncode == 2
    assert "mine" in done.stderr


@pytest.mark.parametrize(
    ("number", "modes"),
    [(signal.SIGTERM, ERAS), (signal.SIGKILL, ERAS[::-1])],
    ids=["ends", "dies"],
)
async def test_when_the_first_ends_a_joined_process_takes_over(
    folder: Path, number: signal.Signals, modes: tuple[str, str]
) -> None:
    with _start(folder) as stdio:
        await _until_announced(folder)
        async with (
            _client(folder, mode=modes[0]) as (two, second),
            _client(folder, mode=modes[1]) as (three, third),
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


def _announced(folder: Path) -> dict[str, Any]:
    """What the holder of the data directory tells others, once it does."""
    lock = folder / "data" / "lock"
    until(lambda: lock.is_file() and lock.read_text().count("\n") == 2)
    return json.loads(lock.read_text().splitlines()[1])


async def _until_announced(folder: Path) -> None:
    await asyncio.to_thread(_announced, folder)


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


def test_another_board_is_not_joined(held: Held) -> None:
    done = _run(held.folder, "mcp", "--board", "other.yaml")

    assert done.returncode == 2
    assert "other.yaml" in done.stderr


async def test_mcp_joins_a_server(folder: Path) -> None:
    with Server(folder, environment={"PEGBOARD_DATA": "data"}) as server:
        async with _client(folder) as (client, _):
            served_by = await _which(client)

    assert served_by == server.process.pid


def test_a_command_finds_an_mcp_process(held: Held) -> None:
    done = _run(held.folder, "call", "my__which")

    assert (done.returncode, done.stdout) == (0, f"{held.process.pid}\n")


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
def test_without_the_token_of_the_start_nothing_is_answered(held: Held, line: bytes) -> None:
    host, _, port = _announced(held.folder)["mcp"].rpartition(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(line)
        answer = connection.recv(100)

    assert answer == b""


async def test_a_server_that_starts_takes_over_and_what_held_the_directory_joins_it(
    folder: Path,
) -> None:
    said = folder / "said.txt"
    with said.open("w") as errors:
        async with (
            _client(folder, mode=ERAS[0], errors=errors) as (one, first),
            _client(folder, mode=ERAS[1]) as (two, _),
        ):
            await _until_announced(folder)
            before = {await _which(one), await _which(two)}
            lingering = asyncio.create_task(one.call_tool("my__linger", {}))
            await asyncio.to_thread(until, (folder / "begun").exists)
            server = Server(folder, environment={"PEGBOARD_DATA": "data"})
            await asyncio.to_thread(until, lambda: "a server takes over" in said.read_text())
            (folder / "go").touch()
            with server:
                answered_first = await lingering
                during = {await _which_now(one), await _which_now(two)}
            after = {await _which_now(one), await _which_now(two)}

    assert before == {first}
    assert words(answered_first) == "done"
    assert during == {server.process.pid} != after
    assert len(after) == 1


def test_a_server_of_another_board_does_not_take_over(held: Held) -> None:
    before = _announced(held.folder)

    done = _run(held.folder, "serve", "--board", "other.yaml", PEGBOARD_PORT="0")

    assert done.returncode == 2
    assert f"process {held.process.pid} ('pegboard mcp'" in done.stderr
    assert "It serves the board" in done.stderr
    assert _announced(held.folder) == before
    assert held.process.poll() is None
