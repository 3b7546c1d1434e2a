"""The `tools:` list of a board: RFC-0003 registrations as tools.

What would run a tool may be missing, or belong to a kind of source that is not there: the tool is
then listed as unavailable, and says which key or kind it lacks.
"""

import asyncio
from collections.abc import Mapping
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


async def static_tools(loaded: LoadedBoard, *, within: float) -> list[Tool]:
    """The entries of the list as tools.

    A Python function is imported, `within` so many seconds, and what it says of itself holds where
    the entry says nothing.

    Raises:
        ConfigError: An unknown type, effect or status, a schema that is neither shorthand nor JSON
            Schema, or an effect weaker than the function's own; names the line.
    """
    count = len(loaded.board.tools)
    return [await _static_tool(index, loaded, within) for index in range(count)]


async def _static_tool(index: int, loaded: LoadedBoard, within: float) -> Tool:
    entry = loaded.board.tools[index]
    where = loaded.where(("tools", index))
    if entry.type not in RUNNERS:
        raise ConfigError(f"{where}: unknown type '{entry.type}'; known are {', '.join(RUNNERS)}")
    if entry.type != "PythonFunction" or not entry.import_:
        return _unavailable(_spec(entry, where, None), _reason(entry))
    try:
        async with asyncio.timeout(within):
            inner = await _found(entry, loaded)
    except TimeoutError:
        reason = f"importing '{entry.import_}' took more than {within:g} s"
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
    if declared is not None and _RANK[effect] < _RANK[declared]:
        raise ConfigError(
            f"{where}: '{entry.import_}' says that its effect is {declared.value}; "
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
    key = RUNNERS[entry.type]
    given = entry.import_ if key == "import" else getattr(entry, key)
    if not given:
        return f"nothing says what runs it: write '{key}' beside its type {entry.type}"
    return f"this version runs no tools of type {entry.type}"


async def _found(entry: ToolEntry, loaded: LoadedBoard) -> Tool:
    """The entry's function as a tool of its own.

    Raises:
        SourceUnavailable: It cannot be imported.
    """
    kind = load_kind("functions")
    config = kind.config.model_validate({"objects": [entry.import_]})
    source = await kind.open("static", config, Services(base_dir=loaded.base_dir))
    return (await source.tools())[0]


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
