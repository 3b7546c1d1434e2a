"""Runs small programs inside a sandbox, and looks for what they leave behind."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import psutil
from tests.peers.descriptors import descriptors

from pegboard.core.ports.sandbox import (
    CodeJob,
    CodeOutcome,
    Sandbox,
    SandboxJob,
    SandboxLimits,
    SandboxOutcome,
)

PYTHON = (str(Path(sys.executable).resolve()), "-I", "-S", "-c")
LITTLE = SandboxLimits(timeout=40.0, memory_bytes=32 << 20, output_bytes=1000)
BRIEF = replace(LITTLE, timeout=1.0)
ENOUGH = SandboxLimits(timeout=40.0, memory_bytes=256 << 20)


async def shell(sandbox: Sandbox, command: str, **job: Any) -> SandboxOutcome:
    """What a shell command gives."""
    job.setdefault("limits", ENOUGH)
    return await sandbox.run(SandboxJob(command=("/bin/sh", "-c", command), **job))


async def python(sandbox: Sandbox, code: str, *arguments: object, **job: Any) -> SandboxOutcome:
    """What a Python program gives; `ATTEMPT` has what most of them need."""
    job.setdefault("limits", ENOUGH)
    command = (*PYTHON, code, *map(str, arguments))
    return await sandbox.run(SandboxJob(command=command, **job))


async def run_code(sandbox: Sandbox, code: str, **job: Any) -> CodeOutcome:
    """How a piece of Python ends that has little of everything but time."""
    job.setdefault("limits", LITTLE)
    return await sandbox.run_code(CodeJob(code=code, **job))


async def attempt(sandbox: Sandbox, statement: str, *arguments: object, **job: Any) -> str:
    """What a statement prints inside, or the name of the error that it ends with."""
    code = (
        "import ctypes, os, signal, socket, sys\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def call(*numbers):\n"
        "    if libc.syscall(*numbers) < 0:\n"
        "        raise OSError(ctypes.get_errno(), 'refused')\n"
        "given = sys.argv[1:]\n"
        f"try:\n    {statement}\n"
        "except Exception as error:\n    print(type(error).__name__)\n"
        "else:\n    print('done')\n"
    )
    outcome = await python(sandbox, code, *arguments, **job)
    assert outcome.stderr == b""
    return outcome.stdout.decode().strip()


def text_of(path: Path) -> str:
    return path.read_text()


def state_of(path: Path) -> tuple[object, ...]:
    """All that an attack could change of a file, but its times of reading."""
    status = path.stat()
    return path.read_bytes(), status.st_mode, status.st_uid, status.st_mtime_ns, status.st_nlink


def is_there(*parts: str) -> bool:
    return os.path.lexists(Path(*parts))


def names_in(folder: Path) -> list[str]:
    """The names of all files and folders below a folder."""
    return sorted(str(entry.relative_to(folder)) for entry in folder.rglob("*"))


@dataclass(frozen=True)
class Found:
    """What a job may leave: processes, our open descriptors, private folders.

    Only what comes counts. What goes meanwhile is of tests before: a worker that was still
    ending, or the descriptors of something that the garbage collector has found by now.
    """

    processes: set[int]
    descriptors: set[tuple[str, str]]
    folders: set[str]

    def since(self, before: "Found") -> list[object]:
        """What was not there before."""
        return [
            *self.processes - before.processes,
            *self.descriptors - before.descriptors,
            *self.folders - before.folders,
        ]


def left_behind() -> Found:
    """What there is now."""
    folders = {entry.name for entry in Path(gettempdir()).glob("pegboard-job-*")}
    return Found(processes(), descriptors(), folders)


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what another process does."""
    for _ in range(800):
        if holds():
            return
        await asyncio.sleep(0.05)
    raise TimeoutError


class HastyClock:
    """Stands for the clock of an event loop: it can be ahead of the others."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.ahead = 0.0
        self._now = now

    def time(self) -> float:
        """Seconds that only grow."""
        return self._now() + self.ahead


def processes() -> set[int]:
    """All processes below this one that are not dead."""
    below = psutil.Process().children(recursive=True)
    return {child.pid for child in below if _runs(child.pid)}


def running(marker: str) -> list[Sequence[str]]:
    """The command lines on this machine that hold a marker."""
    return [
        process.info["cmdline"]
        for process in psutil.process_iter(["cmdline"])
        if any(marker in part for part in process.info["cmdline"] or ())
    ]


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
