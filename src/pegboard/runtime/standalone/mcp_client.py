"""MCP servers for use without a board: `from pegboard import MCPClient`."""

import asyncio
import atexit
import contextlib
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import urlsplit

from pegboard.core.context import Arguments, ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.ports.source_services.oauth_login import OAuthLogins
from pegboard.core.result import ToolResult
from pegboard.errors import InvalidRequest, SourceUnavailable
from pegboard.registry import ToolRegistry
from pegboard.registry.callable_tool import CallableTool
from pegboard.registry.sync_bridge import LOOP_THREAD
from pegboard.runtime.board_file.models import NetworkEntry
from pegboard.runtime.standalone.loopback_login import LoopbackLogins
from pegboard.runtime.standalone.mcp_client_config import Server, configs_of
from pegboard.runtime.wiring.services import create_http_client
from pegboard.sources.mcp import KIND
from pegboard.sources.mcp.config import McpConfig
from pegboard.sources.mcp.source import McpSource

_CLOSING_SECONDS = 10.0


class AsyncMCPClient:
    """The asynchronous client that `async with MCPClient(...)` returns.

    ```python
    async with MCPClient("mcp-server-time") as client:
        result = await client.call_tool("get_current_time", {"timezone": "Europe/Berlin"})
    ```
    """

    def __init__(
        self,
        configs: Sequence[tuple[str, McpConfig]],
        *,
        logins: OAuthLogins | None = None,
        allow_hosts: Sequence[str] = (),
    ) -> None:
        hosts = (*{_host(config.url) for _, config in configs if config.url}, *allow_hosts)
        self._configs = configs
        self._logins = logins or LoopbackLogins()
        # whoever writes an address into a program means it, also one of this machine
        self._http = create_http_client(NetworkEntry(allow_hosts=hosts))
        self._sources: list[McpSource] = []
        self._registry = ToolRegistry()
        self._home: asyncio.AbstractEventLoop | None = None
        self._listing: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    async def connect(self) -> Self:
        """Connect to all servers, unless they are connected.

        Raises:
            MCPConnectionError: One of them cannot be reached; says what to check.
            InvalidRequest: The client is closed.
        """
        self._check_is_open()
        if self._home is not None:
            return self
        self._home = asyncio.get_running_loop()
        services = Services(http=self._http, base_dir=Path.cwd(), logins=self._logins)
        try:
            for name, config in self._configs:
                source = cast("McpSource", await KIND.open(name, config, services))
                self._sources.append(source)
                source.on_change(self._on_change)
            await self.refresh()
        except BaseException:
            await self.close()
            raise
        return self

    def as_tools(self) -> list[CallableTool]:
        """The tools as last listed, for any registry; they keep the connection alive.

        `await tool(**arguments)` gives the value of a call.
        """
        return [CallableTool(tool, self._call_value) for tool in self._registry]

    async def _call_value(self, name: str, arguments: Mapping[str, Any]) -> Any:
        return (await self.call_tool(name, arguments)).unwrap()

    async def call_tool(
        self, name: str, arguments: Arguments = None, *, ctx: ToolContext[Any] | None = None
    ) -> ToolResult:
        """Call a tool by its name here, or by the server's own name if that is unique.

        A failure of the tool is in the result.

        Raises:
            MCPConnectionError: The connection failed.
            InvalidRequest: The client is closed.
        """
        self._check_is_open()
        result = await self._registry.call(self._name(name), arguments, ctx)
        if isinstance(result.error, SourceUnavailable):
            raise result.error
        return result

    @property
    def problems(self) -> list[str]:
        """Listed tools that cannot be offered, with the reason; empty for none."""
        return [problem for source in self._sources for problem in source.problems]

    async def ping(self) -> None:
        """Return when every server answers.

        Raises:
            MCPConnectionError: One does not.
        """
        self._check_is_open()
        for source in self._sources:
            await source.ping()

    async def refresh(self) -> list[CallableTool]:
        """List the tools again; this also happens when a server reports a change.

        Raises:
            MCPConnectionError: A server cannot be listed.
        """
        self._check_is_open()
        registry = ToolRegistry()
        for source in self._sources:
            for item in await source.tools():
                registry.add(item)
        self._registry = registry
        return self.as_tools()

    async def close(self) -> None:
        """End connections and processes; safe to call twice."""
        self._is_closed = True
        for source in self._sources:
            await source.close()
        await self._http.close()

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _check_is_open(self) -> None:
        if self._is_closed:
            raise InvalidRequest("This MCPClient is closed: make a new one.")

    def _name(self, name: str) -> str:
        if name in self._registry:
            return name
        own = [tool.spec.name for tool in self._registry if tool.spec.action == name]
        if len(own) > 1:
            raise InvalidRequest(f"Several servers have a tool '{name}': {', '.join(own)}.")
        return own[0] if own else name

    def _on_change(self) -> None:
        task = asyncio.ensure_future(self._list_again())
        self._listing.add(task)
        task.add_done_callback(self._listing.discard)

    async def _list_again(self) -> None:
        if not self._is_closed:
            with contextlib.suppress(SourceUnavailable):  # the next call says so
                await self.refresh()


