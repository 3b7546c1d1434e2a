"""Puts the tools of connectors on the board, and stores their definitions."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.accounts.resource_store import Definitions, StoredResource
from pegboard.core.resources_and_prompts import Prompt, Resource, board_uri
from pegboard.core.tool import Tool
from pegboard.errors import PegboardError
from pegboard.execution.limits.breakers import Breaker
from pegboard.registry import ToolRegistry
from pegboard.runtime.sources.placeholder import ToolPlaceholder, from_definition, to_definition
from pegboard.runtime.sources.state import SourceState

if TYPE_CHECKING:
    from pegboard.core.ports.accounts.resource_store import ResourceStore

_LOG = logging.getLogger("pegboard.resources")


class ConnectorPublisher:
    """Puts the tools of connectors on the board, and stores what they list.

    Args:
        registry: The board's tools.
        store: Stores definitions.
        find: Returns the connector of a source; None when it is gone.
        known: The stored definitions by the id of the connector.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        store: "ResourceStore",
        find: Callable[[SourceState], StoredResource | None],
        *,
        known: Mapping[str, Definitions],
    ) -> None:
        self._registry = registry
        self._store = store
        self._find = find
        self._known = known
        self._names: dict[str, tuple[str, ...]] = {}

    def list_names(self, name: str) -> tuple[str, ...]:
        """The names of the tools of a connector that are on the board."""
        return self._names.get(name, ())

    def remove(self, name: str) -> None:
        """Take everything of a connector off the board."""
        self._replace(name, ())
        del self._names[name]
        self._registry.offers.replace(name, resources=(), prompts=())

    def restore(
        self,
        name: str,
        definitions: Sequence[Mapping[str, Any]],
        find: Callable[[str], Any],
    ) -> None:
        """Put the last known tools of a connector on the board, without opening it."""
        tools: list[Tool] = []
        for definition in definitions:
            with log_and_continue(_LOG, f"connector '{name}': a definition cannot be read"):
                tools.append(ToolPlaceholder(from_definition(definition), find))
        self._replace(name, tools)

    async def publish_tools(self, state: SourceState, tools: Sequence[Tool]) -> str:
        """Replace the tools of a connector; returns why some are missing."""
        row = self._find(state)
        if row is None:
            return ""
        faults = self._replace(state.name, tools)
        names = self._names[state.name]
        state.tools = tuple(tool for tool in tools if tool.spec.name in names)
        kit = self._registry.environment
        if not kit.breakers.get(state.name):
            kit.breakers.add(state.name, Breaker(state.name, monotonic=kit.monotonic))
        definitions = tuple(to_definition(tool.spec) for tool in state.tools)
        if definitions != self._known.get(row.id, ()):
            with log_and_continue(_LOG, f"connector '{state.name}': storing its tools failed"):
                await self._store.put_definitions(row.id, definitions)
        return " ".join(faults)

    def publish_offers(
        self, state: SourceState, resources: Sequence[Resource], prompts: Sequence[Prompt]
    ) -> None:
        """Replace the resources and prompts of a connector."""
        if self._find(state) is not None:
            self._registry.offers.replace(state.name, resources=resources, prompts=prompts)

    def notify_updated(self, state: SourceState, uri: str) -> None:
        """Notify the subscribers of a resource that it has changed."""
        self._registry.offers.notify_update(board_uri(state.name, uri))

    def _replace(self, name: str, tools: Sequence[Tool]) -> list[str]:
        """Replace the tools of a connector; returns why some are missing."""
        for known in self._names.get(name, ()):
            self._registry.remove(known)
        taken: dict[str, None] = {}
        faults: list[str] = []
        for tool in tools:
            try:
                taken[self._registry.add(tool).spec.name] = None
            except PegboardError as error:
                faults.append(error.message)
        self._names[name] = tuple(taken)
        return faults
