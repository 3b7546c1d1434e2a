"""Runs a job as a plain process of this user: limits and a process group, but no walls."""

import asyncio
import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from pegboard.concurrency.start_or_undo import start_or_undo
from pegboard.core.ports.sandbox import SandboxJob, SandboxLimits, SandboxOutcome
from pegboard.errors import Overloaded, SourceUnavailable
from pegboard.sources.script.interpreters import PATH

_SIGNALLED = 128


async def run_plainly(job: SandboxJob) -> SandboxOutcome:
    """Run a command to its end; its whole process group is gone when this returns.

    Output goes to files, so that a child which outlives the command holds nothing up. A process
    that starts a session of its own leaves the group: only a sandbox keeps hold of it.

    Raises:
        SourceUnavailable: The program cannot be started.
        Overloaded: The machine starts no more processes.
    """
    with contextlib.ExitStack() as stack:
        private = Path(stack.enter_context(_private_folder()))
        stdin, stdout, stderr = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        stdin.write(job.stdin)
        stdin.seek(0)
        started = time.monotonic()
        process = await start_or_undo(_started(job, private, (stdin, stdout, stderr)), undo=_undone)
        stopped = ""
        try:
            async with asyncio.timeout(job.limits.timeout):
                await process.wait()
        except TimeoutError:
            stopped = "timeout"
        finally:
            _kill_group(process)  # also those that a script has left behind
            code = await process.wait()
        if not stopped and code == -signal.SIGXCPU:
            stopped = "cpu"
        return SandboxOutcome(
            exit_code=code if code >= 0 else _SIGNALLED - code,
            stdout=_head(stdout, job.limits.output_bytes),
            stderr=_tail(stderr, job.limits.output_bytes),
            stopped=stopped,
            duration=time.monotonic() - started,
            stdout_bytes=_size(stdout),
            stderr_bytes=_size(stderr),
        )


def _kill_group(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _private_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="pegboard-script-", ignore_cleanup_errors=True)


async def _undone(process: asyncio.subprocess.Process) -> None:
    _kill_group(process)
    await process.wait()


async def _started(
    job: SandboxJob, private: Path, files: tuple[IO[bytes], IO[bytes], IO[bytes]]
) -> asyncio.subprocess.Process:
    stdin, stdout, stderr = files
    try:
        return await asyncio.create_subprocess_exec(
            *_limited(job),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=job.directory or private,
            env=_environment(job.environment, private),
            start_new_session=True,
        )
    except BlockingIOError as error:
        raise Overloaded("No process could be started.", nothing_done=True) from error
    except OSError as error:
        raise SourceUnavailable("The script could not be started.") from error


def _limited(job: SandboxJob) -> tuple[str, ...]:
    """The command behind a shell that sets limits and is replaced by it.

    The shell reads the command as its own arguments, never as text. Limits that a system does not
    have are passed over; the number of processes is not limited, because it counts all of the
    user's.
    """
    return ("/bin/sh", "-c", f'{_ulimits(job.limits)}exec "$@"', "sh", *job.command)


def _ulimits(limits: SandboxLimits) -> str:
    cpu = int(limits.cpu_seconds or limits.timeout) + 1
    wanted = {
        "c": 0,
        "v": limits.memory_bytes // 1024,
        "f": max(limits.file_bytes, limits.output_bytes) // 512 + 1,
        "H -t": cpu + 1,
        "S -t": cpu,  # the soft limit ends it by a signal that says which limit it was
    }
    return "".join(f"ulimit -{key} {value} 2>/dev/null || :; " for key, value in wanted.items())


def _environment(chosen: Mapping[str, str], private: Path) -> dict[str, str]:
    fixed = {"PATH": PATH, "HOME": str(private), "TMPDIR": str(private), "LANG": "C.UTF-8"}
    return {**fixed, **chosen}


def _size(file: IO[bytes]) -> int:
    return file.seek(0, os.SEEK_END)


def _head(file: IO[bytes], most: int) -> bytes:
    file.seek(0)
    return file.read(most)


def _tail(file: IO[bytes], most: int) -> bytes:
    """The end says what went wrong."""
    file.seek(max(0, _size(file) - most))
    return file.read()
