"""Starts the workers of Monty: without environment, and confined by Landlock if possible."""

import marshal
import os
import shlex
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from pegboard.core.ports.sandbox import SandboxJob, SandboxLimits
from pegboard.sandbox.backend import JobUser, own_uid
from pegboard.sandbox.landlock import Landlock, landlock_abi
from pegboard.sandbox.seccomp import supported

_LIMITS = SandboxLimits(timeout=86_400, memory_bytes=4 << 30, processes=64, file_bytes=0)


class WorkerLauncher:
    """The script that the pool starts instead of the worker's program.

    Args:
        walled: Whether to confine it by Landlock, if the kernel has that.

    Raises:
        FileNotFoundError: The worker's program is not installed.
    """

    def __init__(self, *, walled: bool) -> None:
        from pydantic_monty._binary import find_monty_binary

        program = find_monty_binary()
        self.walled = walled and _has_landlock()
        self._folder = Path(tempfile.mkdtemp(prefix="pegboard-monty-"))
        self.path = self._folder / "launch"
        argv = self._behind_landlock(program) if self.walled else [program]
        line = f'#!/bin/sh\nexec /usr/bin/env -i {shlex.join(argv)} "$@" 2>/dev/null\n'
        self.path.write_text(line, encoding="utf-8")
        self.path.chmod(0o700)

    def remove(self) -> None:
        """Remove the script; no worker can be started after that."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _behind_landlock(self, program: str) -> list[str]:
        back_end = Landlock()
        job = SandboxJob(command=(program,), readable=(Path(program),), limits=_LIMITS)
        user = JobUser(folder=str(self._folder / "empty"), uid=own_uid())
        Path(user.folder).mkdir()
        # the thread that starts a worker may end before it; the worker ends with its input
        orders: dict[str, Any] = {
            **back_end.orders(job, user),
            "dies_with_parent": False,
            "environment": {},
        }
        path = self._folder / "orders"
        path.write_bytes(marshal.dumps(orders))
        return back_end.argv(job, user, str(path), "-", "-")


def _has_landlock() -> bool:
    """Whether the kernel has any Landlock; unlike for commands, every version helps here."""
    with suppress(AttributeError):  # a system without `uname`
        return landlock_abi() > 0 and supported(os.uname().machine)
    return False
