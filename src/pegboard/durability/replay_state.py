"""What is stored of one run during an attempt: its steps, and the signals that arrive."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Self

from pegboard.core.ports.durability import CONTROL, RunStart, Signal
from pegboard.core.ports.run_store import RunStore, StoredSignal, StoredStep
from pegboard.errors import Unavailable

_LOG = logging.getLogger("pegboard.durability")
_FIRST_DELAY = 0.2
_MAX_DELAY = 5.0
"""Seconds between two attempts to store an outcome while the store is unavailable."""
_LOOK_AGAIN = 1.0


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
        """Read the signals that arrived since; later, if the store is unavailable."""
        self.has_news.clear()
        after = self._signals[-1].number if self._signals else 0
        try:
            self._signals += await self._store.signals(self.start.run_id, after=after)
        except Unavailable as error:
            if not _will_pass(error):
                raise
            asyncio.get_running_loop().call_later(_LOOK_AGAIN, self.has_news.set)

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
        """Store the outcome of a step, which is known only here, as soon as the store is available.

        Raises:
            Unavailable: Another worker has the lease, or the store does not say when to try again.
        """
        step = StoredStep(path=path, started_at=started_at, finished_at=self._now(), value=value)
        delay = _FIRST_DELAY
        while True:
            try:
                await self._store.record(self.start.run_id, step, self._owner, takes=takes)
                break
            except Unavailable as error:
                if not _will_pass(error):
                    raise
                run_id = self.start.run_id
                _LOG.warning("durability: '%s' of %s is not stored yet: %s", path, run_id, error)
            await asyncio.sleep(delay)
            delay = min(2 * delay, _MAX_DELAY)
        self.steps[path] = step

    def now(self) -> float:
        """Unix seconds."""
        return self._now()


def _will_pass(error: Unavailable) -> bool:
    """Whether the store is expected back: it says when to try again."""
    return error.retryable and error.retry_after is not None
