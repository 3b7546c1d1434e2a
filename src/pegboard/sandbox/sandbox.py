"""The sandbox port, filled by the back ends that pass their probe on this machine."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from pegboard.core.ports.sandbox import CodeJob, CodeOutcome, SandboxJob, SandboxOutcome
from pegboard.errors import Unavailable
from pegboard.sandbox.backend import BackEnd
from pegboard.sandbox.bubblewrap import Bubblewrap
from pegboard.sandbox.job_checks import check_job
from pegboard.sandbox.landlock import Landlock
from pegboard.sandbox.monty import MontyEngine
from pegboard.sandbox.probe import why_not
from pegboard.sandbox.run_command import run_command

BACK_ENDS: tuple[BackEnd, ...] = (Bubblewrap(), Landlock())
"""Those for commands, the stronger first."""
CODE = "monty"
_WITHSTOOD: set[tuple[str, bool]] = set()
"""Back ends that withstood their probe in this process, without and with network."""
_NO_NETWORK = (
    "commands may not reach the network; to let them, write `sandbox: {network: true}` into the "
    "board file"
)
_NONE_ALLOWED = "the board file's `sandbox: {back_ends: ...}` names none for this"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The result of a probe.

    Attributes:
        reason: Why it cannot be used and what to do; empty when it works.
    """

    back_end: str
    reason: str


class ProbedSandbox:
    """Runs jobs with the first back end that passed its probe; without one, nothing runs.

    ```python
    sandbox = ProbedSandbox()
    outcome = await sandbox.run(SandboxJob(command=("/bin/sh", "-c", "echo hello")))
    await sandbox.close()
    ```

    Args:
        allowed: Names of the back ends that may be used; None means all.
        network: Whether commands may reach the network if their job asks for it.
    """

    def __init__(self, *, allowed: Sequence[str] | None = None, network: bool = True) -> None:
        names = [item.name for item in BACK_ENDS] + [CODE] if allowed is None else allowed
        self._back_ends = [item for item in BACK_ENDS if item.name in names]
        self._monty = MontyEngine() if CODE in names else None
        self._network = network
        self._reasons: dict[tuple[str, bool], str] = {}
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )

    async def why_no_commands(self, *, network: bool = False) -> str:
        """Why commands cannot be run here and what to do; empty when they can."""
        if network and not self._network:
            return _NO_NETWORK
        reasons: list[str] = []
        for back_end in self._back_ends:
            reason = await self._reason(back_end, network=network)
            if not reason:
                return ""
            reasons.append(f"{back_end.name}: {reason}")
        return "; ".join(reasons) or _NONE_ALLOWED

    async def why_no_code(self) -> str:
        """Why Python code cannot be run here and what to do; empty when it can."""
        if self._monty is None:
            return _NONE_ALLOWED
        async with self._turn():
            return await self._monty.why_not()

    async def findings(self) -> list[Finding]:
        """Probe all allowed back ends, and return the results."""
        found = [
            Finding(back_end=item.name, reason=await self._reason(item, network=False))
            for item in self._back_ends
        ]
        if self._monty is not None:
            found.append(Finding(back_end=CODE, reason=await self.why_no_code()))
        return found

    async def run(self, job: SandboxJob) -> SandboxOutcome:
        """Run a command to its end; cancelling kills all of its processes.

        Raises:
            Unavailable: No back end works here; nothing has run.
            InvalidRequest: The job names a program, file or folder that does not exist.
        """
        reason = await self.why_no_commands(network=job.network)
        if reason:
            raise Unavailable(
                f"Commands cannot be run here: {reason}.", nothing_done=True, permanent=True
            )
        check_job(job)
        return await run_command(await self._choose(network=job.network), job)

    async def run_code(self, job: CodeJob) -> CodeOutcome:
        """Run a piece of Python to its end.

        Raises:
            Unavailable: No back end works here; nothing has run.
        """
        reason = await self.why_no_code()
        if reason or self._monty is None:
            raise Unavailable(
                f"Code cannot be run here: {reason}.", nothing_done=True, permanent=True
            )
        async with self._turn():
            await self._monty.prepare()
        return await self._monty.run(job)

    async def close(self) -> None:
        """End running jobs and release resources; safe to call twice."""
        if self._monty is not None:
            await self._monty.close()

    async def _choose(self, *, network: bool) -> BackEnd:
        for back_end in self._back_ends:
            if not await self._reason(back_end, network=network):
                return back_end
        raise Unavailable("No back end works here.")

    async def _reason(self, back_end: BackEnd, *, network: bool) -> str:
        """The result of its probe, which runs once for each kind of job."""
        key = (back_end.name, network)
        if key not in self._reasons:
            async with self._turn():
                if key not in self._reasons:
                    self._reasons[key] = await _probe(back_end, network=network)
        return self._reasons[key]

    def _turn(self) -> asyncio.Lock:
        return self._turns.setdefault(asyncio.get_running_loop(), asyncio.Lock())


async def _probe(back_end: BackEnd, *, network: bool) -> str:
    """What the probe of a back end finds; one that withstood it is not probed again."""
    key = (back_end.name, network)
    if key in _WITHSTOOD:
        return back_end.lacks()
    reason = await why_not(back_end, network=network)
    if not reason:
        _WITHSTOOD.add(key)
    return reason
