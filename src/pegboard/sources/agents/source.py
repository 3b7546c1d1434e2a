"""A source of agents that are tools."""

from collections.abc import Callable, Sequence
from typing import Any

from pegboard.core.health import HEALTHY, Health
from pegboard.core.ports.services import Services
from pegboard.core.ports.source_services.subagents import SubagentRunner
from pegboard.core.tool import Tool
from pegboard.errors import ConfigError, SourceUnavailable
from pegboard.sources.agents.config import SubagentsConfig
from pegboard.sources.agents.tools import SubagentTool, make_spec


class AgentsSource:
    """Agents of the board file."""

    def __init__(self, name: str, config: SubagentsConfig, runner: SubagentRunner) -> None:
        self.name = name
        self._config = config
        self._runner = runner

    async def tools(self) -> Sequence[Tool]:
        """One tool for each agent; one that misses a tool says which."""
        return [
            SubagentTool(make_spec(self.name, agent), agent, self._runner)
            for agent in self._config.agents
        ]

    async def health(self) -> Health:
        """Always healthy: the agents run in this process."""
        return HEALTHY

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def on_change(self, notify: Callable[[], None]) -> None:
        """Do nothing: the agents change only when the board is reloaded."""


async def open_agents(name: str, config: Any, services: Services) -> AgentsSource:
    """Open a source.

    Raises:
        ConfigError: Two agents have the same name.
        SourceUnavailable: The board runs no agents.
    """
    names = [agent.name for agent in config.agents]
    if len(set(names)) < len(names):
        raise ConfigError("agents: each agent has a name of its own")
    if services.agents is None:
        raise SourceUnavailable("this board runs no agents")
    return AgentsSource(name, config, services.agents)
