"""Services of others on loopback, and tools that are set up to use them."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.network.loopback import Answer, Received, Server, always, serving

from pegboard import ToolRegistry
from pegboard.core.ports.services import Services
from pegboard.core.result import ToolResult
from pegboard.runtime.board_file.models import NetworkEntry
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.providers import create_providers
from pegboard.sources.builtin import bind_tools
from pegboard.testing import FakeClock


@dataclass(frozen=True)
class Desk:
    """Built-in tools with settings, and the server that these name."""

    registry: ToolRegistry
    server: Server

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        return await self.registry.call(name, arguments)

    @property
    def request(self) -> Received:
        [request] = self.server.requests
        return request


@asynccontextmanager
async def desk(answer: bytes | Answer, variables: Mapping[str, str]) -> AsyncGenerator[Desk]:
    """The built-in tools with these variables, in which `{host}` stands for the server."""
    handler = always(answer) if isinstance(answer, bytes) else answer
    async with serving(handler) as server:
        given = {
            name: value.replace("{host}", server.authority) for name, value in variables.items()
        }
        providers = create_providers(Settings.from_environment(given), NetworkEntry())
        services = Services(http=providers.http, providers=providers, clock=FakeClock())
        try:
            yield Desk(ToolRegistry(bind_tools(services)), server)
        finally:
            if providers.http is not None:
                await providers.http.close()


def why_unavailable(name: str, variables: Mapping[str, str]) -> str:
    """Why a tool is unavailable with these variables; empty if it is available."""
    providers = create_providers(Settings.from_environment(variables), NetworkEntry())
    services = Services(http=providers.http, providers=providers)
    [tool] = [tool for tool in bind_tools(services) if tool.spec.name == name]
    return tool.spec.unavailable
