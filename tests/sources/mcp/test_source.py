"""MCP servers as sources: what every source promises, with servers that others wrote."""

import asyncio
import sys
from pathlib import Path
from typing import ClassVar

import pytest
from tests.peers.node import node, node_package, peer_python
from tests.sources.mcp.opening import (
    ANN,
    STDIO,
    by_action,
    call_of,
    children,
    everything,
    everything_over,
    opened,
    over_http,
    until,
)
from tests.sources.mcp.rogue import rogue
from tests.sources.mcp.workshop import server as workshop

from pegboard.core.health import HealthStatus
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.principal import LOCAL
from pegboard.core.resources_and_prompts import ResourceProvider
from pegboard.core.result import ImagePart, ResourcePart, TextPart
from pegboard.core.tool import Effect, ToolSpec
from pegboard.errors import ConfigError, InvalidRequest, MCPConnectionError
from pegboard.sources.mcp import KIND
from pegboard.sources.mcp.config import McpConfig
from pegboard.testing import SourceContract

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # servers take seconds to start
TIME = str(Path(sys.executable).with_name("mcp-server-time"))
GIT = str(Path(sys.executable).with_name("mcp-server-git"))


class TestTimeServer(SourceContract):
    """The PyPI server `mcp-server-time`, a process over stdio."""

    kind = KIND
    least_tools = 2
    _listed: ClassVar[list[ToolSpec]] = []

    async def open_source(self) -> Source:
        return await KIND.open("time", McpConfig(command=TIME), Services())

    def _specs(self) -> list[ToolSpec]:
        """What one process lists, for all tests that only look at it: a start takes a second."""
        if not self._listed:
            self._listed.extend(super()._specs())
        return self._listed


async def test_a_call_of_a_server_over_stdio_gives_text_and_structure() -> None:
    async with opened({"command": TIME}, name="time") as source:
        tools = await by_action(source)
        result = await tools["get_current_time"].run({"timezone": "Europe/Berlin"}, call_of())

    assert result.structured["timezone"] == "Europe/Berlin"
    assert "Europe/Berlin" in result.text
    assert tools["get_current_time"].spec.handler == "mcp"


async def test_a_git_server_reads_and_its_refusals_are_its_own_words(tmp_path: Path) -> None:
    async with opened({"command": GIT, "trust_hints": True}, name="git") as source:
        tools = await by_action(source)
        result = await tools["git_status"].run({"repo_path": str(tmp_path)}, call_of())

    assert result.is_error
    assert str(tmp_path) in result.text
    assert tools["git_status"].spec.effect is Effect.READ


async def test_a_filesystem_server_works_in_the_folder_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("glue")
    program = node_package("@modelcontextprotocol/server-filesystem") / "dist" / "index.js"
    config = {"command": str(node()), "args": [str(program), str(tmp_path)], "trust_hints": True}

    async with opened(config, name="files") as source:
        tools = await by_action(source)
        found = await tools["read_text_file"].run({"path": str(tmp_path / "a.txt")}, call_of())

    assert found.text == "glue"
    assert tools["write_file"].spec.effect is Effect.WRITE
    assert tools["read_text_file"].spec.effect is Effect.READ


