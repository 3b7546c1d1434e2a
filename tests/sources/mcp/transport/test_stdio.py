"""Server processes: started, listened to, ended, and never left behind."""

import asyncio
import json
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.sources.mcp.opening import (
    ANN,
    BOB,
    GUARDED,
    STDIO,
    WORKSHOP,
    by_action,
    call_of,
    children,
    is_alive,
    let_pass,
    logged,
    opened,
    until,
)
from tests.sources.mcp.rogue import half, rogue, said

from pegboard.errors import MCPConnectionError
from pegboard.sources.mcp.transport import stdio
from pegboard.sources.mcp.transport.stdio import ServerCommand, ServerProcess, read_lines

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # servers take seconds to start


def _command(program: str, *arguments: str, directory: Path | None = None) -> ServerCommand:
    return ServerCommand(
        name="it",
        program=program,
        arguments=arguments,
        environment={"PATH": os.environ["PATH"]},
        directory=directory or Path.cwd(),
        hide=lambda text: text.replace("hush", "***"),
    )


async def test_a_child_sees_few_variables_and_those_that_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DATABASE_PASSWORD", "of this process alone")
    config = {**STDIO, "env": {"WORKSHOP_COLOUR": "red"}}

    async with opened(config) as source:
        tools = await by_action(source)
        result = await tools["variables"].run({}, call_of())

    names = set(result.structured["result"])
    assert "WORKSHOP_COLOUR" in names
    assert "DATABASE_PASSWORD" not in names
    ours = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "CHILD_OF_PEGBOARD"}
    assert names <= ours | {"WORKSHOP_COLOUR", "LC_CTYPE"}


async def test_a_board_is_a_server_of_a_board_that_is_a_server_of_a_board(tmp_path: Path) -> None:
    pegboard = f"command: {json.dumps(sys.executable)}, args: [-m, pegboard"
    inner = f"{{kind: mcp, name: inner, config: {{{pegboard}.mcp]}}}}"
    (tmp_path / "board.yaml").write_text(f"sources: [{inner}]\n")
    config = {"command": sys.executable, "args": ["-m", "pegboard", "mcp"], "cwd": str(tmp_path)}

    async with opened(config) as source:
        async with asyncio.timeout(50):
            found = "inner__calculator"
            while found not in (tools := await by_action(source)):  # noqa: ASYNC110 - see `until`
                await asyncio.sleep(0.05)
        tool = tools[found]
        result = await tool.run({"expression": "6 * 7"}, call_of())

    assert result.structured == {"result": 42}
    assert not children()


async def test_each_caller_has_a_process_of_their_own() -> None:
    async with opened(rogue(tools_call=[said("$PID")])) as source:
        plain = (await by_action(source))["plain"]
        anns, bobs, again = [
            int((await plain.run({}, call_of(caller))).text) for caller in (ANN, BOB, ANN)
        ]

    assert anns == again != bobs
    assert not children()


async def test_a_server_that_dies_midway_is_told_at_once_and_the_next_call_starts_another() -> None:
    async with opened(STDIO) as source:
        tools = await by_action(source)
        async with asyncio.timeout(40):
            with pytest.raises(MCPConnectionError, match=r"exit code 3.*out of glue") as caught:
                await tools["die"].run({}, call_of())
        again = await tools["add"].run({"a": 1, "b": 1}, call_of())

    assert not caught.value.nothing_done
    assert again.structured == {"result": 2}
    assert not children()


async def test_a_server_that_is_killed_leaves_nothing_and_comes_back() -> None:
    async with opened(rogue(tools_call=[said("$PID")])) as source:
        plain = (await by_action(source))["plain"]
        first = int((await plain.run({}, call_of())).text)
        os.kill(first, signal.SIGKILL)
        await until(lambda: not psutil.pid_exists(first))
        for _ in range(3):  # the end of its output is on its way
            await asyncio.sleep(0.1)
        second = int((await plain.run({}, call_of())).text)

    assert second != first
    assert not children()


async def test_calls_in_flight_fail_when_the_source_is_closed() -> None:
    async with opened(rogue(tools_call=[half()])) as source:
        tools = await by_action(source)
        began = asyncio.Event()
        ctx = call_of(on_progress=lambda _: began.set())
        waiting = asyncio.create_task(_awaited(tools["plain"].run({}, ctx)))
        await began.wait()
        await source.close()
        with pytest.raises(MCPConnectionError):
            await waiting

    assert not children()


