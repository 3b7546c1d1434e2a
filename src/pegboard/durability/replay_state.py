"""One run in a store while it is played: what was known when the play began, and what comes."""

import asyncio
from collections.abc import Callable
from typing import Any, Self

from pegboard.core.ports.durability import CONTROL, RunStart, Signal
from pegboard.core.ports.run_store import RunStore, StoredSignal, StoredStep
from pegboard.errors import Unavailable


class ReplayState:
    """What is stored of one run, for one play of it.

    Attributes:
        start: What the run began with.
        steps: By path.
        ear: Set when there may be new signals; looked at by whoever waits.
        heard: The number of the last signal that the play was told.
    """

    def __init__(
        self,
        store: RunStore,
        start: RunStart,
        owner: str,
        *,
        ear: asyncio.Event,
        now: Callable[[], float],
    ) -> None:
        self.start = start
        self.steps: dict[str, StoredStep] = {}
        self.ear = ear
        self.heard = 0
        self._store = store
        self._owner = owner
        self._now = now
        self._signals: list[StoredSignal] = []

    async def read(self) -> Self:
        """Learn what earlier plays and others have left."""
        self.ear.clear()
        for step in await self._store.steps(self.start.run_id):
            self.steps[step.path] = step
        self._signals = list(await self._store.signals(self.start.run_id))
        return self

    async def listen(self) -> None:
        """Learn which signals came since."""
        self.ear.clear()
        after = self._signals[-1].number if self._signals else 0
        self._signals += await self._store.signals(self.start.run_id, after=after)

    @property
    def has_untold(self) -> bool:
        """Whether it knows of signals that the play was not told."""
        return bool(self._signals) and self._signals[-1].number > self.heard

    def tell(self) -> tuple[Signal, ...]:
        """The signals that the play was not told yet; from now on it was."""
        new = [item for item in self._signals if item.number > self.heard]
        if new:
            self.heard = new[-1].number
        return tuple(
            item.signal for item in new if item.signal.topic == CONTROL or not item.taken_by
        )

    async def mark(self, path: str, *, takes: str) -> None:
        """Store that a step starts.

        Raises:
            Unavailable: It could not be stored, or somebody has started it: it must not start.
        """
        known = await self._store.reserve(self.start.run_id, path, self._owner, takes=takes)
        if known is not None:
            raise Unavailable(f"'{path}' was started by another play.", nothing_done=True)

    async def record(self, path: str, started_at: float, value: Any, *, takes: str) -> None:
        """Store what came out of a step.

        Raises:
            Unavailable: It could not be stored.
        """
        step = StoredStep(path=path, started_at=started_at, finished_at=self._now(), value=value)
        await self._store.record(self.start.run_id, step, self._owner, takes=takes)
        self.steps[path] = step

    def now(self) -> float:
        """Unix seconds."""
        return self._now()
