import asyncio
import os
import time
from pathlib import Path

import psutil
import pytest

from pegboard.core.ports.sandbox import SandboxJob, SandboxLimits
from pegboard.errors import SourceUnavailable
from pegboard.sources.script.plain_process import run_plainly


def job(script: str, **fields: object) -> SandboxJob:
    return SandboxJob(command=("/bin/sh", "-c", script), **fields)  # type: ignore[arg-type]  # fields of the job


async def test_output_input_and_exit_code_arrive() -> None:
    done = await run_plainly(job("cat; echo oops >&2; exit 3", stdin=b"hello"))

    assert (done.stdout, done.stderr, done.exit_code) == (b"hello", b"oops\n", 3)


async def test_a_process_sees_only_the_fixed_and_the_chosen_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_BOARD", "x")

    done = await run_plainly(job("env", environment={"CHOSEN": "1"}))

    names = {line.partition(b"=")[0] for line in done.stdout.splitlines()}
    assert names - {b"PWD", b"_", b"SHLVL", b"OLDPWD"} == {
        b"PATH",
        b"HOME",
        b"TMPDIR",
        b"LANG",
        b"CHOSEN",
    }


async def test_it_starts_in_a_private_folder_that_is_removed() -> None:
    done = await run_plainly(job("pwd; touch left; ls"))

    folder, left = done.stdout.decode().split()
    assert left == "left"
    assert not await asyncio.to_thread(os.path.lexists, folder)


async def test_it_starts_where_it_is_told(tmp_path: Path) -> None:
    done = await run_plainly(job("pwd", directory=tmp_path))

    assert done.stdout.decode().strip() == str(tmp_path)


async def test_output_is_cut_and_counted() -> None:
    limits = SandboxLimits(output_bytes=1024)
    script = "head -c 5000 /dev/zero; (head -c 5000 /dev/zero; printf end) >&2"

    done = await run_plainly(job(script, limits=limits))

    assert (len(done.stdout), done.stdout_bytes) == (1024, 5000)
    assert (len(done.stderr), done.stderr_bytes) == (1024, 5003)
    assert done.stderr.endswith(b"end")


async def test_output_without_end_hits_the_limit_of_a_file() -> None:
    limits = SandboxLimits(output_bytes=1024, file_bytes=1024 * 1024)

    done = await run_plainly(job("exec yes", limits=limits))

    assert done.exit_code == 128 + 25
    assert done.stdout_bytes < 2 * 1024 * 1024


async def test_a_command_that_hangs_is_killed_with_all_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = SandboxLimits(timeout=300)
    script = f"sleep 777 & echo $! > {tmp_path}/child; wait"
    running = asyncio.create_task(run_plainly(job(script, limits=limits)))
    await asyncio.to_thread(_is_written, tmp_path / "child")

    loop = asyncio.get_running_loop()
    now, ahead = loop.time, 0
    monkeypatch.setattr(loop, "time", lambda: now() + ahead)
    while not running.done():  # its time begins once asyncio knows that it runs
        ahead += 301
        await asyncio.sleep(0.01)
    done = await running

    assert done.stopped == "timeout"
    assert _is_gone(tmp_path / "child")


async def test_a_cancelled_command_is_killed_with_all_its_children(tmp_path: Path) -> None:
    script = f"sleep 777 & echo $! > {tmp_path}/child; wait"
    running = asyncio.create_task(run_plainly(job(script)))
    await asyncio.to_thread(_is_written, tmp_path / "child")

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert _is_gone(tmp_path / "child")


async def test_one_that_is_cancelled_as_soon_as_it_runs_is_killed_with_all_its_children(
    tmp_path: Path,
) -> None:
    child = tmp_path / "child"
    script = f"sleep 777 & echo $! > {child}; wait"
    running = asyncio.create_task(run_plainly(job(script)))
    while not child.exists():  # the loop goes on step by step, the script at once
        await asyncio.sleep(0)
        time.sleep(0.05)  # noqa: ASYNC251 - as above
    _is_written(child)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert _is_gone(child)


async def test_a_child_that_is_left_behind_holds_nothing_up(tmp_path: Path) -> None:
    started = time.monotonic()

    done = await run_plainly(job(f"sleep 777 & echo $! > {tmp_path}/child; echo done"))

    assert (done.stdout, done.exit_code) == (b"done\n", 0)
    assert time.monotonic() - started < 40
    assert _is_gone(tmp_path / "child")


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_processor_time_is_limited() -> None:
    done = await run_plainly(job("while :; do :; done", limits=SandboxLimits(cpu_seconds=0.5)))

    assert done.stopped == "cpu"


async def test_memory_is_limited() -> None:
    limits = SandboxLimits(memory_bytes=64 * 2**20)
    command = ("/usr/bin/perl", "-e", "my $x = 'x' x (512 * 1024 * 1024); print length $x")

    done = await run_plainly(SandboxJob(command=command, limits=limits))

    assert done.exit_code != 0
    assert done.stdout == b""


async def test_arguments_are_never_read_by_a_shell(tmp_path: Path) -> None:
    hostile = f"$(touch {tmp_path}/pwned); `id` 'x' \"y\" && exit 1\nz"

    done = await run_plainly(SandboxJob(command=("/bin/echo", hostile)))

    assert done.stdout.decode() == f"{hostile}\n"
    assert not (tmp_path / "pwned").exists()


async def test_a_signal_is_told_as_shells_do() -> None:
    assert (await run_plainly(job("kill -SEGV $$"))).exit_code == 128 + 11


async def test_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match="could not be started"):
        await run_plainly(job("true", directory=tmp_path / "gone"))


def _is_written(file: Path) -> None:
    until = time.monotonic() + 40
    while not (file.exists() and file.read_text().strip()):
        assert time.monotonic() < until
        time.sleep(0.01)


def _is_gone(file: Path) -> bool:
    """Whether the process has ended; one that nobody has collected yet has ended too."""
    until = time.monotonic() + 40
    pid = int(file.read_text())
    while time.monotonic() < until:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False
