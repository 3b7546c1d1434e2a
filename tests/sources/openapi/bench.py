"""An API on loopback, its document on a board, and calls through the whole pipeline."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.network.loopback import Answer, Received, Server, always, reply, serving

from pegboard import ToolRegistry
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.result import ToolResult
from pegboard.core.tool import ToolSpec
from pegboard.network import GuardedClient, SsrfPolicy
from pegboard.sources.openapi import KIND
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.testing import FakeClock

JSON = {"Content-Type": "application/json"}


def json_reply(value: Any, *, status: int = 200, **headers: str) -> bytes:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return reply(json.dumps(value).encode(), status=status, headers=JSON | named)


OK = always(json_reply({"ok": True}))


def document(paths: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "paths": paths, **rest}


def operation(**fields: Any) -> dict[str, Any]:
    return {"operationId": "op", "responses": {"200": {"description": "fine"}}, **fields}


def one(method: Any = "get", path: Any = "/things", **fields: Any) -> dict[str, Any]:
    """A document with a single operation, `op`."""
    rest = {key: fields.pop(key) for key in ("components", "security") if key in fields}
    return document({path: {method: operation(**fields)}}, **rest)


def json_body(schema: Any, *, required: bool = True) -> dict[str, Any]:
    return {"required": required, "content": {"application/json": {"schema": schema}}}


@dataclass
class Bench:
    source: Source
    server: Server
    registry: ToolRegistry = field(default_factory=ToolRegistry)

    async def call(self, action: Any = "op", **arguments: Any) -> ToolResult:
        return await self.registry.call(f"api__{action}", arguments)

    def spec(self, action: str = "op") -> ToolSpec:
        return self.registry.get(f"api__{action}").spec

    @property
    def last(self) -> Received:
        return self.server.requests[-1]

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(urlsplit(self.last.path).query, keep_blank_values=True)

    @property
    def body(self) -> Any:
        return json.loads(self.last.body)


@asynccontextmanager
async def bench(
    described: Any,
    answer: Answer = OK,
    *,
    base_dir: Path | None = None,
    clock: FakeClock | None = None,
    also: Server | None = None,
    **config: Any,
) -> AsyncGenerator[Bench]:
    async with serving(answer) as server:
        hosts = [one.authority for one in (server, also) if one]
        client = GuardedClient(policy=SsrfPolicy(allow_hosts=hosts), timeout=5)
        services = Services(
            http=client, base_dir=base_dir or Path.cwd(), clock=clock or FakeClock()
        )
        given = {"base_url": f"http://{server.authority}", "retries": 0, **config}
        checked = OpenApiConfig.model_validate({"document": described, **given})
        source = await KIND.open("api", checked, services)
        try:
            made = Bench(source, server)
            for tool in await source.tools():
                made.registry.add(tool)
            yield made
        finally:
            await source.close()
            await client.close()
