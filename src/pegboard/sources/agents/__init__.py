"""The source kind for agents that are tools."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.agents.config import SubagentsConfig
from pegboard.sources.agents.source import open_agents

KIND = SourceKind(kind="agents", title="Agents", config=SubagentsConfig, open=open_agents)

__all__ = ["KIND"]
