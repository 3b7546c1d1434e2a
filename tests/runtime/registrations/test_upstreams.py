"""Tools of servers that an entry names by their address: opened late, shared, held to their pin."""

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from mcp.server.mcpserver import MCPServer
from tests.features.marketplace.made import Files, files, orders_at
from tests.network.loopback import Server, client_for, reply
from tests.sources.mcp.opening import over_http

from pegboard import ToolRegistry
from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable
from pegboard.network import GuardedClient, SsrfPolicy
from pegboard.runtime.board_file.models import ToolEntry
from pegboard.runtime.registrations.handlers import HandlerContext
from pegboard.runtime.registrations.tools import build_entry_tool
from pegboard.runtime.registrations.upstream_server import (
    open_upstream,
    tools_by_action,
    upstream_digest,
)
from pegboard.runtime.registrations.upstreams import Upstreams, names_upstream
from pegboard.testing import FakeClock

SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}}


class Shop:
    """An API on loopback, and what its operations are registered as."""

    def __init__(
        self, made: Files, server: Server, opening: HandlerContext, clock: FakeClock
    ) -> None:
        self.made = made
        self.server = server
        self.opening = opening
        self.clock = clock
        self.url = f"http://{server.authority}/orders.json"

    async def pin(self, name: str) -> str:
        source = await open_upstream("openapi", {"document": self.url}, self.opening.services)
        return upstream_digest(tools_by_action(await source.tools())[name])

    async def entry(self, **said: Any) -> ToolEntry:
        given = {
            "tool_id": "order_v1",
            "type": "RestAPI",
            "method": "GET",
            "url": f"http://{self.server.authority}/v1/orders/{{id}}",
            "server": self.url,
            "tool": "getOrder",
            "pin": await self.pin("getOrder"),
            "input_schema": SCHEMA,
            **said,
        }
        return ToolEntry.model_validate(given)

    async def tool(self, **said: Any) -> Tool:
        return await build_entry_tool(await self.entry(**said), self.opening, where="here")


async def called(tool: Tool) -> Any:
    return await ToolRegistry([tool]).call(tool.spec.name, {"id": 7})


@pytest.fixture
async def shop() -> AsyncGenerator[Shop]:
    clock = FakeClock()
    async with files() as (made, server), client_for(server) as http, AsyncExitStack() as stack:
        services = Services(http=http, clock=clock)
        opening = HandlerContext(
            services=services,
            within=60,
            stack=stack,
            is_trusted=False,
            upstreams=Upstreams(services, stack),
        )
        yield Shop(made, server, opening, clock)


async def test_a_document_is_read_by_the_first_call_and_once(shop: Shop) -> None:
    first, second = await shop.tool(), await shop.tool(tool_id="again_v1")
    before = len(shop.server.requests)
    answers = [await called(tool) for tool in (first, second, first)]

    assert [answer.structured["path"] for answer in answers] == ["/v1/orders/7"] * 3
    asked = [item.path for item in shop.server.requests[before:]]
    assert asked == ["/orders.json", *["/v1/orders/7"] * 3]


async def test_what_has_changed_is_refused_until_it_is_as_it_was(shop: Shop) -> None:
    tool = await shop.tool()
    moved = {**orders_at(shop.server), "servers": [{"url": "https://elsewhere.example"}]}
    shop.made.documents["/orders.json"] = moved
    changed = await called(tool)
    at_once = await called(tool)
    shop.made.documents["/orders.json"] = orders_at(shop.server)
    shop.clock.advance(6)
    back = await called(tool)

    assert isinstance(changed.error, SourceUnavailable)
    assert "differs from the definition reviewed" in str(changed.error)
    assert str(at_once.error) == str(changed.error)
    assert back.structured["path"] == "/v1/orders/7"


async def test_what_a_server_said_long_ago_is_asked_again(shop: Shop) -> None:
    tool = await shop.tool()
    first = await called(tool)
    moved = {**orders_at(shop.server), "servers": [{"url": "https://elsewhere.example"}]}
    shop.made.documents["/orders.json"] = moved
    soon = await called(tool)
    shop.clock.advance(301)
    later = await called(tool)

    assert (first.error, soon.error) == (None, None)
    assert "differs from the definition reviewed" in str(later.error)


async def test_what_is_gone_is_told(shop: Shop) -> None:
    tool = await shop.tool(tool="gone")

    assert "no longer has the tool 'gone'" in str((await called(tool)).error)


async def test_a_server_that_is_down_is_asked_again_later(shop: Shop) -> None:
    tool = await shop.tool()
    shop.made.raw["/orders.json"] = reply(b"", status=503)
    down = await called(tool)
    del shop.made.raw["/orders.json"]
    asked = len(shop.server.requests)
    at_once = await called(tool)
    asked_again = len(shop.server.requests) - asked
    shop.clock.advance(6)
    up = await called(tool)

    assert "its server answered 503" in str(down.error)
    assert (str(at_once.error), asked_again) == (str(down.error), 0)
    assert up.structured["path"] == "/v1/orders/7"


async def test_a_tool_that_cannot_be_used_says_why(shop: Shop) -> None:
    tool = await shop.tool(tool="getSecret", pin=await shop.pin("getSecret"))

    assert "needs a credential" in str((await called(tool)).error)


