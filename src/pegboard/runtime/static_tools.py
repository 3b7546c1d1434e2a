"""The `tools:` list of a board: RFC-0003 registrations as tools.

What would run a tool may be missing, or belong to a kind of source that is not there: the tool is
then listed as unavailable, and says which key or kind it lacks.
"""

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
from pegboard.runtime.shorthand import schema_of
from pegboard.tools import SchemaTool
from pegboard.tools.raw_schema import compiled

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


def static_tool(index: int, loaded: LoadedBoard) -> Tool:
    """One entry of the list as a tool.

    Raises:
        ConfigError: An unknown type, effect or status, or a schema that is neither shorthand nor
            JSON Schema; names the line.
    """
    entry = loaded.board.tools[index]
    where = loaded.where(("tools", index))
    if entry.type not in RUNNERS:
        raise ConfigError(f"{where}: unknown type '{entry.type}'; known are {', '.join(RUNNERS)}")
    spec = _spec(entry, where)
    if entry.type != "PythonFunction" or not entry.import_:
        return _unavailable(spec, _reason(entry))
    try:
        runner = _function(entry, loaded)
    except PegboardError as error:
        return _unavailable(spec, error.message)
    return SchemaTool(spec=spec, run=runner)


def _spec(entry: ToolEntry, where: str) -> ToolSpec:
    slug, _, major = entry.tool_id.rpartition("_v")
    name = slug if slug and major.isdigit() else entry.tool_id
    if not is_wire_name(name):
        raise ConfigError(f"{where}: '{name}' is too long for a tool name; at most 64 characters")
    input_schema = schema_of(entry.input_schema, f"{where}: input_schema")
    output_schema = (
        None
        if entry.output_schema is None
        else schema_of(entry.output_schema, f"{where}: output_schema")
    )
    for schema in (input_schema, output_schema):
        if schema is not None:
            _check(name, schema, where)
    retry = entry.retry_policy
    return ToolSpec(
        id=entry.tool_id,
        name=name,
        action=name,
        title=entry.name,
        description=entry.description or entry.name,
        category=entry.category,
        effect=_member(Effect, entry.effect, f"{where}: effect"),
        idempotent=entry.idempotent,
        input_schema=input_schema,
        output_schema=output_schema,
        capabilities=entry.capabilities,
        tags=entry.tags,
        dependencies=entry.dependencies,
        status=_member(Status, entry.status, f"{where}: status"),
        version=entry.version,
        timeout=None if entry.timeout_ms is None else entry.timeout_ms / 1000,
        retry=None
        if retry is None
        else Retry(max_retries=retry.max_retries, backoff=retry.backoff_ms / 1000),
    )


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


def _function(entry: ToolEntry, loaded: LoadedBoard) -> Any:
    """Run the entry's function as its own tool would, under the entry's name and schema."""
    kind = load_kind("functions")
    config = kind.config.model_validate({"objects": [entry.import_]})
    return _Lazy(entry.import_, kind, config, loaded)


class _Lazy:
    """Finds the function when the tool is first called, and runs it with typed arguments."""

    def __init__(self, reference: str, kind: Any, config: Any, loaded: LoadedBoard) -> None:
        self._reference = reference
        self._kind = kind
        self._config = config
        self._loaded = loaded
        self._inner: Tool | None = None

    async def __call__(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        inner = await self._found()
        read = getattr(inner, "arguments", None)
        return await inner.run(read(arguments) if read is not None else arguments, ctx)

    async def _found(self) -> Tool:
        if self._inner is not None:
            return self._inner
        services = Services(base_dir=self._loaded.base_dir)
        source = await self._kind.open("static", self._config, services)
        inner: Tool = (await source.tools())[0]
        self._inner = inner
        return inner


def _unavailable(spec: ToolSpec, reason: str) -> Tool:
    async def run(_arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> Any:
        raise SourceUnavailable(f"'{spec.name}' cannot be used: {reason}")

    return SchemaTool(spec=spec.changed(unavailable=reason), run=run)


def _member(kind: Any, value: str, where: str) -> Any:
    try:
        return kind(value)
    except ValueError as error:
        known = ", ".join(item.value for item in kind)
        raise ConfigError(f"{where}: '{value}' should be one of {known}") from error
