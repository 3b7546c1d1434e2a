"""One RFC-0003 registration as a tool.

If its handler is missing, unknown or not allowed, the tool is listed as unavailable with the key or
permission that it lacks.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError

from pegboard.core.context import ToolContext
from pegboard.core.tool import Effect, Retry, Status, Tool, ToolSpec
from pegboard.core.wire_names import is_source_name, is_wire_name, wire_name
from pegboard.errors import ConfigError, PegboardError, SourceUnavailable, ToolSignatureError
from pegboard.runtime.board_file.models import ToolEntry, parse_member
from pegboard.runtime.config_fault import describe_fault
from pegboard.runtime.registrations.handlers import HandlerContext, open_handler
from pegboard.runtime.registrations.source_config import (
    KINDS,
    RUNNERS,
    handler_of,
    show_handler,
)
from pegboard.runtime.registrations.upstreams import names_upstream
from pegboard.schemas.shorthand_schema import schema_of
from pegboard.schemas.validator import compile_schema
from pegboard.tools import SchemaTool
from pegboard.tools.decorator import mark_of
from pegboard.tools.example_checks import check_examples
from pegboard.tools.schema_tool import Run


async def build_entry_tool(entry: ToolEntry, opening: HandlerContext, *, where: str) -> Tool:
    """The entry as a tool.

    Its handler is listed by the kind of source it belongs to, whose spec applies where the entry
    says nothing.

    Raises:
        ConfigError: An unknown type, effect or status, a schema that is neither shorthand nor JSON
            Schema, or an effect weaker than the function's own.
    """
    if entry.type not in RUNNERS:
        raise ConfigError(f"{where}: unknown type '{entry.type}'; known are {', '.join(RUNNERS)}")
    reason = _reason(entry) or await _refuse(entry, opening)
    if reason:
        return _unavailable(_spec(entry, where, None), reason)
    if names_upstream(entry):
        return await _build_upstream_tool(entry, opening, where)
    if entry.type == "MCPTool":
        return _build_relay_tool(entry, opening, where)
    try:
        async with asyncio.timeout(opening.within):
            inner = await open_handler(entry, opening, where=where)
    except TimeoutError:
        return _unavailable(_spec(entry, where, None), _too_slow(entry, opening))
    except ValidationError as error:
        return _unavailable(_spec(entry, where, None), describe_fault(error))
    except PegboardError as error:
        return _unavailable(_spec(entry, where, None), error.message)
    spec = _spec(entry, where, inner, is_trusted=opening.is_trusted)
    if entry.type == "Subagent":
        return cast("Any", inner).with_spec(spec)
    return SchemaTool(spec=spec, run=_runner(inner))


async def _build_upstream_tool(entry: ToolEntry, opening: HandlerContext, where: str) -> Tool:
    """Make the tool of a server that the entry names by address, as reviewed."""
    upstreams, reason = opening.upstreams, _explain_unserved(entry)
    if reason or upstreams is None:
        reason = reason or f"write '{entry.server}' under 'sources:' of the board file"
        return _unavailable(_spec(entry, where, None), reason)
    inner = None
    if entry.type in KINDS:  # what its method does to the world is not for the entry to weaken
        bare = entry.model_copy(update={"input_schema": None})
        try:
            inner = await open_handler(bare, opening, where=where)
        except (ValidationError, PegboardError) as error:
            said = error.message if isinstance(error, PegboardError) else "url: not a valid address"
            return _unavailable(_spec(entry, where, None), said)
    spec = _spec(entry, where, inner, is_trusted=opening.is_trusted)
    return upstreams.tool(entry, spec)


def _explain_unserved(entry: ToolEntry) -> str:
    """Why an entry with a server's address cannot run; empty when it can."""
    if not entry.tool:
        return "the tool of the server is not named: write 'tool'"
    if not entry.pin:
        return (
            "it has not been reviewed: add it from a marketplace, or write its server under "
            "'sources:' in the board file"
        )
    if entry.input_schema is None:
        return "its arguments are not described: write its 'input_schema'"
    return ""


