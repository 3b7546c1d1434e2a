"""Checks upstream definitions when they are listed, and follows approvals of other servers."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.audit_store import Prove, skip_proof
from pegboard.errors import PegboardError
from pegboard.features.pins import PinCheck, Pins
from pegboard.features.pins.pin_check import HeldStates
from pegboard.registry import ToolRegistry
from pegboard.registry.pin_policy import NewPolicy
from pegboard.runtime.board_file.pinning import PinningEntry
from pegboard.runtime.sources.pinned_connectors import PinnedConnectors
from pegboard.runtime.sources.publisher import ToolPublisher

if TYPE_CHECKING:
    from pegboard.storage import Storage

_LOG = logging.getLogger("pegboard.pins")
_LOOK_SECONDS = 2.0


class PinParts:
    """The pin service, its check of listings, and the publisher of accepted tools.

    Args:
        registry: The board's tools.
        storage: The board's storage.
        pinning: Returns the `pinning` section of the board file in force.
        prove: Writes each decision into the audit trail first, where that is required.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        storage: "Storage",
        *,
        pinning: Callable[[], PinningEntry],
        prove: Prove = skip_proof,
    ) -> None:

        def new(source: str) -> NewPolicy:
            return pinning().new.of(source)

        self._gate = PinCheck(
            registry,
            storage.pins,
            policy=lambda source: pinning().of(source),
            new=new,
            prove=prove,
        )
        self.publisher = ToolPublisher(registry, self._gate)
        self.service = Pins(registry, storage.pins, decided=self._republish, prove=prove)
        self._connectors: PinnedConnectors | None = None

    def follow(
        self,
        stack: AsyncExitStack,
        *,
        connectors: PinnedConnectors | None = None,
        every: float = _LOOK_SECONDS,
        is_shared: bool = True,
    ) -> None:
        """Follow decisions, also of other servers if there are any, until the stack is closed.

        Args:
            stack: Ends it.
            connectors: Holds the definitions of connectors.
            every: Seconds between two looks at what other servers decided.
            is_shared: Whether there may be other servers.
        """
        self._connectors = connectors
        if not is_shared:
            return
        looking = asyncio.create_task(self._look(every), name="follow the pins")

        async def stop() -> None:
            looking.cancel()
            await asyncio.wait([looking])

        stack.push_async_callback(stop)

    async def _republish(self, source: str) -> None:
        await self.publisher.republish(source)
        if self._connectors is not None:
            self._connectors.relist(source)

    async def _look(self, every: float) -> None:
        while True:
            await asyncio.sleep(every)
            held = dict(self.publisher.standing)
            if self._connectors is not None:
                held |= self._connectors.standing
            for source, standing in held.items():
                with log_and_continue(
                    _LOG, f"pins: the decisions of other servers about '{source}' failed"
                ):
                    await self._follow_once(source, standing)

    async def _follow_once(self, source: str, standing: HeldStates) -> None:
        try:
            if await self._gate.has_moved(source, standing):
                await self._republish(source)
        except PegboardError as error:
            _LOG.warning("pins: the decisions of other servers could not be read: %s", error)
