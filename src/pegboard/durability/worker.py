"""Executes one stored run, attempt by attempt."""

import asyncio
from collections.abc import Callable

from pegboard.core.ports.durability import Attempt, RunStart
from pegboard.core.ports.run_store import RunStore
from pegboard.core.run import RunResult
from pegboard.durability.replay_state import ReplayState
from pegboard.durability.stored_steps import StoredSteps


class StoredRunWorker:
    """Executes a run whose lease its owner holds, until it has ended or is suspended.

    Attributes:
        run_id: The run.
        finished: Set when the worker has finished, whatever the outcome.
        error: Why the run could not be executed; None when it could.
        wake_at: When the run continues by itself; None for never.
        state: What is stored of the run, of the attempt in progress; None before the first.
    """

    def __init__(
        self,
        store: RunStore,
        start: RunStart,
        owner: str,
        *,
        attempt: Attempt,
        now: Callable[[], float],
        on_finish: "Callable[[StoredRunWorker], None]",
    ) -> None:
        self.run_id = start.run_id
        self.finished = asyncio.Event()
        self.error: Exception | None = None
        self.wake_at: float | None = None
        self._store = store
        self._start = start
        self._owner = owner
        self._attempt = attempt
        self._now = now
        self._on_finish = on_finish
        self.state: ReplayState | None = None
        self._has_news = asyncio.Event()
        self._is_lost = False
        self._task = asyncio.get_running_loop().create_task(self._work())

    @property
    def was_notified(self) -> bool:
        """Whether a signal may have come that the run has not read."""
        return self._has_news.is_set()

    def notify(self) -> None:
        """Tell the run that there may be new signals."""
        self._has_news.set()

    def lose(self) -> None:
        """Stop because another worker holds the lease."""
        self._is_lost = True
        self._task.cancel()

    async def close(self) -> None:
        """Stop, so that another worker can continue the run."""
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _work(self) -> None:
        try:
            await self._execute()
        except asyncio.CancelledError:
            if not self._is_lost:
                raise
        except Exception as error:  # noqa: BLE001 - raised to those who wait for the run, which can be executed again
            self.error = error
        finally:
            self.finished.set()
            self._on_finish(self)

    async def _execute(self) -> None:
        while True:
            state = ReplayState(
                self._store, self._start, self._owner, has_news=self._has_news, now=self._now
            )
            await state.read()
            self.state = state
            result = await self._attempt(StoredSteps(state))
            self.wake_at = None if result.state.is_final else _wake_at(result)
            is_stored = await self._store.store_result(
                result, self._owner, last_signal=state.last_signal, wake_at=self.wake_at
            )
            if is_stored:
                return


def _wake_at(result: RunResult) -> float | None:
    return min((item.until for item in result.pending if item.until is not None), default=None)