async def test_a_memory_server_keeps_what_it_was_told(tmp_path: Path) -> None:
    program = node_package("@modelcontextprotocol/server-memory") / "dist" / "index.js"
    config = {
        "command": str(node()),
        "args": [str(program)],
        "env": {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")},
    }
    entity = {"name": "chair", "entityType": "furniture", "observations": ["red"]}

    async with opened(config, name="memory") as source:
        tools = await by_action(source)
        await tools["create_entities"].run({"entities": [entity]}, call_of())
        found = await tools["read_graph"].run({}, call_of())

    assert found.structured["entities"] == [entity]


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_a_server_of_the_generation_before_is_spoken_to_as_it_speaks(tmp_path: Path) -> None:
    program = peer_python().with_name("mcp-server-sqlite")
    config = {"command": str(program), "args": ["--db-path", str(tmp_path / "a.db")]}

    async with opened(config, name="old") as source:
        tools = await by_action(source)
        await tools["create_table"].run({"query": "CREATE TABLE t (a INT)"}, call_of())
        found = await tools["list_tables"].run({}, call_of())
        resources = [item.spec.uri for item in await source.resources()]

    assert found.text == "[{'name': 't'}]"
    assert resources == ["memo://insights"]


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.parametrize("mode", ["stdio", "streamableHttp", "sse"])
async def test_the_reference_server_is_used_in_full_over(mode: str) -> None:
    if mode == "stdio":
        await _use_everything(everything())
    else:
        async with everything_over(mode) as base:
            await _use_everything({"url": f"{base}/{'sse' if mode == 'sse' else 'mcp'}"})


async def _use_everything(config: dict[str, object]) -> None:
    async with opened(config, name="every") as source:
        tools = await by_action(source)
        echo = await tools["echo"].run({"message": "hi"}, call_of())
        image = await tools["get-tiny-image"].run({}, call_of())
        links = await tools["get-resource-links"].run({"count": 2}, call_of())
        embedded = await tools["get-resource-reference"].run({"resourceId": 1}, call_of())
        weather = await tools["get-structured-content"].run({"location": "Chicago"}, call_of())
        assert isinstance(source, ResourceProvider)
        resources = {item.spec.uri: item for item in await source.resources()}
        prompts = {item.spec.action: item for item in await source.prompts()}
        uri = "demo://resource/static/document/features.md"
        read = await resources[uri].read(uri, call_of())
        filled = await prompts["args-prompt"].fill({"city": "Ulm"}, call_of())

    assert echo.text == "Echo: hi"
    assert any(isinstance(part, ImagePart) for part in image.content)
    uris = [part.uri for part in links.content if isinstance(part, ResourcePart)]
    assert uris[0].startswith("board://every/demo://")
    assert any(isinstance(part, ResourcePart) and part.text for part in embedded.content)
    assert set(weather.structured) == {"temperature", "conditions", "humidity"}
    assert read[0].uri == uri
    assert read[0].text
    assert isinstance(filled.messages[0].content, TextPart)
    assert "Ulm" in filled.messages[0].content.text


async def test_a_failing_tool_speaks_for_itself_and_a_missing_one_is_told() -> None:
    async with over_http(workshop) as door, opened({"url": door.url}) as source:
        tools = await by_action(source)
        result = await tools["fail"].run({}, call_of())

    assert result.is_error
    assert "the drawer is stuck" in result.text


async def test_health_is_a_ping_and_a_closed_source_says_so() -> None:
    async with opened(rogue()) as source:
        await source.tools()
        well = await source.health()
        await source.close()
        closed = await source.health()

    assert well.status is HealthStatus.HEALTHY
    assert closed.status is HealthStatus.UNHEALTHY


async def test_a_server_that_cannot_be_reached_is_unhealthy_with_the_reason() -> None:
    async with opened({"command": "no-such-server"}) as source:
        health = await source.health()
        with pytest.raises(MCPConnectionError, match="no program 'no-such-server'"):
            await source.tools()

    assert health.status is HealthStatus.UNHEALTHY
    assert "no program 'no-such-server'" in health.reason


async def test_a_new_tool_on_the_server_is_told_as_a_change() -> None:
    async with opened(STDIO) as source:
        told: list[int] = []
        source.on_change(lambda: told.append(1))
        tools = await by_action(source)
        await tools["grow"].run({"name": "later"}, call_of(LOCAL))
        await until(lambda: bool(told))
        now = await by_action(source)

    assert "later" in now


async def test_idle_sessions_end_with_their_processes() -> None:
    async with opened({**rogue(), "idle_timeout": 0.05}) as source:
        await source.tools()
        await until(lambda: not children())
        asleep = await source.health()
        tools = await by_action(source)
        woken = await tools["plain"].run({}, call_of(ANN))

    assert asleep.status is HealthStatus.HEALTHY
    assert woken.text == "well"
    assert not children()


async def test_a_list_of_servers_is_not_opened_as_one() -> None:
    with pytest.raises(ConfigError, match="names a list of servers"):
        await KIND.open("many", McpConfig(mcp_json="a.json"), Services())


async def test_cancelling_while_it_opens_leaves_no_process_behind() -> None:
    async with opened({"command": "sleep", "args": ["60"]}) as source:
        listing = asyncio.create_task(source.tools())
        await until(lambda: bool(children()))
        listing.cancel()
        await asyncio.wait([listing])

    assert listing.cancelled()
    assert not children()


async def test_a_resource_that_is_not_there_is_the_callers_mistake() -> None:
    async with over_http(workshop) as door, opened({"url": door.url}) as source:
        plan = (await source.resources())[0]
        with pytest.raises(InvalidRequest, match="shelf://nothing"):
            await plan.read("shelf://nothing", call_of())
