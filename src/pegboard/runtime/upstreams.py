"""Servers of others that registered tools name by their address: opened by the first call, shared.

What such a tool is was looked at before it was registered; a call is refused while its server says
that it is something else.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any

from pydantic import ValidationError

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import ConfigError, PegboardError, SourceUnavailable
from pegboard.features.pins.definitions import upstream_of
from pegboard.registry.definition_diff import definition_digest
from pegboard.runtime.board import ToolEntry
from pegboard.runtime.kinds import load_kind
from pegboard.tools import SchemaTool
from pegboard.tools.schema_tool import Run

NAME = "upstream"
"""What the source of an address is called; part of what a digest is made of."""

_LIST_AGAIN_SECONDS = 5.0
"""A server is not asked more often what it has."""
_OLD_SECONDS = 300.0
"""What a server said longer ago is asked again before a call relies on it."""
_SHOWN = 200
_CREDENTIAL = "marketplaces.token"
"""What is called the credential of a tool whose server is a marketplace of the board file."""


def _openapi(address: str, _token: str) -> tuple[str, dict[str, Any]]:
    return "openapi", {"document": address}


def _mcp(address: str, token: str) -> tuple[str, dict[str, Any]]:
    auth = {"auth": {"kind": "bearer", "token": token}} if token else {}
    return "mcp", {"url": address, "resources": False, "prompts": False, **auth}


_CONFIGS: Mapping[str, Callable[[str, str], tuple[str, dict[str, Any]]]] = {
    "RestAPI": _openapi,
    "MCPTool": _mcp,
}


def is_address(server: str) -> bool:
    """Whether this is where a server is, and not the name of a source."""
    return server.startswith(("http://", "https://"))


def names_upstream(entry: ToolEntry) -> bool:
    """Whether an entry is run by a server that it names by its address."""
    return entry.type in _CONFIGS and is_address(entry.server)


def upstream_digest(tool: Tool) -> str:
    """Of what the server says that a tool is: what an entry of it has as its `pin`."""
    return definition_digest(upstream_of(tool) or tool.spec)


def upstream_action(spec: ToolSpec) -> str:
    """What the server itself calls a tool."""
    return spec.action or spec.name


class Upstreams:
    """The servers that entries name, each opened once.

    Args:
        services: What sources may use.
        stack: Closes what was opened.
        tokens: What the board file says is sent to which address.
    """

    def __init__(
        self,
        services: Services,
        stack: AsyncExitStack,
        *,
        tokens: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._services = services
        self._stack = stack
        self._tokens = tokens
        self._servers: dict[tuple[str, str, str], _Server] = {}

    def tool(self, entry: ToolEntry, spec: ToolSpec) -> Tool:
        """The tool of an entry; nothing is opened before it is called.

        Args:
            entry: Names the server, and the tool on it.
            spec: What was looked at.
        """
        kind, _ = _CONFIGS[entry.type](entry.server, "")
        shown = spec.changed(handler=kind, credential=_CREDENTIAL if self._token(entry) else "")
        return SchemaTool(spec=shown, run=self._runner(entry, spec))

    def _runner(self, entry: ToolEntry, spec: ToolSpec) -> Run:
        async def run(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
            inner = await self._server(entry).tool(entry.tool, entry.pin)
            _check(inner, entry, spec)
            return await inner.run(arguments, ctx)

        return run

    def _server(self, entry: ToolEntry) -> "_Server":
        token = self._token(entry)
        key = (entry.type, entry.server, token)
        if key not in self._servers:
            kind, config = _CONFIGS[entry.type](entry.server, token)
            self._servers[key] = _Server(kind, config, self._services, self._stack)
        return self._servers[key]

    def _token(self, entry: ToolEntry) -> str:
        return self._tokens().get(entry.server, "") if entry.type == "MCPTool" else ""


class _Server:
    """One server, its tools by what it calls them."""

    def __init__(
        self, kind: str, config: Mapping[str, Any], services: Services, stack: AsyncExitStack
    ) -> None:
        self._kind = kind
        self._config = config
        self._services = services
        self._stack = stack
        self._source: Source | None = None
        self._tools: Mapping[str, Tool] = {}
        self._listed_at = float("-inf")
        self._changes = self._seen = 0
        self._turn = asyncio.Lock()

    async def tool(self, name: str, pin: str) -> Tool:
        """The tool of a name; listed again where it is not as it was looked at.

        Raises:
            SourceUnavailable: The server cannot be asked, or has no such tool.
        """
        found = self._tools.get(name)
        if found is None or self._is_stale or upstream_digest(found) != pin:
            async with self._turn:
                await self._list()
            found = self._tools.get(name)
        if found is None:
            raise SourceUnavailable(f"Its server has no '{name[:_SHOWN]}' any more.")
        return found

    @property
    def _is_stale(self) -> bool:
        return self._changes != self._seen or self._age > _OLD_SECONDS

    @property
    def _age(self) -> float:
        return self._services.clock.monotonic() - self._listed_at

    async def _list(self) -> None:
        if self._age < _LIST_AGAIN_SECONDS and self._changes == self._seen:
            return
        if self._source is None:
            self._source = await opened_upstream(self._kind, self._config, self._services)
            self._stack.push_async_callback(self._source.close)
            self._source.on_change(self._changed)
        changes = self._changes
        self._tools = tools_by_action(await self._source.tools())
        self._seen = changes  # not before: a list that fails tells nothing of what has changed
        self._listed_at = self._services.clock.monotonic()

    def _changed(self) -> None:
        self._changes += 1


async def opened_upstream(kind: str, config: Mapping[str, Any], services: Services) -> Source:
    """A source on a server of somebody else.

    Raises:
        SourceUnavailable: It cannot be opened; says why.
    """
    try:
        plug = load_kind(kind)
        return await plug.open(NAME, plug.config.model_validate(config), services)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, fault["loc"]))
        raise SourceUnavailable(f"{place}: {fault['msg']}", permanent=True) from None
    except (ConfigError, PegboardError) as error:
        raise SourceUnavailable(error.message) from error


def tools_by_action(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Tools by what their server calls them; the first of a name counts."""
    found: dict[str, Tool] = {}
    for tool in tools:
        found.setdefault(upstream_action(upstream_of(tool) or tool.spec), tool)
    return found


def _check(inner: Tool, entry: ToolEntry, spec: ToolSpec) -> None:
    """Refuse what is not what was looked at.

    Raises:
        SourceUnavailable: It is not; says what to do.
    """
    if inner.spec.unavailable:
        raise SourceUnavailable(inner.spec.unavailable)
    if upstream_digest(inner) != entry.pin:
        raise SourceUnavailable(
            f"'{spec.name}' is not what was looked at when it was registered: its server describes "
            "it otherwise now. Review it again, and add it anew.",
            permanent=True,
        )
    if inner.spec.effect.strength > spec.effect.strength:
        raise SourceUnavailable(
            f"'{spec.name}' is registered as {spec.effect.value}, and its server says "
            f"{inner.spec.effect.value}.",
            permanent=True,
        )
