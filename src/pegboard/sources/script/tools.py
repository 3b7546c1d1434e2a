"""Makes tools of scripts, also of scripts that cannot be used."""

import contextlib
import json
import tempfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.ports.sandbox import SandboxJob, SandboxOutcome
from pegboard.core.tool import Limits, Retry, Tool, ToolSpec
from pegboard.core.wire_names import wire_name
from pegboard.errors import ToolTimeout
from pegboard.sources.script.arguments import command_line
from pegboard.sources.script.client import result_of, unusable_error
from pegboard.sources.script.description import Description
from pegboard.sources.script.interpreters import needs_to_read
from pegboard.sources.script.pep723 import Dependencies
from pegboard.sources.script.permissions import Grant
from pegboard.sources.script.python_environments import PythonEnvironments
from pegboard.tools import SchemaTool

Runner = Callable[[SandboxJob], Any]

OUTPUT = "PEGBOARD_OUTPUT"
"""The environment variable with the folder for files that the script makes."""

_SLACK = 5.0
"""Seconds beyond the script's own timeout, so that the caller gets its message."""
_NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Runnable:
    """A script with everything that its calls need.

    Attributes:
        command: Program and arguments; the program is replaced by the environment's Python when
            it has `needs`.
        path: The script; None for a command.
    """

    description: Description
    command: tuple[str, ...]
    path: Path | None
    grant: Grant
    needs: Dependencies | None = None
    directory: Path | None = None


def script_tool(
    source: str, action: str, script: Runnable, *, run: Runner, environments: PythonEnvironments
) -> Tool:
    """Make the tool of a script."""
    spec = _spec(source, action, script.description)
    target = "" if script.path is None else f"script {script.path.resolve()}"
    spec = spec.replace(timeout=script.grant.limits.timeout + _SLACK, target=target)

    async def call(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        line = command_line(script.description, arguments)
        stdin = b""
        if script.description.input == "json":
            stdin = json.dumps(dict(arguments)).encode()
        command, readable = await _interpreter(script, environments, ctx)
        with _output_folder(wanted=script.description.artifacts) as folder:
            job = _job(script, (*command, *line), stdin, readable, folder, ctx)
            outcome: SandboxOutcome = await run(job)
            if outcome.stderr:
                ctx.log.debug("%s wrote %d bytes to stderr", spec.name, outcome.stderr_bytes)
            return result_of(spec.name, script.description, job, outcome, made=folder)

    return SchemaTool(spec=spec, run=call)


def missing_tool(
    source: str, action: str, reason: str, *, description: Description | None = None
) -> Tool:
    """Make the tool of a script that cannot be used: it is listed with the reason."""
    said = description or Description(description=f"The script '{action}', which cannot be used.")
    spec = _spec(source, action, said).replace(unavailable=reason)

    async def call(_arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> Any:
        raise unusable_error(spec.name, reason)

    return SchemaTool(spec=spec, run=call)


def _spec(source: str, action: str, said: Description) -> ToolSpec:
    return ToolSpec(
        name=wire_name(source, action),
        action=action,
        source=source,
        handler="script",
        title=said.title,
        description=said.description,
        input_schema=said.input_schema or _NO_ARGUMENTS,
        output_schema=said.output_schema,
        category=said.category,
        effect=said.effect,
        destructive=said.destructive,
        idempotent=said.idempotent,
        cacheable=said.cacheable,
        cache_ttl=said.cache_ttl,
        version=said.version,
        tags=said.tags,
        capabilities=said.capabilities,
        scopes=said.scopes,
        retry=Retry(max_retries=said.retries) if said.retries else None,
        limits=Limits(concurrency=said.concurrency) if said.concurrency else None,
    )


async def _interpreter(
    script: Runnable, environments: PythonEnvironments, ctx: ToolContext[Any]
) -> tuple[tuple[str, ...], tuple[Path, ...]]:
    """The command with its interpreter, and the paths that the interpreter has to read."""
    program = Path(script.command[0])
    if script.needs is None:
        return script.command, needs_to_read(program)
    python = await environments.ensure(script.needs, within=_within(script, ctx))
    return (str(python), *script.command[1:]), needs_to_read(python)


def _job(
    script: Runnable,
    command: tuple[str, ...],
    stdin: bytes,
    readable: tuple[Path, ...],
    folder: Path | None,
    ctx: ToolContext[Any],
) -> SandboxJob:
    grant = script.grant
    own = [path for path in (script.path, script.directory) if path is not None]
    made = () if folder is None else (folder,)
    environment = dict(grant.environment)
    if folder is not None:
        environment[OUTPUT] = str(folder)
    return SandboxJob(
        command=command,
        stdin=stdin,
        environment=environment,
        readable=(*own, *readable, *grant.readable),
        writable=(*grant.writable, *made),
        directory=script.directory,
        network=grant.network,
        limits=replace(grant.limits, timeout=_within(script, ctx)),
    )


def _within(script: Runnable, ctx: ToolContext[Any]) -> float:
    """Seconds for this call: the script's timeout, or the rest of the caller's."""
    left = ctx.remaining()
    timeout = script.grant.limits.timeout
    if left is not None and left <= 0:
        raise ToolTimeout("No time is left to run it", nothing_done=True)
    return timeout if left is None else min(timeout, left)


@contextlib.contextmanager
def _output_folder(*, wanted: bool) -> Generator[Path | None]:
    if not wanted:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="pegboard-out-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)
