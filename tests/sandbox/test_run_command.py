import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from tests.sandbox.inside import HastyClock, left_behind, python, shell, until

from pegboard.core.ports.sandbox import SandboxJob, SandboxLimits
from pegboard.errors import Overloaded, Unavailable
from pegboard.sandbox import ProbedSandbox
from pegboard.sandbox.backend import JobUser
from pegboard.sandbox.landlock import Landlock
from pegboard.sandbox.run_command import resident_bytes, run_command


async def test_a_command_reads_its_input_and_gives_output_and_exit_code(
    sandbox: ProbedSandbox,
) -> None:
    outcome = await shell(sandbox, "tr a-z A-Z; echo oh >&2; exit 7", stdin=b"hello\n")

    assert (outcome.exit_code, outcome.stdout, outcome.stderr) == (7, b"HELLO\n", b"oh\n")
    assert (outcome.stdout_bytes, outcome.stderr_bytes, outcome.stopped) == (6, 3, "")
    assert 0 < outcome.duration < 40


async def test_much_input_that_nobody_reads_blocks_nothing(sandbox: ProbedSandbox) -> None:
    outcome = await shell(sandbox, "true", stdin=b"x" * 1_000_000)

    assert outcome.exit_code == 0


async def test_much_input_passes_through(sandbox: ProbedSandbox) -> None:
    limits = SandboxLimits(timeout=40, output_bytes=2_000_000)

    outcome = await shell(sandbox, "cat", stdin=b"x" * 1_500_000, limits=limits)

    assert outcome.stdout == b"x" * 1_500_000


async def test_a_signal_becomes_an_exit_code(sandbox: ProbedSandbox) -> None:
    assert (await shell(sandbox, "kill -15 $$")).exit_code == 143


async def test_output_without_end_is_cut_and_counted(
    sandbox: ProbedSandbox, hasty: HastyClock, common: Path
) -> None:
    limits = SandboxLimits(timeout=40, output_bytes=1000)
    much = "head -c 300000 /dev/zero"
    command = f"{much}; {much} >&2; touch written; yes & yes >&2"
    given: dict[str, Any] = {"writable": (common,), "directory": common, "limits": limits}
    running = asyncio.create_task(shell(sandbox, command, **given))
    await until((common / "written").exists)

    hasty.ahead = 100
    outcome = await running

    assert (len(outcome.stdout), len(outcome.stderr), outcome.stopped) == (1000, 1000, "timeout")
    assert min(outcome.stdout_bytes, outcome.stderr_bytes) > 100_000


async def test_a_command_that_writes_much_is_read_to_its_end(sandbox: ProbedSandbox) -> None:
    limits = SandboxLimits(timeout=40, output_bytes=10)

    outcome = await shell(sandbox, "head -c 3000000 /dev/zero; exit 5", limits=limits)

    assert (outcome.exit_code, outcome.stdout_bytes, len(outcome.stdout)) == (5, 3_000_000, 10)


async def test_programs_are_started_without_a_shell(sandbox: ProbedSandbox) -> None:
    job = SandboxJob(command=("echo", "$HOME", "a b", "*"))

    assert (await sandbox.run(job)).stdout == b"$HOME a b *\n"


async def test_a_program_in_the_folder_is_found_by_its_path(
    sandbox: ProbedSandbox, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("#!/bin/sh\necho $1\n")
    (tmp_path / "mine").chmod(0o755)
    job = SandboxJob(command=("./mine", "hi"), readable=(tmp_path,), directory=tmp_path)

    assert (await sandbox.run(job)).stdout == b"hi\n"


async def test_a_program_that_is_none_fails_as_in_a_shell(
    sandbox: ProbedSandbox, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("no program")
    job = SandboxJob(command=("./mine",), readable=(tmp_path,), directory=tmp_path)

    outcome = await sandbox.run(job)

    assert outcome.exit_code == 126
    assert b"./mine: Permission denied" in outcome.stderr


async def test_variables_of_the_job_go_before_ours(sandbox: ProbedSandbox) -> None:
    outcome = await shell(sandbox, "echo $LANG $MINE", environment={"LANG": "C", "MINE": "x=y"})

    assert outcome.stdout == b"C x=y\n"


async def test_jobs_run_beside_each_other_and_beside_the_event_loop(
    sandbox: ProbedSandbox, common: Path
) -> None:
    given: dict[str, Any] = {"writable": (common,), "directory": common}
    command = "touch began-{0}; while ! test -e go; do sleep 0.05; done; echo {0}"
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(shell(sandbox, command.format(n), **given)) for n in range(6)]
        await until(lambda: len(list(common.glob("began-*"))) == 6)
        (common / "go").touch()

    assert [task.result().stdout for task in tasks] == [f"{n}\n".encode() for n in range(6)]


async def test_jobs_leave_nothing_behind(sandbox: ProbedSandbox) -> None:
    await shell(sandbox, "true")
    before = left_behind()

    for _ in range(5):
        await shell(sandbox, "echo x > y; (sleep 50 &); exit 1")
    await shell(sandbox, "sleep 50", limits=SandboxLimits(timeout=0.3))

    assert left_behind().since(before) == []


class _Broken(Landlock):
    def walls(self, _job: SandboxJob, _user: JobUser, /) -> list[str]:
        return ["/bin/sh", "-c", "echo why not >&2; exit 1"]


class _Missing(Landlock):
    def walls(self, _job: SandboxJob, _user: JobUser, /) -> list[str]:
        return ["/no/such/program"]


class _Unruly(Landlock):
    """Its folder does not exist: the confining program itself fails."""

    def landlock(self, job: SandboxJob, user: JobUser, /) -> None:
        return None

    def orders(self, job: SandboxJob, user: JobUser) -> dict[str, object]:
        return {**super().orders(job, user), "directory": "/no/such/folder"}


@pytest.mark.parametrize(
    ("back_end", "detail"),
    [(_Broken(), "why not"), (_Unruly(), "/no/such/folder: No such file or directory")],
    ids=["before", "within"],
)
async def test_walls_that_fail_leave_the_command_unstarted(
    back_end: Landlock, detail: str, tmp_path: Path
) -> None:
    before = left_behind()
    mark = tmp_path / "mark"
    job = SandboxJob(command=("/bin/touch", str(mark)), writable=(tmp_path,))

    with pytest.raises(Unavailable, match="could not be set up; nothing was run") as caught:
        await run_command(back_end, job)

    assert str(caught.value.__cause__) == detail
    assert caught.value.nothing_done
    assert not mark.exists()
    assert left_behind().since(before) == []


async def test_a_program_that_cannot_be_started_is_said_to_be_so() -> None:
    before = left_behind()

    with pytest.raises(Overloaded, match="No process could be started"):
        await run_command(_Missing(), SandboxJob(command=("/bin/true",)))

    assert left_behind().since(before) == []


async def test_memory_is_counted_over_all_descendants(sandbox: ProbedSandbox) -> None:
    before = resident_bytes(os.getpid())
    code = "held = bytearray(100 << 20); import time; time.sleep(60)"
    task = asyncio.create_task(python(sandbox, code))
    await until(lambda: resident_bytes(os.getpid()) - before > 90 << 20)
    task.cancel()
    await asyncio.wait([task])
