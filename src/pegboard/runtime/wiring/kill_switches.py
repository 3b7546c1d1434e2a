"""Opens the kill switches of a board, and follows those of other servers."""

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
from pegboard.runtime.wiring.events.board_events import report_kill_switches

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
    """Open the service with the stored switches; follow other servers where a database is shared.

    Raises:
        Unavailable: The storage cannot be read. A board does not open without its kill switches.
    """
    report_kill_switches(registry.environment)
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
    """Follow the switches of other servers; while the storage fails, the last known ones hold."""
    is_away = False
    while True:
        await asyncio.sleep(every)
        with log_and_continue(_LOG, "kill switches: the shared state could not be read"):
            try:
                await service.load()
            except PegboardError as error:
                if not is_away:
                    _LOG.warning("kill switches: the shared state could not be read: %s", error)
                is_away = True
            else:
                is_away = False
