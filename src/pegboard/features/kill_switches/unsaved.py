"""What is off in this process although it could not be stored: stored as soon as that can be."""

import asyncio
import logging
from collections.abc import Callable, Mapping

from pegboard.access.kill_switches import Place, subject_of
from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.kill_switch_store import Switch, SwitchStore
from pegboard.errors import PegboardError, Unavailable

_LOG = logging.getLogger("pegboard.switches")
_FIRST = 0.5
_LONGEST = 5.0


class UnsavedSwitches:
    """Switches on their way into a store; what is on its way holds already.

    Args:
        store: Where they go.
        turn: Held while the store is changed, so that what is turned on again is not put back.
        stored: Told of each that the store has now.
    """

    def __init__(
        self, store: SwitchStore, turn: asyncio.Lock, *, stored: Callable[[Switch], None]
    ) -> None:
        self._store = store
        self._turn = turn
        self._told = stored
        self._waiting: dict[Place, Switch] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> Mapping[Place, Switch]:
        """Those that the store does not have yet."""
        return self._waiting

    def add(self, switch: Switch) -> None:
        """This one holds from now on."""
        self._waiting[switch.kind, switch.name] = switch

    def drop(self, switch: Switch) -> bool:
        """It is turned on again; False when it was not on its way, or is off anew."""
        place = (switch.kind, switch.name)
        if self._waiting.get(place) is not switch:
            return False
        del self._waiting[place]
        return True

    async def keep(self, switch: Switch) -> bool:
        """Store it; when that cannot be now, it is tried until it can.

        Returns:
            Whether it is stored.
        """
        try:
            return await self._stored(switch)
        except PegboardError as error:
            what = subject_of(switch.kind, switch.name)
            _LOG.warning("%s is off here, and not stored yet: %s", what, error)
            return False
        finally:  # also when who asked is gone
            if self._waiting and (self._task is None or self._task.done()):
                self._task = asyncio.create_task(self._until_all(), name="keep kill switches")

    async def close(self) -> None:
        """Try once more, and say what is on again after a restart."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
        try:
            for switch in list(self._waiting.values()):
                await self._stored(switch)
        except PegboardError as error:
            left = ", ".join(subject_of(*place) for place in self._waiting)
            _LOG.error("on again after a restart, for it could not be stored: %s (%s)", left, error)

    async def _stored(self, switch: Switch) -> bool:
        place = (switch.kind, switch.name)
        async with self._turn:
            if self._waiting.get(place) is switch:
                await self._store.put(switch)
                self._told(switch)
                self.drop(switch)
        return place not in self._waiting  # else it was turned off anew, which is on its way

    async def _until_all(self) -> None:
        pause = _FIRST
        while self._waiting:
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST)
            with log_and_continue(_LOG, "what is turned off is not stored yet"):
                for switch in list(self._waiting.values()):
                    try:
                        await self._stored(switch)
                    except Unavailable as error:
                        if not error.retryable:  # closed: the board is, or will be
                            return
                        break
