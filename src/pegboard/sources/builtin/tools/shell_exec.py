"""`shell_exec`: runs a shell command in a sandbox that sees only the workspace."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from pegboard.core.context import ToolContext
from pegboard.core.ports.sandbox import SandboxJob, SandboxLimits
from pegboard.core.ports.services import Services
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.sandbox_access import sandbox_of
from pegboard.sources.builtin.sandbox_access import why_no_commands as probe
from pegboard.sources.builtin.sandbox_access import why_no_sandbox as availability
from pegboard.sources.builtin.workspaces import workspace_of
from pegboard.tools import tool

__all__ = ["availability", "probe", "shell_exec"]

_MAX_OUTPUT = 50_000


class ShellResult(TypedDict):
    """The result of a command; `stopped` has the reason if the sandbox ended it."""

    exit_code: int
    stdout: str
    stderr: str
    truncated: bool
    stopped: str


# Without network it changes only the workspace, which the file tools change as well, so its effect
# is `write` rather than `admin`.
@tool(
    effect="write",
    category="system",
    trusted=False,
    open_world=False,
    timeout=125,
    tags=("shell", "command"),
    capabilities=("run_command",),
)
async def shell_exec(
    command: Annotated[str, Field(min_length=1, max_length=50_000)],
    ctx: ToolContext[Services],
    *,
    stdin: Annotated[str, Field(max_length=5_000_000)] = "",
    timeout_seconds: Annotated[float, Field(gt=0, le=120)] = 30,
) -> ShellResult:
    """Run a shell command in the workspace and return its exit code and output.

    It runs by /bin/sh in a sandbox: it sees the files of the workspace, where it starts, and the
    programs of this machine; no network, no other files, no secrets. What it leaves running is
    ended with it. An exit code other than 0 is an answer, not a failure of this tool. Long output
    is cut at its end: write it to a file and read that.

    Args:
        command: Such as "wc -l *.csv | sort -n".
        ctx: Has the sandbox, and says which workspace.
        stdin: What the command reads from its standard input.
        timeout_seconds: When to stop it.
    """
    if "\0" in command:
        raise InvalidRequest("The command has a zero byte.")
    workspace = workspace_of(ctx)
    workspace.mkdir(parents=True, exist_ok=True)
    outcome = await sandbox_of(ctx).run(
        SandboxJob(
            command=("/bin/sh", "-c", command),
            stdin=stdin.encode(),
            writable=(workspace,),
            directory=workspace,
            limits=SandboxLimits(timeout=timeout_seconds, output_bytes=_MAX_OUTPUT),
        )
    )
    return ShellResult(
        exit_code=outcome.exit_code,
        stdout=outcome.stdout.decode("utf-8", "replace"),
        stderr=outcome.stderr.decode("utf-8", "replace"),
        truncated=max(outcome.stdout_bytes, outcome.stderr_bytes) > _MAX_OUTPUT,
        stopped=outcome.stopped,
    )
