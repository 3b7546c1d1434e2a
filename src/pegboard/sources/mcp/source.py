"""The source of one MCP server."""

import asyncio
import importlib.util
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.resources_and_prompts import Prompt, Resource
from pegboard.core.tool import Tool
from pegboard.errors import ConfigError, PegboardError, SourceUnavailable
from pegboard.sources.mcp.config import FaultyServer, McpConfig

if TYPE_CHECKING:
    from pegboard.sources.mcp.transport.transports import Link

_LOG = logging.getLogger("pegboard.mcp")
_EXTRA = "MCP servers need an extra: pip install 'pegboard[mcp]'"


async def open_source(name: str, config: McpConfig | FaultyServer, services: Services) -> Source:
    """Open a source for one server; it connects on first use.

    Raises:
        SourceUnavailable: The MCP library is not installed, or the server's entry in its list is
            wrong.
        ConfigError: The configuration names several servers, each of which is a source.
    """
    if isinstance(config, FaultyServer):
        raise SourceUnavailable(config.problem, permanent=True)
    if config.names_many:
        raise ConfigError(f"'{name}' names a list of servers; open each one for itself")
    if importlib.util.find_spec("mcp") is None:
        raise SourceUnavailable(_EXTRA)
    # the library takes seconds to import, and other sources share the loop
    return await asyncio.to_thread(_make_source, name, config, services)


def _make_source(name: str, config: McpConfig, services: Services) -> "McpSource":
    from pegboard.sources.mcp.transport.transports import Link

    folders = [services.base_dir / Path(item).expanduser() for item in config.roots]
    if not folders and services.workspace is not None:
        folders = [services.workspace]
    return McpSource(
        Link(
            name=name,
            config=config,
            http=services.http,
            base_dir=services.base_dir,
            logins=services.logins,
            credentials=services.credentials,
            roots=tuple(item.resolve() for item in folders),
        )
    )


class McpSource:
    """The tools, resources and prompts of one server.

    ```python
    config = McpConfig.model_validate({"command": "mcp-server-time"})
    source = await KIND.open("time", config, Services())
    [tool.spec.name for tool in await source.tools()]
    ```
    """

    def __init__(self, link: "Link") -> None:
        from pegboard.sources.mcp.server import McpServer
        from pegboard.sources.mcp.tools import ServerTools

        self._name = link.name
        self._config = link.config
        self._notify: Callable[[], None] | None = None
        self._on_update: Callable[[str], None] | None = None
        self._upstream = McpServer(link, changed=self._notify_change, updated=self._notify_update)
        self._tools = ServerTools(
            link.name, link.config, self._upstream, takes_caller=link.takes_caller
        )
        self._missing: dict[str, tuple[str, ...]] = {}
        self._is_closed = False

    @property
    def name(self) -> str:
        """The instance's name, the first part of its tools' wire names."""
        return self._name

    async def tools(self) -> Sequence[Tool]:
        """List the tools that the configuration selects.

        Raises:
            SourceUnavailable: The server cannot be listed, with what to check.
        """
        try:
            found = await self._upstream.tools()
            made = await asyncio.to_thread(self._tools.make_tools, found.items)
        except SourceUnavailable:
            raise
        except PegboardError as error:
            raise SourceUnavailable(error.message) from error
        self._note_problems("tools", [*found.missing, *made.missing])
        return made.items

    async def resources(self) -> Sequence[Resource]:
        """List the resources and resource templates."""
        from pegboard.sources.mcp.resources_and_prompts import resources_of

        if not self._config.resources:
            return []
        found = await self._upstream.resources()
        self._note_problems("resources", found.missing)
        return resources_of(self._name, found.items, self._upstream)

    async def prompts(self) -> Sequence[Prompt]:
        """List the prompts."""
        from pegboard.sources.mcp.resources_and_prompts import prompts_of

        if not self._config.prompts:
            return []
        found = await self._upstream.prompts()
        self._note_problems("prompts", found.missing)
        return prompts_of(self._name, found.items, self._upstream)

    @property
    def problems(self) -> Sequence[str]:
        """The problems of the last lists; empty when every item can be used."""
        title = self._upstream.link.title
        return [
            f"{title} lists {kind} that cannot be used: {'; '.join(reasons)}."
            for kind, reasons in self._missing.items()
            if reasons
        ]

    async def health(self) -> Health:
        """Whether the server answers, and everything it lists can be used.

        A server that was closed because it was not used is not started.
        """
        if self._is_closed:
            return Health(status=HealthStatus.UNHEALTHY, reason="The source is closed.")
        if not self._upstream.is_asleep():
            try:
                await self._upstream.ping()
            except PegboardError as error:
                return Health(status=HealthStatus.UNHEALTHY, reason=error.message)
        problems = " ".join(self.problems)
        return Health(status=HealthStatus.DEGRADED, reason=problems) if problems else HEALTHY

    async def ping(self) -> None:
        """Return when the server answers; it is started if necessary.

        Raises:
            PegboardError: It does not answer; says what to check.
        """
        await self._upstream.ping()

    async def close(self) -> None:
        """End all sessions and processes; safe to call twice."""
        self._is_closed = True
        await self._upstream.close()

    def on_change(self, notify: Callable[[], None]) -> None:
        """Call `notify` when the server reports that a list has changed."""
        self._notify = notify

    def on_update(self, notify: Callable[[str], None]) -> None:
        """Call `notify` with the server's URI of a resource whose contents changed."""
        self._on_update = notify

    def _note_problems(self, kind: str, missing: Sequence[str]) -> None:
        reasons = tuple(missing)
        if reasons and reasons != self._missing.get(kind):
            _LOG.warning("%s lists %s that cannot be used: %s", self._name, kind, reasons)
        self._missing[kind] = reasons

    def _notify_change(self) -> None:
        if self._notify is not None:
            self._notify()

    def _notify_update(self, uri: str) -> None:
        if self._on_update is not None:
            self._on_update(uri)