async def _awaited(work: object) -> object:
    return await work  # type: ignore[misc]  # a tool's run is awaitable


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_crash_of_ours_takes_servers_and_their_children_along(tmp_path: Path) -> None:
    script = tmp_path / "board.py"
    script.write_text(
        f"{GUARDED}"
        "import asyncio, os, pathlib, signal\n"
        "from pegboard.core.ports.services import Services\n"
        "from pegboard.sources.mcp import KIND\n"
        "from pegboard.sources.mcp.config import McpConfig\n"
        "async def main():\n"
        f"    config = McpConfig(command='sh', args=('-c', {_stubborn(tmp_path)!r}))\n"
        "    source = await KIND.open('s', config, Services())\n"
        "    asyncio.ensure_future(source.tools())\n"
        f"    folder = pathlib.Path({str(tmp_path)!r})\n"
        "    def are_there():\n"
        "        return sum(item.stat().st_size > 0 for item in folder.glob('*.pid')) == 2\n"
        "    while not (are_there() and is_guarded()):\n"
        "        await asyncio.sleep(0.05)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )

    crashed = subprocess.run([sys.executable, script], check=False, timeout=60)

    assert crashed.returncode == -signal.SIGKILL
    left = [int(file.read_text()) for file in tmp_path.glob("*.pid")]
    assert len(left) == 2
    asyncio.run(until(lambda: not any(map(is_alive, left))))


async def test_one_that_is_given_up_as_soon_as_it_runs_leaves_nothing(tmp_path: Path) -> None:
    there = tmp_path / "there"
    script = f"sleep 600 & setsid sleep 600 & echo $! > {there}; exec sleep 600"
    starting = asyncio.create_task(ServerProcess.start(_command("sh", "-c", script)))
    while not (there.exists() and there.read_text()):  # the server goes on, the loop step by step
        await asyncio.sleep(0)
        time.sleep(0.05)  # noqa: ASYNC251 - as above
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting

    await until(lambda: not is_alive(int(there.read_text())))
    await until(lambda: not children())


def _stubborn(folder: Path) -> str:
    """A server that reads nothing, with a child that does neither: closing pipes ends neither."""
    inner = f"echo $$ > {folder}/inner.pid; trap '' TERM HUP; while :; do sleep 1; done"
    return (
        f'echo $$ > {folder}/outer.pid; sh -c "{inner.replace("$", chr(92) + "$")}" & '
        "trap '' TERM HUP; while :; do sleep 1; done"
    )


async def test_stderr_is_logged_without_secrets_and_not_without_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loud = "import sys\nfor i in range(1100): print(f'line {i} hush', file=sys.stderr)"
    child = await ServerProcess.start(_command(sys.executable, "-c", loud))
    with caplog.at_level(logging.INFO, logger="pegboard.mcp"):
        await child.log_stderr()
    await child.stop()
    await child.close()

    lines = logged(caplog)
    assert lines[0] == "it says: line 0 ***"
    assert lines[-1] == "it writes more to stderr than is logged"
    assert len(lines) == 1001
    assert "line 1099 ***" in child.reason()
    assert "hush" not in child.reason()


async def test_noise_on_stdout_is_told_once_and_messages_between_it_arrive(
    caplog: pytest.LogCaptureFixture,
) -> None:
    message = '{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    lines = f"Wood shavings\n\n{message}\nMore hush\n{message}"
    child = await ServerProcess.start(_command("printf", "%s", lines))
    arrived: list[object] = []

    async def deliver(item: object) -> None:
        arrived.append(item)

    await child.receive(deliver)
    await child.wait_for_exit()
    await child.stop()
    await child.close()

    assert len(arrived) == 2
    assert [item for item in caplog.messages if "Wood shavings" in item] == [
        "it writes something that is not MCP to stdout: Wood shavings"
    ]
    assert child.reason().startswith("it ended with exit code 0; its stdout has something")


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"command": "no-such-program"}, "no program 'no-such-program'; install it"),
        ({"command": "sh -c true"}, r"write command: sh, args: \[-c, true\]"),
        ({"command": str(WORKSHOP)}, "may not be executed"),
        ({"command": "true", "cwd": "/no/such/folder"}, "/no/such/folder does not exist.*'cwd'"),
        ({"command": "a\0b"}, "cannot be started"),
        ({"command": "sh", "args": ["-c", "echo no key >&2; exit 7"]}, "exit code 7.*no key"),
        ({"command": "sh", "args": ["-c", "kill -9 $$"]}, "ended by signal SIGKILL"),
        ({"command": "echo", "args": ["hello"]}, "that is not MCP: hello"),
    ],
    ids=["missing", "a line", "forbidden", "folder", "null", "exit", "signal", "noise"],
)
async def test_what_cannot_be_started_says_what_to_check(
    config: dict[str, object], words: str
) -> None:
    async with opened(dict(config)) as source:
        with pytest.raises(MCPConnectionError, match=words):
            await source.tools()

    assert not children()


