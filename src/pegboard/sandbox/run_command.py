"""Runs one job with one back end: starts it, feeds it, reads it, and ends all of it."""

import asyncio
import marshal
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from pegboard.core.ports.sandbox import SandboxJob, SandboxOutcome
from pegboard.errors import Overloaded, Unavailable
from pegboard.sandbox.backend import BackEnd, JobUser, own_uid
from pegboard.sandbox.bubblewrap import FOLDER
from pegboard.sandbox.memory import resident_bytes

_CHUNK = 65536
_SETTLE = 30.0
"""Seconds in which all of a job dies, on a machine that stands still for a while as well."""

_LOOK_EVERY = 0.25
_CONFINED = b"\n"


async def run_command(back_end: BackEnd, job: SandboxJob) -> SandboxOutcome:
    """Run a checked job; when this returns or raises, all its processes and files are gone.

    Raises:
        Unavailable: The walls could not be put up, which the cause tells; nothing has run.
        Overloaded: No process could be started; nothing has run.
    """
    began = time.monotonic()
    folder = tempfile.mkdtemp(prefix="pegboard-job-") if back_end.folder_on_disk else None
    try:
        seat = JobUser(folder=folder or FOLDER, uid=own_uid())
        running = await _start(back_end, job, seat)
        try:
            stopped = await running.watch(began + job.limits.timeout)
        finally:
            await running.end()
        return running.outcome(back_end.name, stopped, duration=time.monotonic() - began)
    finally:
        if folder is not None:
            await asyncio.to_thread(_remove, folder)


class _Output:
    """What a stream gave: as much as is kept, and how much there was."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.size = 0

    async def drain(self, stream: StreamReader, most: int) -> None:
        while chunk := await stream.read(_CHUNK):
            self.kept += chunk[: most - len(self.kept)]
            self.size += len(chunk)


class _Running:
    """A started job: its process, and the pipes that are not its standard ones."""

    def __init__(self, process: Process, job: SandboxJob, *, status: int, life: int | None) -> None:
        self._process = process
        self._job = job
        self._status = status
        self._told = b""
        self._life = life
        self._out, self._err = _Output(), _Output()
        most = job.limits.output_bytes
        self._tasks = [
            asyncio.create_task(self._out.drain(cast("StreamReader", process.stdout), most)),
            asyncio.create_task(self._err.drain(cast("StreamReader", process.stderr), most)),
            asyncio.create_task(_feed(cast("StreamWriter", process.stdin), job.stdin)),
        ]

    async def watch(self, deadline: float) -> str:
        """Wait until it ends or has to be ended; says why it has to be."""
        ended = asyncio.create_task(self._process.wait())
        try:
            while not ended.done():
                left = deadline - time.monotonic()
                if left <= 0:
                    return "timeout"
                await asyncio.wait([ended], timeout=min(left, _LOOK_EVERY))
                if not ended.done() and await self._is_too_large():
                    return "memory"
        finally:
            ended.cancel()
        return ""

    async def _is_too_large(self) -> bool:
        size = await asyncio.to_thread(resident_bytes, self._process.pid)
        return size > self._job.limits.memory_bytes

    async def end(self) -> None:
        """Kill what is left of it, and wait until it is gone and read to the end."""
        if self._life is not None:
            os.close(self._life)
        elif self._process.returncode is None:
            self._kill()
        try:
            async with asyncio.timeout(_SETTLE):
                await self._process.wait()
        except TimeoutError:
            self._kill()
            await self._process.wait()
        _, late = await asyncio.wait(self._tasks, timeout=_SETTLE)
        for task in late:
            task.cancel()
        await asyncio.wait(self._tasks)
        with suppress(BlockingIOError):  # killed before it told, and not quite gone
            self._told = os.read(self._status, _CHUNK)
        os.close(self._status)

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)

    def outcome(self, name: str, stopped: str, *, duration: float) -> SandboxOutcome:
        """How it ended.

        Raises:
            Unavailable: It never began.
        """
        code = _shell_code(self._process.returncode)
        if self._told != _CONFINED and not stopped:
            detail = bytes(self._told or self._err.kept or f"exit code {code}".encode())
            raise Unavailable(
                f"The sandbox ({name}) could not be set up; nothing was run.", nothing_done=True
            ) from RuntimeError(detail.decode("utf-8", "replace").strip())
        if not stopped and code == 128 + signal.SIGXCPU:
            stopped = "cpu"
        return SandboxOutcome(
            exit_code=128 + signal.SIGKILL if stopped in {"timeout", "memory"} else code,
            stdout=bytes(self._out.kept),
            stderr=bytes(self._err.kept),
            stopped=stopped,
            duration=duration,
            stdout_bytes=self._out.size,
            stderr_bytes=self._err.size,
        )


async def _start(back_end: BackEnd, job: SandboxJob, seat: JobUser) -> _Running:
    orders = os.memfd_create("orders")
    _write_all(orders, marshal.dumps(back_end.orders(job, seat)))
    os.lseek(orders, 0, os.SEEK_SET)
    status, told = os.pipe()
    theirs = [orders, told]
    life = None
    if back_end.supervised:
        kept, life = os.pipe()
        theirs.append(kept)
    descriptors = [*map(str, theirs), *["-"] * (3 - len(theirs))]
    try:
        process = await asyncio.create_subprocess_exec(
            *back_end.argv(job, seat, *descriptors),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env={},
            cwd="/",
            pass_fds=theirs,
            start_new_session=True,
        )
    except BaseException as error:
        for descriptor in (status, life):
            if descriptor is not None:
                os.close(descriptor)
        if isinstance(error, OSError):
            raise Overloaded("No process could be started for this.", nothing_done=True) from error
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    os.set_blocking(status, False)
    return _Running(process, job, status=status, life=life)


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


async def _feed(stream: StreamWriter, data: bytes) -> None:
    with suppress(ConnectionError):  # it does not read, or has ended
        stream.write(data)
        await stream.drain()
    stream.close()


def _shell_code(code: int | None) -> int:
    return 0 if code is None else code if code >= 0 else 128 - code


def _remove(folder: str) -> None:
    """Remove a folder that its user may have done anything to; nobody does so any more."""

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