class MCPClient:
    """Tools of MCP servers, for a registry of yours.

    ```python
    client = MCPClient({"mcpServers": {"time": {"command": "mcp-server-time"}}})
    registry = ToolRegistry(client.as_tools())
    registry.call_sync("time__get_current_time", {"timezone": "Europe/Berlin"})
    client.close()
    ```

    It connects at once, on an event loop of its own; where a loop runs already, use
    `async with MCPClient(...)`, which connects on that loop.

    Args:
        server: A url, a command, its words, one server's settings, a mapping with `mcpServers`, or
            a JSON file with one.
        name: The first part of its tools' names, where `server` names one.
        logins: Where you log in to servers with `auth: {kind: oauth}`; None opens your browser.
        allow_hosts: Further hosts (`host` or `host:port`) that may have private addresses, as an
            authorization server of your own network.
        options: Further settings of a `kind: mcp` source.

    Raises:
        ConfigError: The settings are wrong.
        MCPConnectionError: A server cannot be reached; says what to check.
    """

    def __init__(
        self,
        server: Server,
        *,
        name: str = "",
        logins: OAuthLogins | None = None,
        allow_hosts: Sequence[str] = (),
        **options: Any,
    ) -> None:
        self._inner = AsyncMCPClient(
            configs_of(server, name, options), logins=logins, allow_hosts=allow_hosts
        )
        _CLIENTS.add(self)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            LOOP_THREAD.run(self._inner.connect())

    def as_tools(self) -> list[CallableTool]:
        """The tools as last listed, for any registry; they keep the connection alive.

        `tool(**arguments)` gives the value of a call.
        """
        tools = self._connect().as_tools()
        return [CallableTool(tool.inner, self._call_value) for tool in tools]

    def _call_value(self, name: str, arguments: Mapping[str, Any]) -> Any:
        return self.call_tool(name, arguments).unwrap()

    def call_tool(
        self, name: str, arguments: Arguments = None, *, ctx: ToolContext[Any] | None = None
    ) -> ToolResult:
        """Call a tool by its name here, or by the server's own name if that is unique.

        A failure of the tool is in the result.

        Raises:
            MCPConnectionError: The connection failed.
            InvalidRequest: The client is closed.
        """
        return LOOP_THREAD.run(self._connect().call_tool(name, arguments, ctx=ctx))

    @property
    def problems(self) -> list[str]:
        """Listed tools that cannot be offered, with the reason; empty for none."""
        return self._connect().problems

    def ping(self) -> None:
        """Return when every server answers.

        Raises:
            MCPConnectionError: One does not.
        """
        LOOP_THREAD.run(self._connect().ping())

    def refresh(self) -> list[CallableTool]:
        """List the tools again; this also happens when a server reports a change.

        Raises:
            MCPConnectionError: A server cannot be listed.
        """
        LOOP_THREAD.run(self._connect().refresh())
        return self.as_tools()

    def close(self) -> None:
        """End connections and processes; safe to call twice."""
        LOOP_THREAD.run(self._inner.close())

    def __enter__(self) -> Self:
        self._connect()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> AsyncMCPClient:
        return await self._inner.connect()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._inner.close()

    def _connect(self) -> AsyncMCPClient:
        return LOOP_THREAD.run(self._inner.connect())


_CLIENTS: "weakref.WeakSet[MCPClient]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Close all clients at exit, so that servers see the end of their input."""
    for client in list(_CLIENTS):
        with contextlib.suppress(Exception):  # the interpreter ends: nobody is left to tell
            LOOP_THREAD.run(asyncio.wait_for(client._inner.close(), _CLOSING_SECONDS))  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - same module


def _host(url: str) -> str:
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2]
