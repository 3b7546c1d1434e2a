"""Has one run of a store played until it rests."""

import asyncio
from collections.abc import Callable

from pegboard.core.ports.durability import Attempt, RunStart
from pegboard.core.ports.run_store import RunStore
from pegboard.core.run import RunResult
from pegboard.durability.replay_state import ReplayState
from pegboard.durability.stored_steps import StoredSteps


class StoredPlayer:
    """Has one run played whose lease its owner has.

    Attributes:
        run_id: Which one.
        rested: Set when it is over, whatever came out.
        error: Why it could not be played to a rest; None when it could.
        wake_at: When the run goes on by itself; None for never.
    """

    def __init__(
        self,
        store: RunStore,
        start: RunStart,
        owner: str,
        *,
        play: Attempt,
        now: Callable[[], float],
        left: "Callable[[StoredPlayer], None]",
    ) -> None:
        self.run_id = start.run_id
        self.rested = asyncio.Event()
        self.error: Exception | None = None
        self.wake_at: float | None = None
        self._store = store
        self._start = start
        self._owner = owner
        self._play = play
        self._now = now
        self._left = left
        self._ear = asyncio.Event()
        self._is_lost = False
        self._task = asyncio.get_running_loop().create_task(self._played())

    @property
    def was_called(self) -> bool:
        """Whether a signal came that it did not look for."""
        return self._ear.is_set()

    def hear(self) -> None:
        """There may be new signals."""
        self._ear.set()

    def lose(self) -> None:
        """Somebody else has the lease: stop."""
        self._is_lost = True
        self._task.cancel()

    async def close(self) -> None:
        """Stop, and let others go on."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _played(self) -> None:
        try:
            await self._until_rested()
        except asyncio.CancelledError:
            if not self._is_lost:
                raise
        except Exception as error:  # noqa: BLE001 - whoever waits for the run is told; what is stored can be played again
            self.error = error
        finally:
            self.rested.set()
            self._left(self)

    async def _until_rested(self) -> None:
        while True:
            ledger = ReplayState(
                self._store, self._start, self._owner, ear=self._ear, now=self._now
            )
            await ledger.read()
            result = await self._play(StoredSteps(ledger))
            self.wake_at = None if result.state.is_final else _wake_at(result)
            rested = await self._store.store_result(
                result, self._owner, last_signal=ledger.heard, wake_at=self.wake_at
            )
            if rested:
                return


def _wake_at(result: RunResult) -> float | None:
    return min((item.until for item in result.pending if item.until is not None), default=None)
