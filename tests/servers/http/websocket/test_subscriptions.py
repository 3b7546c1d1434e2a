import asyncio
import threading
from contextlib import aclosing
from typing import Any

from tests.servers.http.websocket.sockets import Client

from pegboard import Pegboard, tool
from pegboard.core.event import SourceChanged
from pegboard.core.principal import LOCAL
from pegboard.core.tool import ToolSpec
from pegboard.servers.http.websocket.subscriptions import MAX_NAMES, BoardSubscriptions
from pegboard.tools import SchemaTool


@tool(effect="read")
def sprout() -> str:
    """Was not there before."""
    return "leaf"


@tool(effect="read", name="sprout", description="Says more than before.")
def sprout_more() -> str:
    return "leaves"


@tool(effect="read")
def grow_secret() -> str:
    """Nobody may know of this one."""
    return ""


async def nothing(arguments: Any, ctx: Any) -> str:
    return ""


async def next_event(client: Client, request: int) -> dict[str, Any]:
    message, _ = await client.until(request, "event", "error")
    return message["event"]


async def test_whoever_subscribes_is_told_of_tools_that_come_change_and_go(
    client: Client, board: Pegboard
) -> None:
    request = await client.send("subscribe")
    assert await next_event(client, request) == {"kind": "subscribed"}
    told: dict[str, Any] = {"kind": "tools_changed", "added": [], "removed": [], "changed": []}
    told["named"] = True

    board.registry.add(sprout)
    assert await next_event(client, request) == {**told, "added": ["sprout"]}
    board.registry.add(sprout_more, on_conflict="replace")
    assert await next_event(client, request) == {**told, "changed": ["sprout"]}
    board.registry.remove("sprout")
    assert await next_event(client, request) == {**told, "removed": ["sprout"]}


async def test_a_hidden_tool_is_no_news(client: Client, board: Pegboard) -> None:
    request = await client.send("subscribe")
    await next_event(client, request)

    board.registry.add(grow_secret)
    board.registry.add(sprout)
    event = await next_event(client, request)

    assert event["added"] == ["sprout"]


async def test_sources_are_told_with_their_last_state_alone(
    client: Client, board: Pegboard
) -> None:
    request = await client.send("subscribe")
    await next_event(client, request)

    emit = board.registry.environment.emitter.emit
    for number in range(100):
        emit(SourceChanged(source="shop", status="ok", tools=number))
    emit(SourceChanged(source="web", status="failed", reason="it is gone"))

    assert await next_event(client, request) == {
        "kind": "source_changed",
        "source": "shop",
        "status": "ok",
        "tools": 99,
        "reason": "",
    }
    assert (await next_event(client, request))["reason"] == "it is gone"


async def test_a_subscription_ends_when_it_is_cancelled(client: Client, board: Pegboard) -> None:
    request = await client.send("subscribe")
    await next_event(client, request)
    await client.send("cancel", request=request)

    error, _ = await client.until(request, "error")

    assert error["problem"]["code"] == "cancelled"
    board.registry.add(sprout)
    assert (await client.ask("ping"))["type"] == "pong"


async def test_what_changes_on_another_thread_is_told_too(board: Pegboard) -> None:
    news = BoardSubscriptions(board.registry)
    with news.subscribe(LOCAL) as coming:
        async with aclosing(coming) as events:
            thread = threading.Thread(target=board.registry.add, args=(sprout,))
            thread.start()
            event = await asyncio.wait_for(anext(events), 40)
            thread.join()

    assert event["added"] == ["sprout"]


async def test_very_many_changes_are_told_without_their_names(board: Pegboard) -> None:
    news = BoardSubscriptions(board.registry)
    with news.subscribe(LOCAL) as coming:
        async with aclosing(coming) as events:
            for number in range(MAX_NAMES + 1):
                spec = ToolSpec(name=f"t{number}", input_schema={"type": "object"})
                board.registry.add(SchemaTool(spec=spec, run=nothing))
            event = await anext(events)

    assert event == {
        "kind": "tools_changed",
        "added": [],
        "removed": [],
        "changed": [],
        "named": False,
    }
