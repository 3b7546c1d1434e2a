"""The engine for Python code: Monty, an interpreter without files and network.

Each run has a fresh worker process without environment, confined by Landlock and a system call
filter where the kernel has them, as a second barrier behind the interpreter.
"""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any, ClassVar

from pegboard.concurrency.start_or_undo import start_or_undo
from pegboard.core.ports.sandbox import CodeJob, CodeOutcome, SandboxLimits
from pegboard.errors import PegboardError, Unavailable
from pegboard.sandbox.monty_session import MontySession
from pegboard.sandbox.monty_worker import WorkerLauncher

_MAX_SESSIONS = 8
_MISSING = "Python code needs pydantic-monty: pip install 'pegboard[sandbox]'"
_WORKS = "import json\njson.loads('[1, 2]')[1] + given"
_ESCAPES = {
    "reads files": "open('/etc/passwd').read()",
    "reads files through pathlib": "import pathlib\npathlib.Path('/etc/passwd').read_text()",
    "reads the environment": "import os\nos.environ['PATH']",
    "reads the environment of a module's module": "import random\nrandom._os.environ",
    "starts processes": "import subprocess\nsubprocess.run(['true'])",
    "opens sockets": "import socket\nsocket.socket()",
    "calls the C library": "import ctypes\nctypes.CDLL(None)",
    "walks to other classes": "().__class__.__mro__[1].__subclasses__()",
}
"""Attacks, by what would be possible if they did not raise."""
_PROBE_LIMITS = SandboxLimits(timeout=20.0, memory_bytes=32 << 20, output_bytes=10_000)


class _Workers:
    """An open pool of workers, and the threads that wait for it."""

    def __init__(self, *, walled: bool) -> None:
        from pydantic_monty import Monty

        self.launcher = WorkerLauncher(walled=walled)
        self.pool: Any = Monty(
            binary_path=self.launcher.path,
            min_processes=0,
            max_processes=_MAX_SESSIONS,
            max_checkouts_per_worker=1,  # what one caller's code left in memory is for no other
        )
        self.pool.__enter__()
        # threads that wait for a free worker must not take those that end a run and free one
        self.checkouts = ThreadPoolExecutor(_MAX_SESSIONS, thread_name_prefix="monty-checkout")
        self.turns = ThreadPoolExecutor(_MAX_SESSIONS, thread_name_prefix="monty-turn")

    def close(self) -> None:
        self.pool.__exit__(None, None, None)
        self.checkouts.shutdown()
        self.turns.shutdown()
        self.launcher.remove()


class MontyEngine:
    """Runs code in a pool of workers, opened by the first run.

    Attributes:
        withstood: The set-up that withstood its probe in this process: with a wall of the
            operating system (True) or without one (False). None before the first probe.
    """

    withstood: ClassVar[bool | None] = None

    def __init__(self) -> None:
        self._workers: _Workers | None = None
        self._reason: str | None = None

    async def why_not(self) -> str:
        """Why code cannot be run here and what to do; empty when it can. Probed once a process."""
        if self._reason is None:
            self._reason = await self._probe()
        return self._reason

    async def run(self, job: CodeJob) -> CodeOutcome:
        """Run a piece of code; cancelling kills its worker."""
        began = time.monotonic()
        workers = self._workers or await self._open(walled=MontyEngine.withstood is not False)
        threads = (workers.checkouts, workers.turns)
        return await MontySession(job, workers.pool, threads=threads).outcome(began)

    async def close(self) -> None:
        """End the workers; a later run starts new ones."""
        workers, self._workers = self._workers, None
        self._reason = None
        if workers is not None:
            await asyncio.to_thread(workers.close)

    async def prepare(self) -> None:
        """Open the workers for the next runs; one caller at a time.

        Raises:
            Unavailable: No worker can be started.
        """
        if self._workers is None:
            try:
                await self._open(walled=MontyEngine.withstood is not False)
            except OSError as error:
                raise Unavailable("No interpreter could be started.", nothing_done=True) from error

    async def _open(self, *, walled: bool) -> "_Workers":
        async def close(workers: _Workers) -> None:
            await asyncio.to_thread(workers.close)

        opening = asyncio.to_thread(_Workers, walled=walled)
        self._workers = await start_or_undo(opening, undo=close)
        return self._workers

    async def _probe(self) -> str:
        if find_spec("pydantic_monty") is None:
            return _MISSING
        if MontyEngine.withstood is not None:
            return ""
        reason = ""
        for walled in (True, False):
            try:
                await self._open(walled=walled)
                reason = await self._attack()
            except (PegboardError, OSError) as error:
                reason = f"it cannot be started: {error.__cause__ or error}"
            if not reason:
                MontyEngine.withstood = walled
                return ""
            await self.close()
        return reason

    async def _attack(self) -> str:
        code = ["got = []"]
        for name, escape in _ESCAPES.items():
            body = "\n    ".join([*escape.split("\n"), f"got.append({name!r})"])
            code.append(f"try:\n    {body}\nexcept Exception: pass")
        code += ["print(got)", "'a' * 10**10"]
        attack = CodeJob(code="\n".join(code), limits=_PROBE_LIMITS)
        use = CodeJob(code=_WORKS, inputs={"given": 40}, limits=_PROBE_LIMITS)
        usual, outcome = await self.run(use), await self.run(attack)
        if usual.value != 42:
            return f"it does not run code: {usual.error or usual.stopped}"
        if (outcome.printed, outcome.stopped) != ("[]\n", "memory"):
            return f"it failed its probe: {outcome.printed or outcome.error or 'memory'}"
        return ""
