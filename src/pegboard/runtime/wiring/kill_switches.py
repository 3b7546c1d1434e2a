"""Kill switches: kept in the board's storage, thrown here or on another server."""

import asyncio
import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.audit_store import Prove
from pegboard.errors import PegboardError
from pegboard.features.kill_switches import KillSwitches
from pegboard.registry import ToolRegistry
from pegboard.runtime.settings import Settings
from pegboard.runtime.wiring.board_events import report_kill_switches

if TYPE_CHECKING:
    from pegboard.storage import Storage

_LOG = logging.getLogger("pegboard.switches")
_LOOK_SECONDS = 1.0


async def open_kill_switches(
    registry: ToolRegistry,
    storage: "Storage",
    settings: Settings,
    stack: AsyncExitStack,
    *,
    prove: Prove,
) -> KillSwitches:
    """The service, with what was turned off before; it follows other servers, where there are any.

    Raises:
        Unavailable: The storage cannot be read: a board that does not know what is off does not
            open.
    """
    report_kill_switches(registry.kit)
    service = KillSwitches(registry, storage.switches, prove=prove, apply_unsaved=True)
    stack.push_async_callback(service.unsaved.close)
    await service.load()
    if settings.database is not None:
        following = asyncio.create_task(follow(service), name="follow the kill switches")

        async def stop() -> None:
            following.cancel()
            await asyncio.wait([following])

        stack.push_async_callback(stop)
    return service


async def follow(service: KillSwitches, *, every: float = _LOOK_SECONDS) -> None:
    """See what other servers turn off and on; while the storage is away, what was off stays off."""
    is_away = False
    while True:
        await asyncio.sleep(every)
        with log_and_continue(_LOG, "what other servers turn off is not seen"):
            try:
                await service.load()
            except PegboardError as error:
                if not is_away:
                    _LOG.warning("what other servers turn off is not seen: %s", error)
                is_away = True
            else:
                is_away = False
