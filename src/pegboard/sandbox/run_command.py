"""Runs one job with one back end."""

import asyncio
import marshal
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from pegboard.concurrency.child_process import ProcessResult, ProcessSpec, run_process
from pegboard.concurrency.process_tree import descendants
from pegboard.core.ports.sandbox import SandboxJob, SandboxOutcome
from pegboard.errors import Overloaded, Unavailable
from pegboard.sandbox.backend import BackEnd, JobUser, own_uid
from pegboard.sandbox.bubblewrap import FOLDER

_CHUNK = 65536
_SETTLE_SECONDS = 30.0
"""How long all of a job may take to die, on a machine that stalls for a while as well."""

_CONFINED = b"\n"
"""What the confining program reports when the job is about to start."""


async def run_command(back_end: BackEnd, job: SandboxJob) -> SandboxOutcome:
    """Run a checked job; when this returns or raises, all its processes and files are gone.

    Raises:
        Unavailable: The sandbox could not be set up, for the reason in `__cause__`; nothing has
            run.
        Overloaded: No process could be started; nothing has run.
    """
    folder = tempfile.mkdtemp(prefix="pegboard-job-") if back_end.folder_on_disk else None
    try:
        user = JobUser(folder=folder or FOLDER, uid=own_uid())
        with ExitStack() as descriptors:
            result, report = await _run(back_end, job, user, descriptors)
        return _outcome(back_end.name, result, report)
    finally:
        if folder is not None:
            await asyncio.to_thread(_remove, folder)


async def _run(
    back_end: BackEnd, job: SandboxJob, user: JobUser, descriptors: ExitStack
) -> tuple[ProcessResult, bytes]:
    """How the confining program ended, and what it reported about the start of the job."""

    def open_pipe() -> tuple[int, int]:
        reading, writing = os.pipe()
        descriptors.callback(os.close, reading)
        return reading, writing

    orders = os.memfd_create("orders")
    descriptors.callback(os.close, orders)
    _write_all(orders, marshal.dumps(back_end.orders(job, user)))
    os.lseek(orders, 0, os.SEEK_SET)
    status, report = open_pipe()
    descriptors.callback(os.close, report)
    os.set_blocking(status, False)
    inherited = [orders, report]
    lifeline = None
    if back_end.supervised:
        watched, lifeline = open_pipe()
        inherited.append(watched)
    numbers = [*map(str, inherited), *["-"] * (3 - len(inherited))]

    async def check(process: int) -> str:
        size = await asyncio.to_thread(resident_bytes, process)
        return "memory" if size > job.limits.memory_bytes else ""

    try:
        result = await run_process(
            ProcessSpec(
                arguments=tuple(back_end.argv(job, user, *numbers)),
                directory=Path("/"),
                pass_fds=tuple(inherited),
                lifeline=lifeline,
            ),
            stdin=job.stdin,
            timeout=job.limits.timeout,
            output_bytes=job.limits.output_bytes,
            check=check,
            drain_seconds=_SETTLE_SECONDS,
        )
    except OSError as error:
        raise Overloaded("No process could be started for this.", nothing_done=True) from error
    try:
        return result, os.read(status, _CHUNK)
    except BlockingIOError:  # killed before it reported
        return result, b""


def _outcome(name: str, result: ProcessResult, report: bytes) -> SandboxOutcome:
    stopped = result.stopped
    if report != _CONFINED and not stopped:
        detail = report or result.stderr or f"exit code {result.exit_code}".encode()
        raise Unavailable(
            f"The sandbox ({name}) could not be set up; nothing was run.", nothing_done=True
        ) from RuntimeError(detail.decode("utf-8", "replace").strip())
    if not stopped and result.exit_code == 128 + signal.SIGXCPU:
        stopped = "cpu"
    return SandboxOutcome(
        exit_code=128 + signal.SIGKILL if result.stopped else result.exit_code,
        stdout=result.stdout,
        stderr=result.stderr,
        stopped=stopped,
        duration=result.duration,
        stdout_bytes=result.stdout_bytes,
        stderr_bytes=result.stderr_bytes,
    )


def resident_bytes(process: int) -> int:
    """The memory of all descendants of a process; shared memory counts for each of them."""
    return sum(child.resident for child in descendants(process))


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _remove(folder: str) -> None:
    """Remove the folder of a job that has ended, whatever the job did to it."""

    def open_up(_function: Callable[..., Any], path: str, _error: Any) -> None:
        with suppress(OSError):
            for entry in (Path(path).parent, Path(path)):
                if stat.S_ISDIR(entry.lstat().st_mode):  # what a link names is not ours to change
                    entry.chmod(0o700)

    with suppress(OSError):
        os.rmdir(folder)  # noqa: PTH106 - mostly nothing was put there
        return
    remove = ["/bin/rm", "-rf", "--", folder]  # any depth at one price
    if subprocess.run(remove, check=False, stderr=subprocess.DEVNULL).returncode != 0:  # noqa: S603 - a fixed program
        with suppress(RecursionError):
            shutil.rmtree(folder, onerror=open_up)
        subprocess.run(remove, check=False)  # noqa: S603 - a fixed program
