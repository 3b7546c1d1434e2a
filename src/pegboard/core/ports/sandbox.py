"""The sandbox port: runs foreign code and commands outside this process, within limits."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """Resource limits of a job.

    Attributes:
        timeout: Wall-clock seconds, start-up included; then the whole process tree is killed.
        cpu_seconds: Processor time; None means as much as the timeout.
        memory_bytes: Memory of each process that only it can write (`RLIMIT_DATA`), and what all
            of the job hold at once.
        processes: How many processes and threads at once.
        file_bytes: The largest file it may write.
        output_bytes: Of stdout and of stderr each; what goes beyond is cut and counted.
    """

    timeout: float = 30.0
    cpu_seconds: float | None = None
    memory_bytes: int = 1024 * 1024 * 1024
    processes: int = 64
    file_bytes: int = 64 * 1024 * 1024
    output_bytes: int = 1_000_000


DEFAULT_LIMITS = SandboxLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxJob:
    """A command to run in the sandbox.

    Attributes:
        command: Program and arguments; no shell unless it is one.
        environment: Variables of the command beside a fixed PATH, HOME, TMPDIR and LANG.
        readable: Files and folders that it may read beside the system's programs and libraries.
        writable: Folders that it may write; usually one workspace.
        directory: Where it starts, at or below a readable or writable folder; None means its home,
            a private folder that is removed afterwards.
        network: Whether it may reach the network; never by default.
    """

    command: tuple[str, ...]
    stdin: bytes = b""
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    directory: Path | None = None
    network: bool = False
    limits: SandboxLimits = DEFAULT_LIMITS


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxOutcome:
    """The outcome of a command.

    Attributes:
        exit_code: Of the command; `128 + signal` when a signal ended it.
        stopped: Why the sandbox ended it: `timeout`, `cpu`, `memory`; empty when it ended itself.
        stdout_bytes: How much it wrote, before the cut.
    """

    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""
    stopped: str = ""
    duration: float = 0.0
    stdout_bytes: int = 0
    stderr_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeJob:
    """Python code to run in the sandbox.

    Attributes:
        inputs: Names that the code finds set; JSON values.
        functions: Names that the code may call, without `await`; each gets the arguments as JSON
            data and is awaited outside the sandbox. A `PegboardError` that it raises arrives in the
            code as a `RuntimeError` with its text; anything else ends the run.
    """

    code: str
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    functions: Mapping[str, Callable[..., Awaitable[Any]]] = field(
        default_factory=dict[str, Callable[..., Awaitable[Any]]]
    )
    limits: SandboxLimits = DEFAULT_LIMITS


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOutcome:
    """The outcome of Python code.

    Attributes:
        value: Of its last expression, as JSON data; None when there is none.
        printed: What it printed, as far as it is kept.
        printed_bytes: How much it printed, before the cut.
        error: The exception as Python shows it, with the line in the code; empty when there is
            none.
        stopped: As of `SandboxOutcome`.
    """

    value: Any = None
    printed: str = ""
    printed_bytes: int = 0
    error: str = ""
    stopped: str = ""
    duration: float = 0.0


class Sandbox(Protocol):
    """Runs jobs in the back ends that were found to work at start, and in no others."""

    async def why_no_commands(self, *, network: bool = False) -> str:
        """Why commands cannot be run here and what to do; empty when they can.

        Args:
            network: Whether for commands that may reach the network.
        """
        ...

    async def why_no_code(self) -> str:
        """Why Python code cannot be run here and what to do; empty when it can."""
        ...

    async def run(self, job: SandboxJob) -> SandboxOutcome:
        """Run a command to its end; cancelling kills all of its processes.

        Raises:
            Unavailable: No back end works here; nothing has run.
            InvalidRequest: The job names a program, file or folder that does not exist.
        """
        ...

    async def run_code(self, job: CodeJob) -> CodeOutcome:
        """Run Python code to its end.

        Raises:
            Unavailable: No back end works here; nothing has run.
        """
        ...

    async def close(self) -> None:
        """Stop running jobs and release all resources; safe to call twice."""
        ...
