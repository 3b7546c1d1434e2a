"""A server's tools as tools of the board."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import mcp_types as types

from pegboard.core.context import ToolContext
from pegboard.core.result import ToolResult
from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.core.wire_names import wire_name
from pegboard.errors import PegboardError, SourceUnavailable
from pegboard.sources.mcp.config import McpConfig
from pegboard.sources.mcp.content_blocks import (
    MAX_DESCRIPTION,
    find_stored_result,
    shorten,
    to_result,
    to_whole_result,
)
from pegboard.sources.mcp.pagination import ListResult
from pegboard.sources.mcp.schema_drafts import NOTHING, check_schema
from pegboard.sources.mcp.server import McpServer
from pegboard.tools import SchemaTool

_MAX_NAME = 1000
_MAX_TITLE = 500
_SHOWN = 100
_MAX_REPORTED = 20


class ServerTools:
    """Makes the tools of one server.

    ```python
    found = await server.tools()
    tools = ServerTools("github", config, server).make_tools(found.items).items
    ```
    """

    def __init__(
        self, source: str, config: McpConfig, upstream: McpServer, *, takes_caller: bool = False
    ) -> None:
        self._takes_caller = takes_caller
        self._source = source
        self._config = config
        self._upstream = upstream

    def make_tools(self, listed: Iterable[types.Tool]) -> ListResult[Tool]:
        """The tools that the configuration selects, in the server's order.

        Of two with the same name the first counts; one without a name is left out.
        """
        made: dict[str, Tool] = {}
        missing: list[str] = []
        for item in listed:
            if not item.name or len(item.name) > _MAX_NAME:
                size = f"a name of {len(item.name)} characters"
                missing.append(f"'{item.name[:_SHOWN]}' (it has {size})")
            elif self._is_chosen(item.name):
                tool = self._tool(item)
                first = made.setdefault(tool.spec.name, tool)
                missing.extend(_faults(item, tool, first))
        if len(missing) > _MAX_REPORTED:
            missing[_MAX_REPORTED:] = [f"{len(missing) - _MAX_REPORTED} more"]
        return ListResult(items=list(made.values()), missing=missing)

    def _is_chosen(self, name: str) -> bool:
        config = self._config
        return _any(config.include, name) and not _any(config.exclude, name)

    def _tool(self, item: types.Tool) -> Tool:
        config, hints = self._config, item.annotations or types.ToolAnnotations()
        title = shorten(item.title or hints.title or "", _MAX_TITLE)
        name = wire_name(self._source, config.rename.get(item.name, item.name))
        unavailable = ""
        inputs: Mapping[str, Any] = NOTHING
        outputs: Mapping[str, Any] | None = None
        try:
            inputs = check_schema(name, item.input_schema)
            outputs = None if item.output_schema is None else check_schema(name, item.output_schema)
        except SourceUnavailable as error:
            unavailable = error.message
            inputs = NOTHING
        spec = ToolSpec(
            name=name,
            action=item.name,
            title=title,
            description=shorten(item.description or "", MAX_DESCRIPTION)
            or title
            or f"'{item.name}' of the {self._about}.",
            input_schema=inputs,
            output_schema=outputs,
            category=config.category,
            tags=("mcp", *config.tags),
            capabilities=self._capabilities(item.name),
            effect=self._effect(item.name, hints),
            destructive=self._is_destructive(item.name, hints),
            idempotent=hints.idempotent_hint,
            timeout=config.timeout,
            source=self._source,
            handler="mcp",
            credential="" if self._takes_caller else config.credential,
            caller_credential=self._takes_caller,
            unavailable=unavailable,
        )

        async def run(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> ToolResult:
            answer = await self._upstream.call_tool(item.name, arguments, ctx)
            handle = find_stored_result(answer)
            if not handle:
                return to_result(self._source, answer)
            try:
                stored = await self._upstream.read_resource(handle, ctx)
            except PegboardError:  # it is too large, or gone: the first page says where it was
                return to_result(self._source, answer)
            return await asyncio.to_thread(
                to_whole_result, self._source, answer, stored.contents, item.output_schema
            )

        return SchemaTool(
            spec=spec,
            run=run,
            upstream=self._upstream_spec(spec, hints),
            overridden=[
                field
                for field, said in (
                    ("effect", config.effects),
                    ("destructive", config.destructive),
                )
                if _any(said, item.name)
            ],
        )

    def _upstream_spec(self, spec: ToolSpec, hints: types.ToolAnnotations) -> ToolSpec:
        """The spec as the server gives it, without the configuration."""
        return spec.replace(
            name=wire_name(self._source, spec.action),
            category="",
            tags=(),
            capabilities=(),
            effect=Effect.READ if hints.read_only_hint else Effect.WRITE,
            destructive=True if hints.destructive_hint else None,
            timeout=None,
            credential="",
            caller_credential=False,
        )

    @property
    def _about(self) -> str:
        return f"MCP server '{self._source}'"

    def _capabilities(self, name: str) -> tuple[str, ...]:
        """The capabilities in the configuration; MCP has none."""
        said = self._config.capabilities.items()
        found = [item for pattern, items in said if fnmatchcase(name, pattern) for item in items]
        return tuple(dict.fromkeys(found))

    def _is_destructive(self, name: str, hints: types.ToolAnnotations) -> bool | None:
        """The configured word, or a hint that it destroys; a hint that it does not is no word."""
        for pattern, said in self._config.destructive.items():
            if fnmatchcase(name, pattern):
                return said
        return True if hints.destructive_hint else None

    def _effect(self, name: str, hints: types.ToolAnnotations) -> Effect:
        """The configured effect, or the server's hint where it is trusted, or `write`."""
        for pattern, effect in self._config.effects.items():
            if fnmatchcase(name, pattern):
                return effect
        is_read = self._config.trust_hints and hints.read_only_hint
        return Effect.READ if is_read else Effect.WRITE


def _faults(item: types.Tool, tool: Tool, first: Tool) -> Iterator[str]:
    """The changes to what the server lists."""
    name = item.name[:_SHOWN]
    if first is not tool:
        other = first.spec.action[:_SHOWN]
        yield (
            f"'{name}' (it is listed twice; the first one counts)"
            if first.spec.action == item.name
            else f"'{name}' (it would be '{tool.spec.name}' as '{other}' is; see 'rename')"
        )
    elif len(item.description or "") > MAX_DESCRIPTION:
        yield f"'{name}' (its description is cut after {MAX_DESCRIPTION} characters)"


def _any(patterns: Iterable[str], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
