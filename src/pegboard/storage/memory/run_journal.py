"""What happens in runs, in memory: steps, signals, events, and how a run is suspended."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.clock import Clock
from pegboard.core.ports.durability import Signal
from pegboard.core.ports.run_store import RunEvent, StoredPlan, StoredRun, StoredSignal, StoredStep
from pegboard.core.run import RunResult
from pegboard.storage.json_text import copy_json
from pegboard.storage.port import lease_lost_error


class StoredJournal(Struct, kw_only=True):
    """A run, and what happened in it."""

    number: int
    run: StoredRun
    steps: dict[str, StoredStep] = {}
    signals: dict[str, StoredSignal] = {}
    events: list[RunEvent] = []


class MemoryRunJournal:
    """The part of a `RunStore` that is written while a run is executed."""

    def __init__(self, gate: ClosableLock, *, clock: Clock, bound: int = 10_000) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`.

        Args:
            gate: Closed together with the other stores.
            clock: What time it is.
            bound: Most runs, and most plans; beyond it ended runs and plans without runs are
                deleted, the oldest first.
        """
        self._gate = gate
        self._clock = clock
        self._bound = bound
        self._plans: dict[str, StoredPlan] = {}
        self._runs: dict[str, StoredJournal] = {}
        self._number = 0
        self._signals = 0

    async def store_result(
        self,
        result: RunResult,
        owner: str,
        *,
        last_signal: int = 0,
        wake_at: float | None = None,
    ) -> bool:
        new = copy_json(result)
        with self._gate:
            entry = self._check_lease(result.run_id, owner)
            is_final = result.state.is_final
            pending = any(signal.number > last_signal for signal in entry.signals.values())
            if pending and not is_final:
                entry.run = structs.replace(entry.run, result=new)
                return False
            entry.run = structs.replace(
                entry.run,
                result=new,
                state=result.state,
                lease_owner="",
                lease_until=None,
                wake_at=None if is_final else wake_at,
                finished_at=self._clock.time() if is_final else None,
            )
            return True

    async def reserve(
        self, run_id: str, path: str, owner: str, *, takes: str = ""
    ) -> StoredStep | None:
        with self._gate:
            entry = self._check_lease(run_id, owner)
            known = entry.steps.get(path)
            if known is not None:
                return copy_json(known)
            entry.steps[path] = StoredStep(path=path, started_at=self._clock.time())
            _take(entry, takes, path)
            return None

    async def record(
        self,
        run_id: str,
        step: StoredStep,
        owner: str,
        *,
        takes: str = "",
    ) -> None:
        new = copy_json(step)
        with self._gate:
            entry = self._check_lease(run_id, owner)
            known = entry.steps.get(step.path)
            started_at = step.started_at if known is None else known.started_at
            entry.steps[step.path] = structs.replace(new, started_at=started_at)
            _take(entry, takes, step.path)

    async def steps(self, run_id: str) -> Sequence[StoredStep]:
        with self._gate:
            entry = self._runs.get(run_id)
            steps: dict[str, StoredStep] = {} if entry is None else entry.steps
            return [copy_json(steps[path]) for path in sorted(steps)]

    async def signal(self, run_id: str, signal: Signal) -> bool | None:
        new = copy_json(signal)
        with self._gate:
            entry = self._runs.get(run_id)
            if entry is None:
                return None
            if signal.id in entry.signals:
                return False
            self._signals += 1
            entry.signals[signal.id] = StoredSignal(number=self._signals, signal=new)
            if entry.run.finished_at is None:
                entry.run = structs.replace(entry.run, wake_at=self._clock.time())
            return True

    async def signals(self, run_id: str, *, after: int = 0) -> Sequence[StoredSignal]:
        with self._gate:
            entry = self._runs.get(run_id)
            known: Any = () if entry is None else entry.signals.values()
            return [copy_json(signal) for signal in known if signal.number > after]

    async def emit(self, run_id: str, events: Sequence[RunEvent]) -> int:
        with self._gate:
            entry = self._runs.get(run_id)
            return 0 if entry is None else _emit(entry, events)

    async def events(self, run_id: str, *, after: int = 0, limit: int = 500) -> Sequence[RunEvent]:
        with self._gate:
            entry = self._runs.get(run_id)
            events: list[RunEvent] = [] if entry is None else entry.events
            return [copy_json(event) for event in events[max(0, after) :][:limit]]

    def _check_lease(self, run_id: str, owner: str) -> StoredJournal:
        entry = self._runs.get(run_id)
        if entry is None or entry.run.lease_owner != owner:
            raise lease_lost_error(run_id)
        return entry


def _emit(entry: StoredJournal, events: Sequence[RunEvent]) -> int:
    for event in events:
        number = len(entry.events) + 1
        entry.events.append(structs.replace(copy_json(event), sequence=number))
    return len(entry.events)


def _take(entry: StoredJournal, signal_id: str, path: str) -> None:
    signal = entry.signals.get(signal_id)
    if signal is not None:
        entry.signals[signal_id] = structs.replace(signal, taken_by=path)
