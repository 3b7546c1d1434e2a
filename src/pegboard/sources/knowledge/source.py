"""The source of the tools that ask knowledge bases."""

from collections.abc import Callable, Sequence
from typing import Any

from pegboard.core.health import HEALTHY, Health
from pegboard.core.ports.knowledge_bases import KnowledgeBases
from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable
from pegboard.sources.knowledge.tools import make_tools


class KnowledgeSource:
    """The same tools for all bases: which ones a call reaches depends on its caller."""

    def __init__(self, name: str, bases: KnowledgeBases) -> None:
        self.name = name
        self._tools = tuple(make_tools(name, bases))

    async def tools(self) -> Sequence[Tool]:
        """The tools."""
        return self._tools

    async def health(self) -> Health:
        """Always healthy: the bases are in the board's own storage."""
        return HEALTHY

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def on_change(self, notify: Callable[[], None]) -> None:
        """Do nothing: the tools are always the same."""


async def open_knowledge(name: str, config: Any, services: Services) -> KnowledgeSource:  # noqa: ARG001 - it has nothing
    """Open a source.

    Raises:
        SourceUnavailable: The board has no knowledge bases.
    """
    if services.knowledge is None:
        raise SourceUnavailable("this board has no knowledge bases")
    return KnowledgeSource(name, services.knowledge)
