"""A child process ends with everything it started, whatever ends first."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pegboard.concurrency.child_process import (
    ChildProcess,
    ProcessResult,
    ProcessSpec,
    run_process,
)

pytestmark = pytest.mark.timeout(60)
MARKED = "sleep 600 & setsid sleep 600 & echo $! > {file}; exec sleep 600"
DEPARTED = "sleep 600 & echo $! > {file}; wait"


def shell(script: str, **fields: object) -> ProcessSpec:
    environment = {"PATH": os.defpath}
    return ProcessSpec(
        arguments=("/bin/sh", "-c", script),
        environment=environment,
        **fields,  # type: ignore[arg-type]  # fields of the spec
    )


async def run(script: str, **options: object) -> ProcessResult:
    given: dict[str, object] = {"timeout": 40.0, "output_bytes": 100, **options}
    return await run_process(shell(script), **given)  # type: ignore[arg-type]  # as above


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(40):
        while not holds():  # noqa: ASYNC110 - what is waited for is outside this process
            await asyncio.sleep(0.01)


def has_text(file: Path) -> bool:
    return file.exists() and bool(file.read_text().strip())


async def until_gone(file: Path) -> None:
    await until(lambda: not is_alive(int(file.read_text())))


async def test_input_output_and_exit_code() -> None:
    result = await run("cat; echo oh >&2; exit 3", stdin=b"hello")

    assert (result.stdout, result.stderr, result.exit_code) == (b"hello", b"oh\n", 3)
    assert (result.stdout_bytes, result.stderr_bytes, result.stopped) == (5, 3, "")


async def test_a_signal_is_an_exit_code_as_in_a_shell() -> None:
    result = await run("kill -15 $$")

    assert (result.returncode, result.exit_code) == (-15, 143)


@pytest.mark.parametrize(("end", "kept"), [("head", b"12"), ("tail", b"89")])
async def test_output_is_cut_and_counted(end: str, kept: bytes) -> None:
    result = await run("printf 123456789; printf 123456789 >&2", output_bytes=2, stderr=end)

    assert (result.stdout, result.stdout_bytes) == (b"12", 9)
    assert (result.stderr, result.stderr_bytes) == (kept, 9)


async def test_output_without_end_is_stopped() -> None:
    result = await run("exec yes", max_output_bytes=1000)

    assert (result.stopped, len(result.stdout)) == ("output", 100)
    assert result.stdout_bytes < 200_000


async def test_a_check_stops_it_with_its_reason() -> None:
    async def check(pid: int) -> str:
        return f"process {pid} is enough"

    result = await run("exec sleep 600", check=check)

    assert result.stopped.endswith("is enough")
    assert result.returncode == -signal.SIGKILL


async def test_its_time_is_limited_with_that_of_its_children(tmp_path: Path) -> None:
    result = await run(DEPARTED.format(file=tmp_path / "child"), timeout=0.3)

    assert result.stopped == "timeout"
    if (tmp_path / "child").exists():
        await until_gone(tmp_path / "child")


async def test_what_it_leaves_behind_is_killed_and_holds_nothing_up(tmp_path: Path) -> None:
    file = tmp_path / "child"

    result = await run(f"sleep 600 & echo $! > {file}; echo done")

    assert result.stdout == b"done\n"
    await until_gone(file)


async def test_what_left_the_group_and_holds_the_output_is_not_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "child"

    result = await run(f"setsid sleep 600 & echo $! > {file}; echo done", drain_seconds=0.1)

    assert result.stdout == b"done\n"
    os.kill(int(file.read_text()), signal.SIGKILL)


async def test_a_cancelled_one_is_killed_with_its_children(tmp_path: Path) -> None:
    file = tmp_path / "child"
    running = asyncio.create_task(run(DEPARTED.format(file=file)))
    await until(lambda: has_text(file))

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    await until_gone(file)


async def test_one_that_is_cancelled_while_it_starts_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "child"
    spec = shell(MARKED.format(file=file), has_mark=True, has_watchdog=True)
    starting = asyncio.create_task(ChildProcess.start(spec))
    while not has_text(file):  # the child goes on, the loop step by step
        await asyncio.sleep(0)
        time.sleep(0.05)  # noqa: ASYNC251 - as above
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting

    await until_gone(file)


async def test_a_mark_finds_what_has_left_the_group(tmp_path: Path) -> None:
    file = tmp_path / "child"
    child = await ChildProcess.start(shell(MARKED.format(file=file), has_mark=True))
    await until(lambda: has_text(file))

    await child.end()
    await child.close()

    assert child.returncode == -signal.SIGKILL
    await until_gone(file)


async def test_a_lifeline_is_closed_instead_of_a_kill() -> None:
    watched, lifeline = os.pipe()
    spec = shell(
        f"read -r _ < /dev/fd/{watched}; echo released", pass_fds=(watched,), lifeline=lifeline
    )
    child = await ChildProcess.start(spec)
    os.close(watched)

    await child.end()

    assert (await child.stdout.read(), child.returncode) == (b"released\n", 0)
    await child.close()


@pytest.mark.parametrize("lifeline", [False, True])
async def test_a_program_that_cannot_be_started_leaves_no_descriptor(lifeline: bool) -> None:
    ends = os.pipe()
    spec = ProcessSpec(arguments=("/no/such",), lifeline=ends[1] if lifeline else None)

    with pytest.raises(FileNotFoundError):
        await ChildProcess.start(spec)

    os.close(ends[0])
    if not lifeline:
        os.close(ends[1])
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(ends[1])


@pytest.mark.slow
@pytest.mark.parametrize("options", ["", "has_mark=True"])
async def test_a_watchdog_kills_it_when_this_process_dies(tmp_path: Path, options: str) -> None:
    file = tmp_path / "child"
    script = (MARKED if options else DEPARTED).format(file=file)
    code = (
        "import asyncio, os, signal\n"
        "from pegboard.concurrency.child_process import ChildProcess, ProcessSpec\n"
        "async def main():\n"
        f"    arguments = ('/bin/sh', '-c', {script!r})\n"
        f"    spec = ProcessSpec(arguments=arguments, has_watchdog=True, {options})\n"
        "    await ChildProcess.start(spec)\n"
        f"    while not (os.path.exists({str(file)!r}) and os.path.getsize({str(file)!r})):\n"
        "        await asyncio.sleep(0.01)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    died = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], check=False)

    assert died.returncode == -signal.SIGKILL
    await until_gone(file)


async def test_a_watchdog_that_is_dismissed_kills_nothing() -> None:
    child = await ChildProcess.start(shell("exec sleep 600", has_watchdog=True))
    watchdog = child._watchdog
    assert watchdog is not None
    watchdog.stdin.write(b"done\n")

    assert await watchdog.wait(40)
    assert child.returncode is None
    await child.end()
    await child.close()
