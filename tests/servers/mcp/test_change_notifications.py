"""Clients are told when what they were shown has changed."""

import asyncio
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import (
    PromptListChangedNotification,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
    ToolListChangedNotification,
)
from tests.servers.mcp.made import Pages, a_client, a_server, until

from pegboard import tool
from pegboard.core.principal import LOCAL
from pegboard.core.resources_and_prompts import ResourceSpec
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.change_notifications import LegacySession
from pegboard.servers.mcp.selection import WHOLE_BOARD
from pegboard.servers.mcp.server import BoardServer
from pegboard.tools import prompt
from pegboard.tools.resources_and_prompts import offer_of


class Heard:
    """The notifications that a client got."""

    def __init__(self) -> None:
        self.kinds: list[type] = []
        self.uris: list[str] = []

    async def __call__(self, message: Any) -> None:
        self.kinds.append(type(message))
        if isinstance(message, ResourceUpdatedNotification):
            self.uris.append(str(message.params.uri))


class Hidden(Pages):
    """A resource that the policy denies."""

    spec = ResourceSpec(uri="docs://another-secret", name="secret")


@tool(effect="read")
def late() -> str:
    """Come late."""
    return ""


@tool(effect="read")
def late_secret() -> str:
    """Come late, and hidden."""
    return ""


@prompt
def late_prompt() -> str:
    """Come late."""
    return ""


LATE_PROMPT: Any = offer_of(late_prompt)


async def test_a_session_is_told_once_of_many_changes(board: Pegboard, server: BoardServer) -> None:
    heard = Heard()
    async with a_client(server, "legacy", message_handler=heard) as client:
        await until(lambda: bool(server._watching._channels))
        for _ in range(5):
            board.registry.add(late)
            board.registry.remove("late")
        board.registry.add(late)
        await until(lambda: bool(heard.kinds))
        names = [item.name for item in (await client.list_tools()).tools]

    assert heard.kinds == [ToolListChangedNotification]
    assert "late" in names


async def test_a_change_that_nobody_sees_is_not_told(board: Pegboard, server: BoardServer) -> None:
    heard = Heard()
    async with a_client(server, "legacy", message_handler=heard):
        await until(lambda: bool(server._watching._channels))
        board.registry.add(late)
        board.registry.remove("late")
        board.registry.add(late_secret)
        board.registry.offers.add_resource(Hidden())
        await asyncio.sleep(0.1)

    assert heard.kinds == []


async def test_resources_and_prompts_are_told_of_too(board: Pegboard, server: BoardServer) -> None:
    heard = Heard()
    async with a_client(server, "legacy", message_handler=heard):
        await until(lambda: bool(server._watching._channels))
        board.registry.offers.replace("", resources=[Pages()], prompts=[LATE_PROMPT])
        await until(lambda: len(heard.kinds) == 2)

    assert set(heard.kinds) == {ResourceListChangedNotification, PromptListChangedNotification}


@pytest.mark.filterwarnings("ignore:.*removed as of 2026-07-28", "ignore:.*deprecated")
async def test_a_session_is_told_of_the_resources_that_it_follows(
    board: Pegboard, server: BoardServer
) -> None:
    heard = Heard()
    offers = board.registry.offers
    async with a_client(server, "legacy", message_handler=heard) as client:
        session = client.session
        await session.subscribe_resource("docs://handbook")
        await session.subscribe_resource("pages://7")
        for uri in ("docs://handbook", "docs://broken", "docs://secret", "pages://7"):
            offers.notify_update(uri)
        await until(lambda: len(heard.uris) == 2)
        await session.unsubscribe_resource("docs://handbook")
        offers.notify_update("docs://handbook")
        await asyncio.sleep(0.05)
        with pytest.raises(MCPError, match="Resource not found"):
            await session.subscribe_resource("docs://secret")

    assert heard.uris == ["docs://handbook", "pages://7"]


@pytest.mark.filterwarnings("ignore:.*removed as of 2026-07-28", "ignore:.*deprecated")
async def test_a_session_follows_so_many_and_no_more(
    board: Pegboard,
) -> None:
    async with (
        a_server(board, max_followed=1) as server,
        a_client(server, "legacy") as client,
    ):
        await client.session.subscribe_resource("docs://handbook")
        await client.session.subscribe_resource("docs://handbook")
        with pytest.raises(MCPError, match="at most 1 resources"):
            await client.session.subscribe_resource("pages://7")


async def test_a_stream_is_told_of_what_it_asked_for_alone(
    board: Pegboard, server: BoardServer
) -> None:
    async with (
        a_client(server, "2026-07-28") as client,
        client.listen(
            tools_list_changed=True, resource_subscriptions=["docs://handbook"]
        ) as stream,
    ):
        board.registry.add(late)
        board.registry.offers.notify_update("docs://handbook")
        board.registry.offers.notify_update("docs://broken")
        board.registry.offers.add_prompt(LATE_PROMPT)
        first = await anext(stream)
        second = await anext(stream)

    assert {type(first).__name__, type(second).__name__} == {"ToolsListChanged", "ResourceUpdated"}


async def test_a_stream_ends_when_the_server_ends_its_streams(server: BoardServer) -> None:
    async with (
        a_client(server, "2026-07-28") as client,
        client.listen(tools_list_changed=True) as stream,
    ):
        server.end_streams()
        left = [event async for event in stream]

    assert left == []


async def test_nobody_is_kept_who_has_gone(server: BoardServer) -> None:
    async with a_client(server, "legacy"):
        await until(lambda: len(server._watching._channels) == 1)
    async with a_client(server, "2026-07-28") as client:
        async with client.listen(tools_list_changed=True):
            there = len(server._watching._channels)
        await until(lambda: not server._watching._channels)

    assert there == 1


async def test_a_client_that_cannot_be_told_harms_nobody_else(
    board: Pegboard, server: BoardServer, client: Any
) -> None:
    class Gone:
        async def send_tool_list_changed(self) -> None:
            raise ConnectionError("gone")

    gone: Any = Gone()
    leave = server._watching.subscribe(LegacySession(gone), LOCAL, WHOLE_BOARD)
    board.registry.add(late)
    await asyncio.sleep(0.1)
    leave()

    assert (await client.call_tool("late", {})).is_error is False
