"""Runs a job as a plain process of this user: limits and a process group, but no sandbox."""

import asyncio
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pegboard.concurrency.child_process import ProcessResult, ProcessSpec, run_process
from pegboard.concurrency.process_tree import descendants
from pegboard.core.ports.sandbox import SandboxJob, SandboxLimits, SandboxOutcome
from pegboard.errors import Overloaded, SourceUnavailable
from pegboard.sources.script.interpreters import PATH


async def run_plainly(job: SandboxJob) -> SandboxOutcome:
    """Run a command to its end; its whole process group is gone when this returns.

    A process that starts a session of its own leaves the group: only a sandbox keeps hold of it.

    Raises:
        SourceUnavailable: The program cannot be started.
        Overloaded: The machine starts no more processes.
    """
    limits = job.limits

    async def check(process: int) -> str:
        """Find shared memory, which no limit of the system counts."""
        held = await asyncio.to_thread(_largest, process)
        return "memory" if held > limits.memory_bytes else ""

    with tempfile.TemporaryDirectory(
        prefix="pegboard-script-", ignore_cleanup_errors=True
    ) as private:
        spec = ProcessSpec(
            arguments=_with_limits(job),
            environment=_environment(job.environment, private),
            directory=job.directory or Path(private),
            has_watchdog=True,
        )
        try:
            result = await run_process(
                spec,
                stdin=job.stdin,
                timeout=limits.timeout,
                output_bytes=limits.output_bytes,
                max_output_bytes=max(limits.file_bytes, limits.output_bytes),
                stderr="tail",  # the end says what went wrong
                check=check,
            )
        except BlockingIOError as error:
            raise Overloaded("No process could be started.", nothing_done=True) from error
        except OSError as error:
            raise SourceUnavailable("The script could not be started.") from error
    return _outcome(result)


def _largest(process: int) -> int:
    """The memory of the largest process among this one and its descendants."""
    return max((item.resident for item in descendants(process, itself=True)), default=0)


def _outcome(result: ProcessResult) -> SandboxOutcome:
    outcome = SandboxOutcome(
        exit_code=result.exit_code,
        stdout=result.stdout,
        stderr=result.stderr,
        stopped=result.stopped,
        duration=result.duration,
        stdout_bytes=result.stdout_bytes,
        stderr_bytes=result.stderr_bytes,
    )
    if result.stopped == "output":  # as a file ends it that is too large
        return replace(outcome, stopped="", exit_code=128 + signal.SIGXFSZ)
    if not result.stopped and result.returncode == -signal.SIGXCPU:
        return replace(outcome, stopped="cpu")
    return outcome


def _with_limits(job: SandboxJob) -> tuple[str, ...]:
    """The command behind a shell that sets limits and is replaced by it.

    The shell reads the command as its own arguments, never as text. Limits that a system does not
    have are skipped; the number of processes is not limited, because the limit counts all of the
    user's.
    """
    return ("/bin/sh", "-c", f'{_ulimits(job.limits)}exec "$@"', "sh", *job.command)


def _ulimits(limits: SandboxLimits) -> str:
    cpu = int(limits.cpu_seconds or limits.timeout) + 1
    values = {
        "c": 0,
        "d": limits.memory_bytes // 1024,
        "f": limits.file_bytes // 512 + 1,
        "H -t": cpu + 1,
        "S -t": cpu,  # the soft limit ends it by a signal that says which limit it was
    }
    return "".join(f"ulimit -{key} {value} 2>/dev/null || :; " for key, value in values.items())


def _environment(chosen: Mapping[str, str], private: str) -> dict[str, str]:
    fixed = {"PATH": PATH, "HOME": private, "TMPDIR": private, "LANG": "C.UTF-8"}
    return {**fixed, **chosen}
