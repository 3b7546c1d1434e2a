"""Catalogues of these tests, and boards that name them."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.network.loopback import Answer, Received, Server, reply, serving

from pegboard.runtime import Pegboard

ORDERS: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "Orders", "version": "1.2.0"},
    "paths": {
        "/orders/{id}": {
            "get": {
                "operationId": "getOrder",
                "summary": "Show an order",
                "parameters": [
                    {
                        "name": "id",
                        "in": "path",
                        "required": True,
                        "schema": {"type": "integer"},
                    },
                    {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                ],
                "responses": {"200": {"description": "It."}},
            },
            "delete": {
                "operationId": "dropOrder",
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
                ],
                "responses": {"204": {"description": "Gone."}},
            },
        },
        "/secret": {
            "get": {
                "operationId": "getSecret",
                "security": [{"key": []}],
                "responses": {"200": {"description": "It."}},
            }
        },
    },
    "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
}
JSON = {"Content-Type": "application/json"}


def orders_at(server: Server) -> dict[str, Any]:
    """The document of an API that this server is."""
    return {**ORDERS, "servers": [{"url": f"http://{server.authority}/v1"}]}


def directory(document: str, **info: Any) -> dict[str, Any]:
    """A directory with one API."""
    about = {
        "title": "Orders",
        "version": "1.2.0",
        "description": "What was ordered.",
        "x-apisguru-categories": ["ecommerce"],
        "x-tags": ["shop"],
        "x-providerName": "shop.example",
        **info,
    }
    version = {
        "info": about,
        "swaggerUrl": document,
        "openapiVer": "3.1.0",
        "updated": "2026-01-02",
    }
    return {"shop.example:orders": {"preferred": "1.2.0", "versions": {"1.2.0": version}}}


def weather(**more: Any) -> dict[str, Any]:
    """An MCP registry's server that is a package."""
    return {
        "name": "io.github.someone/weather",
        "description": "Tells the weather.",
        "version": "1.0.2",
        "packages": [
            {
                "registryType": "npm",
                "identifier": "@someone/weather",
                "version": "1.0.2",
                "transport": {"type": "stdio"},
                "environmentVariables": [
                    {"name": "API_KEY", "isRequired": True, "isSecret": True},
                    {"name": "UNITS", "default": "metric"},
                ],
            }
        ],
        "_meta": {"io.modelcontextprotocol.registry/publisher-provided": {"keywords": ["weather"]}},
        **more,
    }


def listed(*servers: Mapping[str, Any], cursor: str = "") -> dict[str, Any]:
    """What a registry answers."""
    official = {"io.modelcontextprotocol.registry/official": {"isLatest": True}}
    return {
        "servers": [{"server": server, "_meta": official} for server in servers],
        "metadata": {"count": len(servers), **({"nextCursor": cursor} if cursor else {})},
    }


class Files:
    """Answers with JSON documents by path; what is not there is what an API answers."""

    def __init__(self) -> None:
        self.documents: dict[str, Any] = {}
        self.raw: dict[str, bytes] = {}

    async def __call__(self, asked: Received, writer: Any) -> None:
        path = urlsplit(asked.path).path
        if path in self.raw:
            writer.write(self.raw[path])
        elif path in self.documents:
            writer.write(reply(json.dumps(self.documents[path]).encode(), headers=JSON))
        else:
            told = {"method": asked.method, "path": asked.path}
            writer.write(reply(json.dumps(told).encode(), headers=JSON))


@asynccontextmanager
async def files() -> AsyncGenerator[tuple[Files, Server]]:
    """A server of documents, which is an API as well."""
    made = Files()
    answer: Answer = made
    async with serving(answer) as server:
        made.documents["/orders.json"] = orders_at(server)
        made.documents["/list.json"] = directory(f"http://{server.authority}/orders.json")
        yield made, server


def board_file(
    folder: Path, *marketplaces: Mapping[str, Any], allow: tuple[str, ...] = (), **more: Any
) -> Path:
    """A board file that names these, and may reach these hosts."""
    path = folder / "board.yaml"
    text = {"marketplaces": marketplaces, "network": {"allow_hosts": allow}, **more}
    path.write_text(json.dumps(text))
    return path


@asynccontextmanager
async def shop_board(folder: Path) -> AsyncGenerator[tuple[Pegboard, Files, Server]]:
    """A board with a directory of one API."""
    async with files() as (made, server):
        entry = {
            "kind": "openapi_directory",
            "name": "apis",
            "document": f"http://{server.authority}/list.json",
        }
        path = board_file(folder, entry, allow=(server.authority,))
        async with Pegboard(path) as board:
            yield board, made, server


SHOP = "shop.example:orders"


class HourGlass:
    """An `asyncio` whose `timeout`s end when they are turned, and not before."""

    def __init__(self) -> None:
        self.made: list[asyncio.Timeout] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    def timeout(self, _delay: float) -> asyncio.Timeout:
        self.made.append(asyncio.timeout(None))
        return self.made[-1]

    def turn(self) -> None:
        """The time of the last one is up."""
        self.made[-1].reschedule(asyncio.get_running_loop().time())
