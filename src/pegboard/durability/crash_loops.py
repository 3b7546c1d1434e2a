"""Runs whose process died while it played them: counted in the store, so that it ends some time."""

import logging
from collections.abc import Callable
from typing import Any

from pegboard.core.ports.durability import CONTROL, Signal
from pegboard.core.ports.run_store import RunStore, StoredRun, StoredStep

_LOG = logging.getLogger("pegboard.durability")
_PATH = "~deaths"
"""Under which it is kept among the steps of a run; no node is called so."""


class CrashCounter:
    """Pauses a run whose process has died too often while it was played.

    Who plays a run and dies gives no lease back: whoever takes the run up counts that. It counts
    from the start again once the run has recorded a step more. A paused run does no harm, loses
    nothing if something else has killed the process, and goes on when somebody resumes it.

    Args:
        store: Where runs are.
        owner: Who plays them here.
        most: So many deaths in a row, without a step between them, pause a run.
        now: Unix seconds.
    """

    def __init__(self, store: RunStore, owner: str, *, most: int, now: Callable[[], float]) -> None:
        self._store = store
        self._owner = owner
        self._most = most
        self._now = now
        self._here: set[str] = set()

    def played_here(self, run_id: str) -> None:
        """This process plays it now: whatever becomes of it, this process has not died."""
        self._here.add(run_id)

    def left(self, run_id: str) -> None:
        """It is played here no more."""
        self._here.discard(run_id)

    async def taken_up(self, run: StoredRun) -> None:
        """A run was leased, and will be played: see whether who had it before has died of it.

        Raises:
            Unavailable: It could not be stored.
        """
        run_id = run.start.run_id
        if run_id in self._here or not run.was_left:
            return
        self._here.add(run_id)
        steps = {step.path: step for step in await self._store.steps(run_id)}
        kept = steps.pop(_PATH, None)
        known: dict[str, Any] = {} if kept is None else kept.value
        done = sum(step.finished_at is not None for step in steps.values())
        deaths = 1 + (known.get("deaths", 0) if known.get("done") == done else 0)
        now, value = self._now(), {"deaths": deaths, "done": done}
        step = StoredStep(path=_PATH, started_at=now, finished_at=now, value=value)
        await self._store.record(run_id, step, self._owner)
        if deaths >= self._most:
            pause = Signal(id=f"{_PATH}:{done}:{deaths}", topic=CONTROL, message="pause")
            await self._store.signal(run_id, pause)
            _LOG.error(
                "the run %s is paused: %s processes in a row have died while they played it; "
                "`pegboard runs resume` lets it go on",
                run_id,
                deaths,
            )
