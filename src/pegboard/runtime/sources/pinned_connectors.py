"""Holds the tools of connectors to their approved definitions before they are published."""

from collections.abc import Mapping, Sequence

from pegboard.core.resources_and_prompts import Prompt, Resource
from pegboard.core.tool import Tool
from pegboard.errors import PegboardError, SourceUnavailable
from pegboard.features.pins import PinCheck
from pegboard.features.pins.pin_check import HeldStates
from pegboard.runtime.sources.refresher import SourcePublisher
from pegboard.runtime.sources.state import SourceState


class PinnedConnectors:
    """A publisher that holds changed definitions of connectors until their owner approves them.

    Args:
        gate: Compares what a source lists with the approved definitions.
        publisher: Puts the tools on the board.
    """

    def __init__(self, gate: PinCheck, publisher: SourcePublisher) -> None:
        self._gate = gate
        self._publisher = publisher
        self._listed: dict[str, tuple[SourceState, HeldStates]] = {}

    @property
    def standing(self) -> Mapping[str, HeldStates]:
        """The definitions that are held back, by source."""
        return {name: held for name, (_, held) in self._listed.items() if held}

    def relist(self, source: str) -> None:
        """List a source again, if it is open: a held definition was decided."""
        if source in self._listed:
            self._listed[source][0].relist.set()

    async def publish_tools(self, state: SourceState, tools: Sequence[Tool]) -> str:
        """Replace the tools of a connector by those that are approved.

        Returns:
            Why some are missing; empty when none is.

        Raises:
            SourceUnavailable: The approved definitions cannot be read; the board is unchanged.
        """
        try:
            checked = await self._gate.check(state.name, tools)
        except PegboardError as error:
            raise SourceUnavailable(
                f"its definitions could not be compared with the approved ones: {error.message}"
            ) from error
        state.held = checked.waiting
        self._listed[state.name] = (state, checked.standing)
        faults = await self._publisher.publish_tools(state, checked.tools)
        return " ".join(filter(None, (checked.fault, faults)))

    def publish_offers(
        self, state: SourceState, resources: Sequence[Resource], prompts: Sequence[Prompt]
    ) -> None:
        """Replace the resources and prompts of a connector."""
        self._publisher.publish_offers(state, resources, prompts)

    def notify_updated(self, state: SourceState, uri: str) -> None:
        """Notify the subscribers of a resource that it has changed."""
        self._publisher.notify_updated(state, uri)
