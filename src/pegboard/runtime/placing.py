"""Putting on the board what its sources list."""

from collections.abc import Sequence

from pegboard.core.offers import Prompt, Resource, board_uri
from pegboard.core.tool import Tool
from pegboard.errors import PegboardError
from pegboard.execution.breakers import Breaker
from pegboard.registry import ToolRegistry
from pegboard.runtime.source_state import SourceState


class Placing:
    """Keeps the registry as the sources say."""

    def __init__(self, registry: ToolRegistry) -> None:
        self._registry = registry

    def tools(self, state: SourceState, tools: Sequence[Tool]) -> None:
        """These are all its tools now; one that cannot be placed is told, the others are."""
        registry, kit = self._registry, self._registry.kit
        for tool in tuple(item for item in registry if item.spec.source == state.name):
            registry.remove(tool.spec.name)
        remote = state.opener is not None and state.opener.kind.remote
        if remote and not kit.breakers.get(state.name):
            kit.breakers.add(state.name, Breaker(state.name, monotonic=kit.monotonic))
        taken: list[Tool] = []
        faults: list[str] = []
        for tool in tools:
            try:
                taken.append(registry.add(tool))
            except PegboardError as error:
                faults.append(error.message)
        state.tools = tuple(taken)
        if faults:
            state.status, state.reason = "degraded", " ".join(faults)

    def offers(
        self, state: SourceState, resources: Sequence[Resource], prompts: Sequence[Prompt]
    ) -> None:
        """These are all its resources and prompts now."""
        self._registry.offers.replace(state.name, resources=resources, prompts=prompts)

    def updated(self, state: SourceState, uri: str) -> None:
        """Whoever follows the resource is told."""
        self._registry.offers.updated(board_uri(state.name, uri))
