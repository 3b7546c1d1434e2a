"""Puts the tools of the sources on the board."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence

from pegboard.core.resources_and_prompts import Prompt, Resource, board_uri
from pegboard.core.tool import Tool
from pegboard.errors import PegboardError, SourceUnavailable
from pegboard.execution.limits.breakers import Breaker
from pegboard.features.pins import PinCheck, PinCheckResult
from pegboard.features.pins.pin_check import HeldStates
from pegboard.registry import ToolRegistry
from pegboard.runtime.sources.state import SourceState


class ToolPublisher:
    """Keeps the registry in step with the approved definitions of the sources."""

    def __init__(self, registry: ToolRegistry, gate: PinCheck) -> None:
        self._registry = registry
        self._gate = gate
        self._listed: dict[str, tuple[SourceState, tuple[Tool, ...]]] = {}
        self._standing: dict[str, HeldStates] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @property
    def standing(self) -> Mapping[str, HeldStates]:
        """The definitions that are held back, by source."""
        return {name: standing for name, standing in self._standing.items() if standing}

    async def publish_tools(self, state: SourceState, tools: Sequence[Tool]) -> str:
        """Replace the tools of a source on the board.

        Returns:
            Why some are not on the board; empty when all are.

        Raises:
            SourceUnavailable: The approved definitions cannot be read; the board is unchanged.
        """
        self._listed[state.name] = (state, tuple(tools))
        return await self._publish(state.name)

    async def republish(self, source: str) -> None:
        """Check again the last listing of a source, if there is one."""
        if source not in self._listed:
            return
        state, _ = self._listed[source]
        try:
            reason = await self._publish(source)
        except SourceUnavailable as error:
            reason = error.message
        if reason:
            state.status, state.reason = "degraded", reason
            state.relist.set()  # whoever keeps the source tries until it is well

    def forget(self, source: str) -> None:
        """Forget a source that was removed."""
        self._listed.pop(source, None)
        self._standing.pop(source, None)

    def publish_offers(
        self, state: SourceState, resources: Sequence[Resource], prompts: Sequence[Prompt]
    ) -> None:
        """Replace the resources and prompts of a source."""
        self._registry.offers.replace(state.name, resources=resources, prompts=prompts)

    def notify_updated(self, state: SourceState, uri: str) -> None:
        """Notify the subscribers of a resource that it has changed."""
        self._registry.offers.notify_update(board_uri(state.name, uri))

    async def _publish(self, source: str) -> str:
        # one after the other: the newest list is the one that is judged last
        async with self._turns[source]:
            known = self._listed.get(source)
            if known is None:
                return ""
            state, tools = known
            try:
                judged = await self._gate.check(source, tools)
            except PegboardError as error:
                raise SourceUnavailable(
                    f"its definitions could not be compared with the approved ones: {error.message}"
                ) from error
            if self._listed.get(source) is None:  # it went meanwhile
                return ""
            return self._put(state, judged)

    def _put(self, state: SourceState, judged: PinCheckResult) -> str:
        """Replace the tools of a source; it does not await, so that no call sees half of it."""
        registry, kit = self._registry, self._registry.environment
        for tool in tuple(item for item in registry if item.spec.source == state.name):
            registry.remove(tool.spec.name)
        kit.trust.set_source(state.name, trusted=state.opener and state.opener.trusted)
        remote = state.opener is not None and state.opener.kind.remote
        if remote and not kit.breakers.get(state.name):
            kit.breakers.add(state.name, Breaker(state.name, monotonic=kit.monotonic))
        taken: list[Tool] = []
        faults = [judged.fault] if judged.fault else []
        for tool in judged.tools:
            try:
                taken.append(registry.add(tool))
            except PegboardError as error:
                faults.append(error.message)
        state.tools, state.held = tuple(taken), judged.waiting
        self._standing[state.name] = judged.standing
        return " ".join(faults)