async def test_no_entry_says_that_a_write_reads(shop: Shop) -> None:
    pin = await shop.pin("dropOrder")
    honest = await shop.tool(tool="dropOrder", pin=pin, method="DELETE", effect="read")
    lying = await shop.tool(tool="dropOrder", pin=pin, method="GET", effect="read")

    assert (honest.spec.effect, (await called(honest)).error) == ("write", None)
    assert "is registered with the effect read, but its server declares write" in str(
        (await called(lying)).error
    )


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        pytest.param({"tool": ""}, "write 'tool'", id="no tool"),
        pytest.param({"pin": ""}, "add it from a marketplace", id="no pin"),
        pytest.param({"input_schema": None}, "write its 'input_schema'", id="no schema"),
        pytest.param({"url": "ftp://x"}, "url: not a valid address", id="no address"),
        pytest.param({"url": ""}, "write 'url'", id="no url"),
    ],
)
async def test_what_is_missing_is_named(shop: Shop, said: Any, reason: str) -> None:
    tool = await shop.tool(**said)

    assert reason in tool.spec.unavailable


async def test_a_board_file_writes_a_source_instead(shop: Shop) -> None:
    opening = HandlerContext(services=shop.opening.services, within=60, stack=shop.opening.stack)

    tool = await build_entry_tool(await shop.entry(), opening, where="here")

    assert tool.spec.unavailable == f"write '{shop.url}' under 'sources:' of the board file"


async def test_an_address_of_nobody_is_told() -> None:
    with pytest.raises(SourceUnavailable, match="document"):
        await open_upstream("openapi", {"document": 7}, Services())
    with pytest.raises(SourceUnavailable, match="no source kind"):
        await open_upstream("odd", {}, Services())


async def test_a_token_goes_to_the_address_that_it_is_for(shop: Shop) -> None:
    named: list[tuple[str, str]] = []
    async with AsyncExitStack() as stack:
        place = f"http://{shop.server.authority}"
        tokens = {f"{place}/mcp": "secret"}
        services = shop.opening.services
        upstreams = Upstreams(services, stack, tokens=lambda: tokens)
        opening = HandlerContext(services=services, within=60, stack=stack, upstreams=upstreams)
        for path in ("/mcp", "/other"):
            said = {"type": "MCPTool", "server": f"{place}{path}", "tool": "x", "pin": "0" * 64}
            entry = await shop.entry(**said, url="", method="")
            tool = await build_entry_tool(entry, opening, where="here")
            named.append((tool.spec.handler, tool.spec.credential))
            await called(tool)

    sent = {item.path: item.headers.get("authorization") for item in shop.server.requests}
    assert (sent["/mcp"], sent["/other"]) == ("Bearer secret", None)
    assert named == [("mcp", "marketplaces.token"), ("mcp", "")]


def test_only_addresses_of_two_types_name_a_server() -> None:
    def entry(**said: Any) -> ToolEntry:
        return ToolEntry.model_validate({"tool_id": "x_v1", **said})

    assert names_upstream(entry(type="MCPTool", server="https://a"))
    assert names_upstream(entry(type="RestAPI", server="http://a"))
    assert not names_upstream(entry(type="MCPTool", server="hq"))
    assert not names_upstream(entry(type="Federated", server="https://a"))


@pytest.mark.slow
async def test_a_server_is_closed_when_the_last_of_its_tools_is_gone(shop: Shop) -> None:
    upstreams = upstreams_of(shop)
    first, second = await shop.tool(), await shop.tool(tool_id="again_v1")
    await called(first)
    opened = [upstreams.opened]
    del first
    opened.append(await settled(upstreams))
    await called(second)
    del second
    opened.append(await settled(upstreams))
    back = await called(await shop.tool())

    assert opened == [(shop.url,), (shop.url,), ()]
    assert back.structured["path"] == "/v1/orders/7"


async def test_a_call_that_runs_is_not_cut_when_its_tool_goes() -> None:
    server = MCPServer("hq")
    begun, may_end = asyncio.Event(), asyncio.Event()

    @server.tool()
    async def wait() -> str:
        begun.set()
        await may_end.wait()
        return "done"

    http = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    async with over_http(server) as door, AsyncExitStack() as stack:
        stack.push_async_callback(http.close)
        services, tokens = Services(http=http), dict[str, str]()
        upstreams = Upstreams(services, stack, tokens=lambda: tokens)
        opening = HandlerContext(
            services=services, within=60, stack=stack, is_trusted=False, upstreams=upstreams
        )
        async with AsyncExitStack() as looking:
            seen = await open_upstream("mcp", {"url": door.url}, services)
            looking.push_async_callback(seen.close)
            pin = upstream_digest(tools_by_action(await seen.tools())["wait"])
        said = {"tool_id": "wait_v1", "type": "MCPTool", "server": door.url, "tool": "wait"}
        entry = ToolEntry.model_validate({**said, "pin": pin, "input_schema": {"type": "object"}})
        tool = await build_entry_tool(entry, opening, where="here")
        calling = asyncio.create_task(ToolRegistry([tool]).call(tool.spec.name, {}))
        await begun.wait()
        tokens[door.url] = "another"  # what is sent with it has changed
        other = asyncio.create_task(ToolRegistry([tool]).call(tool.spec.name, {}))
        await asyncio.sleep(0.2)
        may_end.set()
        answers = [await calling, await other]

        assert [answer.text for answer in answers] == ["done", "done"]
        assert upstreams.opened == (door.url,)


def upstreams_of(shop: Shop) -> Upstreams:
    assert shop.opening.upstreams is not None
    return shop.opening.upstreams


async def settled(upstreams: Upstreams) -> tuple[str, ...]:
    """What is open, once what is no more is found to be so."""
    gc.collect()
    for _ in range(20):
        await asyncio.sleep(0.001)
    return upstreams.opened
