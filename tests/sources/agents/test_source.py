"""A source of agents that are tools."""

import pytest
from tests.sources.agents.test_tools import Runner

from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.errors import ConfigError, SourceUnavailable
from pegboard.sources.agents import KIND
from pegboard.sources.agents.config import NamedSubagent, SubagentsConfig
from pegboard.testing import SourceContract

CONFIG = SubagentsConfig(
    agents=(
        NamedSubagent(name="researcher", description="Finds out.", tools=("search",)),
        NamedSubagent(name="writer", tools=("no_such_tool",)),
    )
)


class TestAgentsSource(SourceContract):
    kind = KIND
    least_tools = 2

    async def open_source(self) -> Source:
        return await KIND.open("staff", CONFIG, Services(agents=Runner()))


async def test_each_agent_is_a_tool_and_says_what_it_misses() -> None:
    source = await KIND.open("staff", CONFIG, Services(agents=Runner()))
    researcher, writer = await source.tools()

    assert researcher.spec.name == "staff__researcher"
    assert list(researcher.spec.input_schema["properties"]) == ["task"]
    assert "no_such_tool" in writer.spec.unavailable


async def test_two_agents_of_one_name_are_refused() -> None:
    twice = SubagentsConfig(agents=(NamedSubagent(name="a"), NamedSubagent(name="a")))
    with pytest.raises(ConfigError, match="name of its own"):
        await KIND.open("staff", twice, Services(agents=Runner()))


async def test_without_a_board_there_are_no_agents() -> None:
    with pytest.raises(SourceUnavailable, match="runs no agents"):
        await KIND.open("staff", CONFIG, Services())
