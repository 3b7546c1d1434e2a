"""The `tools:` list of a board: RFC-0003 registrations as tools.

What would run a tool may be missing, or belong to a kind of source that is not there: the tool is
then listed as unavailable, and says which key or kind it lacks.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.names import is_wire_name
from pegboard.core.ports.services import Services
from pegboard.core.tool import Effect, Retry, Status, Tool, ToolSpec
from pegboard.errors import ConfigError, PegboardError, SourceUnavailable
from pegboard.runtime.board import ToolEntry
from pegboard.runtime.board_file import LoadedBoard
from pegboard.runtime.kinds import load_kind
from pegboard.runtime.members import member
from pegboard.runtime.shorthand import schema_of
from pegboard.tools import SchemaTool
from pegboard.tools.decorator import mark_of
from pegboard.tools.raw_schema import compiled
from pegboard.tools.schema_tool import Run

RUNNERS: Mapping[str, str] = {
    "PythonFunction": "import",
    "LangChainTool": "import",
    "MCPTool": "server",
    "RestAPI": "url",
    "LocalScript": "script_path",
    "Subagent": "agent_config",
    "Database": "url",
    "KnowledgeBase": "url",
    "Federated": "server",
    "Workflow": "url",
}
"""Each RFC type, and the key that says what runs it."""


async def static_tools(
    loaded: LoadedBoard, services: Services, *, within: float, stack: AsyncExitStack
) -> list[Tool]:
    """The entries of the list as tools.

    What runs an entry is listed `within` so many seconds by the kind of source that it belongs to,
    and what it says of itself holds where the entry says nothing.

    Args:
        loaded: The board.
        services: What sources may use.
        within: Seconds for each entry.
        stack: Closes what was opened for the entries.

    Raises:
        ConfigError: An unknown type, effect or status, a schema that is neither shorthand nor JSON
            Schema, or an effect weaker than the function's own; names the line.
    """
    count = len(loaded.board.tools)
    return [
        await _static_tool(index, loaded, services, within=within, stack=stack)
        for index in range(count)
    ]


async def _static_tool(
    index: int,
    loaded: LoadedBoard,
    services: Services,
    *,
    within: float,
    stack: AsyncExitStack,
) -> Tool:
    entry = loaded.board.tools[index]
    where = loaded.where(("tools", index))
    if entry.type not in RUNNERS:
        raise ConfigError(f"{where}: unknown type '{entry.type}'; known are {', '.join(RUNNERS)}")
    runner = _given(entry)
    if entry.type not in _KINDS or not runner:
        return _unavailable(_spec(entry, where, None), _reason(entry))
    try:
        async with asyncio.timeout(within):
            inner = await _found(entry, where, services, stack)
    except TimeoutError:
        reason = f"opening '{runner}' took more than {within:g} s"
        return _unavailable(_spec(entry, where, None), reason)
    except PegboardError as error:
        return _unavailable(_spec(entry, where, None), error.message)
    return SchemaTool(spec=_spec(entry, where, inner), run=_runner(inner))


def _spec(entry: ToolEntry, where: str, inner: Tool | None) -> ToolSpec:
    """What the entry says, over what the function says, over the defaults."""
    slug, _, major = entry.tool_id.rpartition("_v")
    name = slug if slug and major.isdigit() else entry.tool_id
    if not is_wire_name(name):
        raise ConfigError(f"{where}: '{name}' is too long for a tool name; at most 64 characters")
    base = ToolSpec(name=name, input_schema=schema_of({}, where)) if inner is None else inner.spec
    said: dict[str, Any] = {
        "description": entry.description or (entry.name if inner is None else ""),
        "category": entry.category,
        "idempotent": entry.idempotent,
        "capabilities": entry.capabilities,
        "supported_tasks": entry.supported_tasks,
        "tags": entry.tags,
        "dependencies": entry.dependencies,
        "status": member(Status, entry.status, f"{where}: status") if entry.status else None,
        "version": entry.version or ("1.0" if inner is None else ""),
        "effect": _effect(entry, where, inner),
        "timeout": None if entry.timeout_ms is None else entry.timeout_ms / 1000,
        "retry": None
        if (retry := entry.retry_policy) is None
        else Retry(max_retries=retry.max_retries, backoff=retry.backoff_ms / 1000),
    }
    for key, given in (
        ("input_schema", entry.input_schema),
        ("output_schema", entry.output_schema),
    ):
        if given is not None:
            said[key] = schema_of(given, f"{where}: {key}")
            _check(name, said[key], where)
    changes = {key: value for key, value in said.items() if value not in (None, "", ())}
    return base.changed(
        **changes, id=entry.tool_id, name=name, action=name, title=entry.name, source=""
    )


def _effect(entry: ToolEntry, where: str, inner: Tool | None) -> Effect | None:
    """The entry's effect; what a function says of itself is never weakened.

    Raises:
        ConfigError: The entry claims less than the function.
    """
    if entry.effect is None:
        return None
    effect = member(Effect, entry.effect, f"{where}: effect")
    mark = mark_of(getattr(inner, "function", None))
    declared = mark.options.get("effect") if mark is not None else None
    if entry.type == "LocalScript" and inner is not None and not inner.spec.unavailable:
        declared = inner.spec.effect
    if declared is not None and _RANK[effect] < _RANK[declared]:
        raise ConfigError(
            f"{where}: '{_given(entry)}' says that its effect is {declared.value}; "
            f"write 'effect: {declared.value}', or leave it out"
        )
    return effect


_RANK = {Effect.READ: 0, Effect.WRITE: 1, Effect.ADMIN: 2}


def _check(name: str, schema: Mapping[str, Any], where: str) -> None:
    try:
        compiled(name, schema)
    except SourceUnavailable as error:
        raise ConfigError(f"{where}: {error.message}") from error


def _reason(entry: ToolEntry) -> str:
    if not _given(entry):
        return (
            f"nothing says what runs it: write '{RUNNERS[entry.type]}' beside its type {entry.type}"
        )
    return f"this version runs no tools of type {entry.type}"


def _given(entry: ToolEntry) -> Any:
    """What the entry says under the key of its type."""
    key = RUNNERS[entry.type]
    return entry.import_ if key == "import" else getattr(entry, key)


async def _found(entry: ToolEntry, where: str, services: Services, stack: AsyncExitStack) -> Tool:
    """What runs the entry, as a tool of its own.

    Raises:
        SourceUnavailable: It cannot be opened, or is more than one tool.
    """
    kind = load_kind(_KINDS[entry.type])
    config = kind.config.model_validate(_config(entry, where))
    source = await kind.open("static", config, services)
    stack.push_async_callback(source.close)
    tools = await source.tools()
    if len(tools) != 1:
        raise SourceUnavailable(f"'{_given(entry)}' is {len(tools)} tools, and an entry is one")
    return tools[0]


_KINDS: Mapping[str, str] = {
    "PythonFunction": "functions",
    "LangChainTool": "langchain",
    "LocalScript": "script",
}
"""The RFC types that this version runs, and the kind of source that does it."""


def _config(entry: ToolEntry, where: str) -> dict[str, Any]:
    """The `config:` of the source: a script that says nothing of itself is what the entry says."""
    if entry.type != "LocalScript":
        return {"objects": [entry.import_]}
    said: dict[str, Any] = {
        "description": entry.description or entry.name or entry.tool_id,
        "input_schema": schema_of(entry.input_schema or {}, f"{where}: input_schema"),
        "effect": entry.effect or Effect.WRITE,
    }
    if entry.timeout_ms:
        said["timeout"] = entry.timeout_ms / 1000
    return {"paths": [entry.script_path], "descriptions": {entry.script_path: said}}


def _runner(inner: Tool) -> Run:
    """Run the function with arguments of its own types, under the entry's name and schema."""
    read = getattr(inner, "arguments", None)

    async def run(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        return await inner.run(read(arguments) if read is not None else arguments, ctx)

    return run


def _unavailable(spec: ToolSpec, reason: str) -> Tool:
    async def run(_arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> Any:
        raise SourceUnavailable(f"'{spec.name}' cannot be used: {reason}")

    return SchemaTool(spec=spec.changed(unavailable=reason), run=run)