def _build_relay_tool(entry: ToolEntry, opening: HandlerContext, where: str) -> Tool:
    """Make an alias of a source's tool: its calls are that tool's, with all its rules."""
    if not entry.tool:
        return _unavailable(
            _spec(entry, where, None), "the tool of the server is not named: write 'tool'"
        )
    if not is_source_name(entry.server) or entry.server not in opening.servers():
        there_are = ", ".join(sorted(opening.servers())) or "none"
        reason = f"the board has no source '{entry.server}'; there are: {there_are}"
        return _unavailable(_spec(entry, where, None), reason)
    target = wire_name(entry.server, entry.tool)
    spec = _spec(entry, where, None)
    if entry.input_schema is None:  # the tool itself says what it takes, when it is called
        known = opening.find(target)
        schema = {"type": "object", "additionalProperties": True}
        spec = spec.replace(input_schema=schema if known is None else known.spec.input_schema)

    async def run(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        result = await ctx.call(target, arguments)
        if result.error is not None:
            raise result.error
        return result

    return SchemaTool(spec=spec, run=run)


def _spec(entry: ToolEntry, where: str, inner: Tool | None, *, is_trusted: bool = True) -> ToolSpec:
    """Merge the entry over the function's spec over the defaults."""
    slug, _, major = entry.tool_id.rpartition("_v")
    name = slug if slug and major.isdigit() else entry.tool_id
    if not is_wire_name(name):
        raise ConfigError(f"{where}: '{name}' is too long for a tool name; at most 64 characters")
    base = ToolSpec(name=name, input_schema=schema_of({}, where)) if inner is None else inner.spec
    said: dict[str, Any] = {
        "description": entry.description or _own_words(entry, inner),
        "category": entry.category,
        "destructive": entry.destructive if is_trusted or entry.destructive else None,
        "idempotent": entry.idempotent,
        "capabilities": entry.capabilities,
        "supported_tasks": entry.supported_tasks,
        "examples": entry.examples,
        "tags": entry.tags,
        "dependencies": entry.dependencies,
        "status": parse_member(Status, entry.status, f"{where}: status") if entry.status else None,
        "version": entry.version or _version(major, inner),
        "effect": _effect(entry, where, inner, is_trusted=is_trusted),
        "timeout": None if entry.timeout_ms is None else entry.timeout_ms / 1000,
        "retry": None
        if (retry := entry.retry_policy) is None
        else Retry(max_retries=retry.max_retries, backoff=retry.backoff_ms / 1000),
    }
    for key, schema in (
        ("input_schema", entry.input_schema),
        ("output_schema", entry.output_schema),
    ):
        if schema is not None:
            said[key] = schema_of(schema, f"{where}: {key}")
            _check(name, said[key], where)
    changes = {key: value for key, value in said.items() if value not in (None, "", ())}
    spec = base.replace(
        **changes, id=entry.tool_id, name=name, action=name, title=entry.name, source=""
    )
    if entry.examples and (inner is not None or entry.input_schema is not None):
        try:
            check_examples(spec)
        except ToolSignatureError as error:
            raise ConfigError(f"{where}: {error.message}") from error
    return spec


def _own_words(entry: ToolEntry, inner: Tool | None) -> str:
    """The description of an entry without one; empty for that of its handler."""
    if entry.type == "RestAPI":  # its handler knows no more than the address
        return entry.name or entry.tool_id
    return entry.name if inner is None else ""


def _version(major: str, inner: Tool | None) -> str:
    """The version of an entry without one: its id gives the major version."""
    said = ToolSpec.version if inner is None else inner.spec.version
    is_said = not major.isdigit() or said.partition(".")[0] == major
    return said if is_said else f"{major}.0.0"


def _effect(entry: ToolEntry, where: str, inner: Tool | None, *, is_trusted: bool) -> Effect | None:
    """The entry's effect, which must not weaken the function's own.

    Raises:
        ConfigError: The entry claims less than the function.
    """
    if entry.effect is None:
        return None
    effect = parse_member(Effect, entry.effect, f"{where}: effect")
    if not is_trusted and entry.type == "RestAPI" and inner is not None:
        return max(effect, inner.spec.effect, key=lambda it: it.strength)
    mark = mark_of(getattr(inner, "function", None))
    declared = mark.options.get("effect") if mark is not None else None
    if (
        entry.type in {"LocalScript", "Database"}
        and inner is not None
        and not inner.spec.unavailable
    ):
        declared = inner.spec.effect
    if declared is not None and effect.strength < declared.strength:
        raise ConfigError(
            f"{where}: '{show_handler(entry)}' says that its effect is {declared.value}; "
            f"write 'effect: {declared.value}', or leave it out"
        )
    return effect


def _check(name: str, schema: Mapping[str, Any], where: str) -> None:
    try:
        compile_schema(name, schema)
    except SourceUnavailable as error:
        raise ConfigError(f"{where}: {error.message}") from error


def _reason(entry: ToolEntry) -> str:
    """Why an entry has no handler; empty when it has one."""
    if not handler_of(entry):
        return (
            f"its handler is not named: write '{RUNNERS[entry.type]}' beside its type {entry.type}"
        )
    if entry.type in KINDS or entry.type == "MCPTool":
        return ""
    return f"this version cannot run tools of type {entry.type}"


async def _refuse(entry: ToolEntry, opening: HandlerContext) -> str:
    """Why an entry may not run; empty when it may. Its module may be imported to find out."""
    try:
        async with asyncio.timeout(opening.within):
            return await opening.refused(entry)
    except TimeoutError:
        return _too_slow(entry, opening)


def _too_slow(entry: ToolEntry, opening: HandlerContext) -> str:
    return f"opening '{show_handler(entry)}' took more than {opening.within:g} s"


def _runner(inner: Tool) -> Run:
    """Run the function with arguments of its own types, under the entry's name and schema."""

    async def run(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        read = getattr(inner, "arguments", None)  # made by the first call: few of many are called
        return await inner.run(read(arguments) if read is not None else arguments, ctx)

    return run


def _unavailable(spec: ToolSpec, reason: str) -> Tool:
    async def run(_arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> Any:
        raise SourceUnavailable(f"'{spec.name}' cannot be used: {reason}")

    return SchemaTool(spec=spec.replace(unavailable=reason), run=run)
