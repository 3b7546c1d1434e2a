"""What is stored of one run during an attempt: its steps, and the signals that arrive."""

import asyncio
from collections.abc import Callable
from typing import Any, Self

from pegboard.core.ports.durability import CONTROL, RunStart, Signal
from pegboard.core.ports.run_store import RunStore, StoredSignal, StoredStep
from pegboard.errors import Unavailable


class ReplayState:
    """What is stored of one run, for one attempt at it.

    Attributes:
        start: What the run began with.
        steps: By path.
        has_news: Set when there may be new signals.
        last_signal: The number of the last signal that the attempt has received.
    """

    def __init__(
        self,
        store: RunStore,
        start: RunStart,
        owner: str,
        *,
        has_news: asyncio.Event,
        now: Callable[[], float],
    ) -> None:
        self.start = start
        self.steps: dict[str, StoredStep] = {}
        self.has_news = has_news
        self.last_signal = 0
        self._store = store
        self._owner = owner
        self._now = now
        self._signals: list[StoredSignal] = []

    async def read(self) -> Self:
        """Read the recorded steps and the signals."""
        self.has_news.clear()
        for step in await self._store.steps(self.start.run_id):
            self.steps[step.path] = step
        self._signals = list(await self._store.signals(self.start.run_id))
        return self

    async def refresh(self) -> None:
        """Read the signals that arrived since."""
        self.has_news.clear()
        after = self._signals[-1].number if self._signals else 0
        self._signals += await self._store.signals(self.start.run_id, after=after)

    @property
    def has_unread(self) -> bool:
        """Whether there are signals that the attempt has not received."""
        return bool(self._signals) and self._signals[-1].number > self.last_signal

    def receive(self) -> tuple[Signal, ...]:
        """The signals that the attempt has not received; they count as received from now on."""
        new = [item for item in self._signals if item.number > self.last_signal]
        if new:
            self.last_signal = new[-1].number
        return tuple(
            item.signal for item in new if item.signal.topic == CONTROL or not item.taken_by
        )

    async def mark(self, path: str, *, takes: str) -> None:
        """Store that a step starts.

        Raises:
            Unavailable: It could not be stored, or another attempt has started the step.
        """
        known = await self._store.reserve(self.start.run_id, path, self._owner, takes=takes)
        if known is not None:
            raise Unavailable(f"'{path}' was started by another attempt.", nothing_done=True)

    async def record(self, path: str, started_at: float, value: Any, *, takes: str) -> None:
        """Store the outcome of a step.

        Raises:
            Unavailable: It could not be stored.
        """
        step = StoredStep(path=path, started_at=started_at, finished_at=self._now(), value=value)
        await self._store.record(self.start.run_id, step, self._owner, takes=takes)
        self.steps[path] = step

    def now(self) -> float:
        """Unix seconds."""
        return self._now()