async def test_a_server_that_never_greets_is_given_up_and_killed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    hung = {"command": "sh", "args": ["-c", "echo thinking >&2; exec sleep 600"]}

    async with opened({**hung, "connect_timeout": 300}) as source:
        with caplog.at_level(logging.INFO, logger="pegboard.mcp"):
            listing = asyncio.create_task(_awaited(source.tools()))
            await until(lambda: "thinking" in caplog.text)
        let_pass(301, monkeypatch)
        with pytest.raises(
            MCPConnectionError, match=r"did not complete the handshake within 300 s.*thinking"
        ):
            await listing
        await until(lambda: not children())


async def test_one_that_will_not_go_is_killed() -> None:
    stubborn = "trap '' TERM; while :; do sleep 0.1; done"
    child = await ServerProcess.start(_command("sh", "-c", stubborn))
    await asyncio.sleep(0.2)
    stopping = asyncio.create_task(child.stop())
    await asyncio.wait([stopping])
    await child.close()

    assert not psutil.pid_exists(child.pid)
    assert "it was ended" in child.reason()


async def test_servers_that_never_said_a_word_are_gone_at_once_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stdio, "_GRACE_SECONDS", 60.0)
    stubborn = "trap '' TERM; while :; do sleep 0.1; done"
    hung = [await ServerProcess.start(_command("sh", "-c", stubborn)) for _ in range(5)]
    await asyncio.sleep(0.2)

    async with asyncio.timeout(40):  # each would have twice a minute if it had spoken
        await asyncio.gather(*(child.stop() for child in hung))
    for child in hung:
        await child.close()

    assert not any(psutil.pid_exists(child.pid) for child in hung)


async def test_a_server_that_has_spoken_may_put_its_things_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "_GRACE_SECONDS", 60.0)
    kept = tmp_path / "kept"
    line = '{"jsonrpc": "2.0", "method": "notifications/message"}'
    tidy = f"echo '{line}'; read -r _; sleep 0.7; echo tidy > {kept}"
    child = await ServerProcess.start(_command("sh", "-c", tidy))
    heard = asyncio.Event()

    async def hear(_message: object) -> None:
        heard.set()

    receiving = asyncio.create_task(child.receive(hear))
    await heard.wait()
    await child.stop()
    await receiving
    await child.close()

    assert kept.read_text() == "tidy\n"


def stream_of(*pieces: bytes) -> asyncio.StreamReader:
    stream = asyncio.StreamReader()
    for piece in pieces:
        stream.feed_data(piece)
    stream.feed_eof()
    return stream


async def test_each_line_is_whole_wherever_it_was_cut() -> None:
    stream = stream_of(b"on", b"e\ntw", b"o\n\nthree")

    assert [line async for line in read_lines(stream)] == [b"one", b"two", b"", b"three"]


async def test_a_line_beyond_the_longest_ends_it_all() -> None:
    told: list[bool] = []
    stream = stream_of(b"short\n" + b"x" * 101)

    found = [
        line
        async for line in read_lines(stream, on_excess=lambda: told.append(True), max_bytes=100)
    ]

    assert (found, told) == ([b"short"], [True])


async def test_a_line_that_may_be_cut_is_kept_in_part_alone() -> None:
    stream = asyncio.StreamReader(limit=2**20)
    reading = asyncio.create_task(_all(stream))
    for _ in range(40):
        stream.feed_data(b"x" * 8192)
        await asyncio.sleep(0)
    stream.feed_data(b"\nnext\n")
    stream.feed_eof()

    first, second = await reading

    assert 8192 <= len(first) < 40 * 8192
    assert second == b"next"


async def _all(stream: asyncio.StreamReader) -> list[bytes]:
    return [line async for line in read_lines(stream, is_cut=True)]
