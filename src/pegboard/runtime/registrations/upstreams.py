"""Servers that registered tools name by address: opened by the first call, and shared.

Such a tool was reviewed before its registration; calls are refused while the server's definition
differs from the reviewed one.
"""

import asyncio
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any, TypeAlias

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import SourceUnavailable
from pegboard.features.pins.definitions import upstream_of
from pegboard.runtime.board_file.models import ToolEntry
from pegboard.runtime.registrations.upstream_server import (
    LISTING_SECONDS,
    REFUSED_SECONDS,
    UpstreamServer,
    upstream_digest,
)
from pegboard.tools import SchemaTool
from pegboard.tools.schema_tool import Run

_Place: TypeAlias = tuple[str, str]
"""The type of an entry and the address of its server."""

_CREDENTIAL = "marketplaces.token"
"""The credential name of a tool whose server is a marketplace of the board file."""


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
    """Whether this is the address of a server, rather than the name of a source."""
    return server.startswith(("http://", "https://"))


def names_upstream(entry: ToolEntry) -> bool:
    """Whether an entry names its server by address."""
    return entry.type in _CONFIGS and is_address(entry.server)


class Upstreams:
    """The servers that entries name, each opened once and closed with its last tool.

    Args:
        services: What sources may use.
        stack: Closes the servers.
        tokens: Returns the tokens of the board file by address.
        within: Seconds that listing a server may take.
        refused: Seconds after a failed listing during which it is not repeated.
    """

    def __init__(
        self,
        services: Services,
        stack: AsyncExitStack,
        *,
        tokens: Callable[[], Mapping[str, str]] = dict,
        within: float = LISTING_SECONDS,
        refused: float = REFUSED_SECONDS,
    ) -> None:
        self._services = services
        self._stack = stack
        self._tokens = tokens
        self._within = within
        self._refused = refused
        self._servers: dict[_Place, tuple[str, UpstreamServer]] = {}
        self._tools: Counter[_Place] = Counter()
        self._retiring: dict[asyncio.Task[None], UpstreamServer] = {}
        self._loop = asyncio.get_running_loop()
        self._is_closed_later = False

    @property
    def opened(self) -> tuple[str, ...]:
        """The addresses of the open servers."""
        return tuple(address for _, address in self._servers)

    def tool(self, entry: ToolEntry, spec: ToolSpec) -> Tool:
        """Make the tool of an entry; its server is opened by the first call.

        Args:
            entry: Names the server and the tool on it.
            spec: The reviewed spec.
        """
        kind, _ = _CONFIGS[entry.type](entry.server, "")
        shown = spec.replace(handler=kind, credential=_CREDENTIAL if self._token(entry) else "")
        run, place = self._runner(entry, spec), (entry.type, entry.server)
        self._tools[place] += 1
        # whoever has the tool has what runs it: a board, a version that may come back, a call
        weakref.finalize(run, self._let_go, place).atexit = False
        return SchemaTool(spec=shown, run=run)

    def _runner(self, entry: ToolEntry, spec: ToolSpec) -> Run:
        async def run(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
            server = self._server(entry)
            with server.call_tool():
                inner = await server.tool(entry.tool, entry.pin)
                _check(inner, entry, spec)
                return await inner.run(arguments, ctx)

        return run

    def _server(self, entry: ToolEntry) -> UpstreamServer:
        token, place = self._token(entry), (entry.type, entry.server)
        before, server = self._servers.get(place, ("", None))
        if server is not None and before == token:
            return server
        if server is not None:
            self._retire(place)
        if not self._is_closed_later:
            self._stack.push_async_callback(self._close)
            self._is_closed_later = True
        kind, config = _CONFIGS[entry.type](entry.server, token)
        made = UpstreamServer(
            kind, config, self._services, within=self._within, refused=self._refused
        )
        self._servers[place] = (token, made)
        return made

    def _token(self, entry: ToolEntry) -> str:
        return self._tokens().get(entry.server, "") if entry.type == "MCPTool" else ""

    def _let_go(self, place: _Place) -> None:
        """Called on any thread when a tool is garbage-collected."""
        with suppress(RuntimeError):  # the loop has ended, and the board with it
            self._loop.call_soon_threadsafe(self._forget_tool, place)

    def _forget_tool(self, place: _Place) -> None:
        self._tools[place] -= 1
        if self._tools[place] <= 0:
            del self._tools[place]
            if place in self._servers:
                self._retire(place)

    def _retire(self, place: _Place) -> None:
        _, server = self._servers.pop(place)
        task = self._loop.create_task(server.retire(), name="close a server of tools")
        self._retiring[task] = server
        task.add_done_callback(lambda done: self._retiring.pop(done, None))

    async def _close(self) -> None:
        tasks, servers = list(self._retiring), list(self._retiring.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        servers += [server for _, server in self._servers.values()]
        self._servers.clear()
        for server in servers:
            await server.close()


def _check(inner: Tool, entry: ToolEntry, spec: ToolSpec) -> None:
    """Refuse a definition that differs from the reviewed one.

    Raises:
        SourceUnavailable: It differs; the message says what to do.
    """
    if inner.spec.unavailable:
        raise SourceUnavailable(inner.spec.unavailable)
    if upstream_digest(inner) != entry.pin:
        raise SourceUnavailable(
            f"'{spec.name}' differs from the definition reviewed at registration: its server "
            "has changed it. Review it and add it again.",
            permanent=True,
        )
    # a hint of the server alone makes no read, but it allows a registration to say so
    declared = (upstream_of(inner) or inner.spec).effect
    if declared.strength > spec.effect.strength:
        raise SourceUnavailable(
            f"'{spec.name}' is registered with the effect {spec.effect.value}, but its server "
            f"declares {declared.value}.",
            permanent=True,
        )
