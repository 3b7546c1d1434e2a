"""Changes on a server reach the board, in both eras of the protocol."""

import asyncio
import json
from typing import Any

import pytest
from tests.network.loopback import Received, reply, serving
from tests.sources.mcp.opening import STDIO, by_action, call_of, opened, over_http, until
from tests.sources.mcp.workshop import server as workshop

from pegboard.core.principal import LOCAL
from pegboard.sources.mcp.following import Following

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # servers take seconds to start
ERAS = pytest.mark.parametrize("protocol", ["legacy", "auto"])


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
    following = Following(lambda: None, lambda _: None)
    following.resources([f"a://{number}" for number in range(1000)])

    assert len(following.followed) == 100


async def test_a_stream_of_changes_that_breaks_is_opened_again_and_the_lists_are_read() -> None:
    """Modern era over HTTP: the server restarts, and nothing stays missed."""
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
        number = message["id"]
        if message["method"] != "subscriptions/listen":
            body = json.dumps({"jsonrpc": "2.0", "id": number, "result": result_of(message)})
            writer.write(reply(body.encode(), headers={"content-type": "application/json"}))
            return
        meta = {"io.modelcontextprotocol/subscriptionId": number}
        params = {"notifications": {"toolsListChanged": True}, "_meta": meta}
        event = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}
        body = f"data: {json.dumps({**event, 'params': params})}\n\n"
        writer.write(reply(body.encode(), headers={"content-type": "text/event-stream"}))

    async with (
        serving(answer) as server,
        opened({"url": f"http://{server.authority}/mcp"}) as source,
    ):
        told: list[int] = []
        source.on_change(lambda: told.append(1))
        await source.tools()
        await until(lambda: asked.count("subscriptions/listen") >= 2)
        assert (await source.health()).reason == ""

    assert told
