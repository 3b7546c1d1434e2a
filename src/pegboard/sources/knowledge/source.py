"""The source of the tools that ask knowledge bases."""

from collections.abc import Callable, Sequence
from typing import Any

from pegboard.core.health import HEALTHY, Health
from pegboard.core.ports.knowledge.bases import KnowledgeBases
from pegboard.core.ports.services import Services
from pegboard.core.resources_and_prompts import Prompt, Resource
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable
from pegboard.sources.knowledge.config import KnowledgeConfig
from pegboard.sources.knowledge.resources import DocumentResource
from pegboard.sources.knowledge.tools import make_tools


class KnowledgeSource:
    """The same tools for all bases: which ones a call reaches depends on its caller."""

    def __init__(self, name: str, bases: KnowledgeBases, config: KnowledgeConfig) -> None:
        self.name = name
        self._bases = bases
        self._config = config

    async def tools(self) -> Sequence[Tool]:
        """The tools; one that asks a single base, where the configuration names one."""
        tools = {tool.spec.action: tool for tool in make_tools(self.name, self._bases)}
        if self._config.base:
            return [tools[self._config.tool].bind(self._config.base)]
        return [tool.in_source() for tool in tools.values()]

    async def resources(self) -> Sequence[Resource]:
        """The documents, by base and id."""
        return [] if self._config.base else [DocumentResource(self.name, self._bases)]

    async def prompts(self) -> Sequence[Prompt]:
        """None."""
        return ()

    def on_update(self, notify: Callable[[str], None]) -> None:
        """Do nothing: those who follow documents follow their base."""

    async def health(self) -> Health:
        """Always healthy: the bases are in the board's own storage."""
        return HEALTHY

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def on_change(self, notify: Callable[[], None]) -> None:
        """Do nothing: the tools are always the same."""


async def open_knowledge(name: str, config: Any, services: Services) -> KnowledgeSource:
    """Open a source.

    Raises:
        SourceUnavailable: The board has no knowledge bases.
    """
    if services.knowledge is None:
        raise SourceUnavailable("this board has no knowledge bases")
    return KnowledgeSource(name, services.knowledge, config)
