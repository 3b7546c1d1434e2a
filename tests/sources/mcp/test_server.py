"""Lists that come in pages, and connections that belong to an event loop."""

import asyncio
import json
from typing import Any

import pytest
from tests.network.loopback import Answer, Received, reply, serving
from tests.sources.mcp.opening import STDIO, by_action, call_of, opened

from pegboard.core.health import HealthStatus
from pegboard.core.ports.services import Services
from pegboard.errors import SourceUnavailable, ToolFailed
from pegboard.sources.mcp import KIND
from pegboard.sources.mcp.config import McpConfig
from pegboard.sources.mcp.server import McpServer

assert McpServer


def _listing(pages: dict[str, list[str]], following: dict[str, str], **able: Any) -> Answer:
    """A server of the handshake era whose tools come in these pages."""

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        if received.method != "POST":
            writer.write(reply(status=405))
            return
        message = json.loads(received.body)
        if "id" not in message:
            writer.write(reply(b"", status=202))
            return
        cursor = message.get("params", {}).get("cursor", "")
        results = {
            "initialize": {
                "protocolVersion": "2025-06-18",
                "capabilities": able,
                "serverInfo": {"name": "pages", "version": "1"},
            },
            "tools/list": {
                "tools": [
                    {"name": name, "inputSchema": {"type": "object"}}
                    for name in pages.get(cursor, [])
                ],
                "nextCursor": following.get(cursor),
            },
        }
        body = {"jsonrpc": "2.0", "id": message["id"], "result": results.get(message["method"], {})}
        raw = json.dumps(body).encode()
        writer.write(reply(raw, headers={"content-type": "application/json"}))

    return answer


@pytest.mark.parametrize(
    ("following", "names"),
    [
        ({}, ["a"]),
        ({"": "2", "2": "3"}, ["a", "b", "c"]),
        ({"": "2", "2": "2"}, ["a", "b"]),
    ],
    ids=["one", "three", "in-circles"],
)
async def test_every_page_of_a_list_is_read_and_no_circle(
    following: dict[str, str], names: list[str]
) -> None:
    pages = {"": ["a"], "2": ["b"], "3": ["c"]}
    async with serving(_listing(pages, following, tools={})) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            assert list(await by_action(source)) == names


async def test_what_a_server_says_it_has_not_is_not_asked_for() -> None:
    async with serving(_listing({}, {})) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            assert await source.tools() == []
            assert await source.resources() == []
            assert await source.prompts() == []
        asked = [json.loads(item.body)["method"] for item in server.requests if item.body]

    assert asked == ["initialize", "notifications/initialized"]


@pytest.mark.parametrize(
    ("unknown", "uris"),
    [
        ({"resources/templates/list"}, ["memo://a"]),
        ({"resources/list"}, ["memo://{b}"]),
        ({"resources/list", "resources/templates/list"}, []),
    ],
    ids=["no-templates", "no-resources", "neither"],
)
async def test_a_server_may_have_resources_or_templates_alone(
    unknown: set[str], uris: list[str]
) -> None:
    results = {
        "resources/list": {"resources": [{"uri": "memo://a", "name": "a"}]},
        "resources/templates/list": {
            "resourceTemplates": [{"uriTemplate": "memo://{b}", "name": "b"}]
        },
    }
    listing = _listing({}, {}, resources={})

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        message = json.loads(received.body or b"{}")
        method = message.get("method", "")
        if method not in results:
            await listing(received, writer)
            return
        error = {"code": -32601, "message": "Method not found"}
        said = {"error": error} if method in unknown else {"result": results[method]}
        raw = json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}).encode()
        writer.write(reply(raw, headers={"content-type": "application/json"}))

    async with serving(answer) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            found = await source.resources()

    assert [item.spec.uri for item in found] == uris


async def test_resources_that_cannot_be_listed_for_another_reason_are_told_about() -> None:
    listing = _listing({}, {}, resources={})

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        message = json.loads(received.body or b"{}")
        if message.get("method") != "resources/list":
            await listing(received, writer)
            return
        error = {"code": -32603, "message": "The disk is full"}
        raw = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode()
        writer.write(reply(raw, headers={"content-type": "application/json"}))

    async with serving(answer) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            with pytest.raises(ToolFailed, match="The disk is full"):
                await source.resources()


async def test_an_answer_that_mcp_does_not_allow_is_the_servers_fault() -> None:
    async with serving(_listing({"": ["a"]}, {}, tools={})) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            tools = await by_action(source)
            with pytest.raises(ToolFailed, match="a result that MCP does not allow"):
                await tools["a"].run({}, call_of())


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_source_whose_event_loop_has_ended_says_so() -> None:
    async def listed() -> Any:
        source = await KIND.open("s", McpConfig.model_validate(STDIO), Services())
        return source, await source.tools()

    source, tools = asyncio.run(listed())

    async def called() -> None:
        with pytest.raises(SourceUnavailable, match="an event loop that has ended"):
            await tools[0].run({"a": 1, "b": 2}, call_of())
        await source.close()

    asyncio.run(called())


async def test_a_server_that_does_not_know_how_to_ping_has_answered() -> None:
    listing = _listing({"": ["a"]}, {}, tools={})

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        message = json.loads(received.body or b"{}")
        if message.get("method") != "ping":
            await listing(received, writer)
            return
        error = {"code": -32601, "message": "Method not found"}
        body = {"jsonrpc": "2.0", "id": message["id"], "error": error}
        raw = json.dumps(body).encode()
        writer.write(reply(raw, headers={"content-type": "application/json"}))

    async with serving(answer) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            await source.tools()
            health = await source.health()

    assert (health.status, health.reason) == (HealthStatus.HEALTHY, "")
