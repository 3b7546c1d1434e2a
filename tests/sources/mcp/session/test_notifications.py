"""Changes on a server reach the board, in both eras of the protocol."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.network.loopback import Received, reply, serving
from tests.sources.mcp.opening import STDIO, by_action, call_of, logged, opened, over_http, until
from tests.sources.mcp.rogue import GREETING, replies, result, rogue_http
from tests.sources.mcp.workshop import server as workshop

from pegboard.core.principal import LOCAL
from pegboard.sources.mcp.session.notifications import ServerNotifications

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # servers take seconds to start
ERAS = pytest.mark.parametrize("protocol", ["legacy", "auto", "modern"])


@ERAS
async def test_changed_contents_of_a_listed_resource_are_told(protocol: str) -> None:
    async with opened({**STDIO, "protocol": protocol}) as source:
        told: list[str] = []
        source.on_update(told.append)
        tools = await by_action(source)
        await source.resources()
        await asyncio.sleep(0.3)  # the subscription is on its way
        await tools["touch"].run({"uri": "shelf://plan"}, call_of(LOCAL))
        await until(lambda: bool(told))

    assert told[0] == "shelf://plan"


@ERAS
async def test_changed_lists_are_told_over_http_too(protocol: str) -> None:
    async with (
        over_http(workshop) as door,
        opened({"url": door.url, "protocol": protocol}) as source,
    ):
        told: list[int] = []
        source.on_change(lambda: told.append(1))
        tools = await by_action(source)
        await asyncio.sleep(0.3)
        await tools["grow"].run({"name": f"later_{protocol}"}, call_of(LOCAL))
        await until(lambda: bool(told))
        now = await by_action(source)

    assert f"later_{protocol}" in now


async def test_after_a_break_the_lists_are_read_again() -> None:
    async with opened(STDIO) as source:
        told: list[int] = []
        source.on_change(lambda: told.append(1))
        tools = await by_action(source)
        with pytest.raises(Exception, match="broke off"):
            await tools["die"].run({}, call_of(LOCAL))
        assert told == []
        await tools["add"].run({"a": 1, "b": 2}, call_of(LOCAL))
        await until(lambda: bool(told))

    assert told == [1]


async def test_a_server_that_refuses_to_be_followed_is_used_all_the_same() -> None:
    """It says that it tells of changes, and knows neither subscription."""
    result: dict[str, Any] = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"resources": {"subscribe": True}, "logging": {}},
        "serverInfo": {"name": "mute", "version": "1"},
    }
    listed = {"resources": [{"uri": "a://b", "name": "b"}]}
    asked: list[str] = []

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        if received.method != "POST":
            writer.write(reply(status=405))
            return
        message = json.loads(received.body)
        asked.append(message["method"])
        known = {
            "initialize": result,
            "resources/list": listed,
            "resources/templates/list": {"resourceTemplates": []},
        }
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": message.get("id")}
        if message["method"] in known:
            body["result"] = known[message["method"]]
        else:
            body["error"] = {"code": -32601, "message": "no"}
        raw = json.dumps(body).encode()
        status = 200 if "id" in message else 202
        writer.write(reply(raw, status=status, headers={"content-type": "application/json"}))

    async with serving(answer) as server:
        config = {"url": f"http://{server.authority}/mcp", "protocol": "legacy"}
        async with opened(config) as source:
            found = await source.resources()
            await until(lambda: "resources/subscribe" in asked)
            again = await source.resources()

    assert [item.spec.uri for item in found] == ["a://b"]
    assert len(again) == 1
    assert "logging/setLevel" in asked


def test_of_very_many_resources_the_first_hundred_are_followed() -> None:
    following = ServerNotifications(lambda: None, lambda _: None)
    following.follow_resources([f"a://{number}" for number in range(1000)])

    assert len(following.followed_uris) == 100


@asynccontextmanager
async def modern(
    *, acknowledges: bool = True, refuses: bool = False
) -> AsyncGenerator[tuple[dict[str, Any], list[str]]]:
    """A server of the modern era whose streams of changes end at once; and what it was asked."""
    asked: list[str] = []

    def result_of(message: dict[str, Any]) -> dict[str, Any]:
        about = {"tools": {"listChanged": True}}
        common = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if message["method"] == "server/discover":
            return {**common, "supportedVersions": ["2026-07-28"], "capabilities": about}
        return {**common, "tools": []}

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        message = json.loads(received.body)
        asked.append(message["method"])
        number = message.get("id")
        if message["method"] != "subscriptions/listen":
            body = json.dumps({"jsonrpc": "2.0", "id": number, "result": result_of(message)})
            writer.write(reply(body.encode(), headers={"content-type": "application/json"}))
            return
        if refuses:
            error = {"code": -32601, "message": "Method not found"}
            body = json.dumps({"jsonrpc": "2.0", "id": number, "error": error})
            writer.write(reply(body.encode(), headers={"content-type": "application/json"}))
            return
        if not acknowledges:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: \n\n")
            await writer.drain()
            await asyncio.sleep(60)
        meta = {"io.modelcontextprotocol/subscriptionId": number}
        params = {"notifications": {"toolsListChanged": True}, "_meta": meta}
        event = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}
        body = f"data: {json.dumps({**event, 'params': params})}\n\n"
        writer.write(reply(body.encode(), headers={"content-type": "text/event-stream"}))

    async with serving(answer) as server:
        yield {"url": f"http://{server.authority}/mcp"}, asked


async def test_a_stream_of_changes_that_breaks_is_opened_again_and_the_lists_are_read() -> None:
    """Modern era over HTTP: the server restarts, and nothing stays missed."""
    async with modern() as (config, asked), opened(config) as source:
        told: list[int] = []
        source.on_change(lambda: told.append(1))
        await source.tools()
        await until(lambda: asked.count("subscriptions/listen") >= 2)
        assert (await source.health()).reason == ""

    assert told


async def test_what_nobody_foresaw_is_logged_and_changes_are_heard_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    told: list[int] = []

    def changed() -> None:
        told.append(1)
        raise ValueError("nobody foresaw this")

    with caplog.at_level(logging.WARNING, logger="pegboard.mcp"):
        async with modern() as (config, asked), opened(config) as source:
            source.on_change(changed)
            await source.tools()
            await until(lambda: len(told) >= 2)
            assert asked.count("subscriptions/listen") >= 2

    assert logged(caplog) == ["an MCP server's lists: cannot read them again"]  # once


async def test_a_stream_of_changes_that_is_never_acknowledged_is_asked_for_again() -> None:
    async with modern(acknowledges=False) as (config, asked), opened(config) as source:
        told: list[int] = []
        source.on_change(lambda: told.append(1))
        await source.tools()
        await until(lambda: asked.count("subscriptions/listen") >= 2)

    assert told


async def test_a_server_that_knows_no_streams_of_changes_is_asked_for_one_once() -> None:
    async with modern(refuses=True) as (config, asked), opened(config) as source:
        told: list[int] = []
        source.on_change(lambda: told.append(1))
        await source.tools()
        await until(lambda: "subscriptions/listen" in asked)
        await asyncio.sleep(1.5)  # a stream that breaks is opened again after a second
        await source.tools()

    assert asked.count("subscriptions/listen") == 1
    assert told == []


async def test_a_subscription_that_is_never_answered_holds_up_none_of_the_others() -> None:
    able = {"resources": {"subscribe": True}}
    listed = {"resources": [{"uri": uri, "name": "n"} for uri in ("a://1", "a://2")]}
    answers = replies(
        initialize=[result({**GREETING, "capabilities": able})], resources_list=[result(listed)]
    )
    async with rogue_http(answers) as (config, server), opened(config) as source:
        await source.resources()

        def asked() -> list[str]:
            bodies = [json.loads(item.body or b"{}") for item in server.requests]
            subscribing = [it for it in bodies if it.get("method") == "resources/subscribe"]
            return [item["params"]["uri"] for item in subscribing]

        await until(lambda: asked() == ["a://1", "a://2"])
