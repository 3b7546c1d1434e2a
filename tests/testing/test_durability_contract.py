"""The contract of durabilities finds what breaks each promise."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pegboard.core.ports.durability import RunStart, Signal, StepEvents, StepRef
from pegboard.core.run import RunResult
from pegboard.durability import MemoryDurability, MemoryJournal
from pegboard.durability.memory.journal import JournalEntry, MemorySteps
from pegboard.errors import PegboardError
from pegboard.testing import DurabilityContract
from pegboard.testing.durability_scenarios import Odd
from pegboard.testing.durability_step_contract import StepPromises


class Broken(MemoryDurability):
    """Plays with steps of another kind."""

    steps: type[MemorySteps] = MemorySteps

    def attach(self, attempt: Any) -> None:
        async def with_others(steps: Any) -> RunResult:
            steps.__class__ = self.steps
            return await attempt(steps)

        super().attach(with_others)


class ForgetsMarks(MemorySteps):
    async def do(self, slot: StepRef, work: Any, *, marked: bool = False, takes: str = "") -> Any:
        return await super().do(slot, work, takes=takes)


class ForgetsOutcomes(MemorySteps):
    async def do(self, slot: StepRef, work: Any, *, marked: bool = False, takes: str = "") -> Any:
        return await work()


class MarksEverything(MemorySteps):
    async def do(self, slot: StepRef, work: Any, *, marked: bool = False, takes: str = "") -> Any:
        return await super().do(slot, work, marked=True, takes=takes)


class ForgetsWhatIsTaken(MemorySteps):
    async def do(self, slot: StepRef, work: Any, *, marked: bool = False, takes: str = "") -> Any:
        return await super().do(slot, work, marked=marked)


class ChangesErrors(MemorySteps):
    async def do(self, slot: StepRef, work: Callable[[], Awaitable[Any]], **more: Any) -> Any:
        try:
            return await super().do(slot, work, **more)
        except Exception as error:
            raise Odd("something failed") from error


class MixesInnerSteps(MemorySteps):
    def inside(self, slot: StepRef) -> MemorySteps:
        return MemorySteps(
            self._journal, self._entry, self._now, None, prefix="/", start=self.start
        )


class IsDeaf(MemorySteps):
    async def next(self, tasks: Any) -> StepEvents:
        happened = await super().next(tasks)
        return StepEvents(done=happened.done)


class TellsAgain(MemorySteps):
    async def next(self, tasks: Any) -> StepEvents:
        happened = await super().next(tasks)
        return StepEvents(done=happened.done, signals=tuple(self._entry.signals.values()))


class StartsAgain(MemoryDurability):
    async def start(self, start: RunStart) -> bool:
        self.journal.runs.pop(start.run_id, None)
        return await super().start(start)


class DropsWhatFailed(MemoryDurability):
    def attach(self, attempt: Any) -> None:
        async def once(steps: Any) -> RunResult:
            try:
                return await attempt(steps)
            except Odd:
                self.journal.runs.clear()
                raise

        super().attach(once)


class PlaysTwice(MemoryDurability):
    async def recover(self) -> tuple[str, ...]:
        for kept in self.journal.runs.values():
            assert self._attempt is not None
            steps = MemorySteps(self.journal, kept, self._now, None)
            self.more = asyncio.ensure_future(self._attempt(steps))
        return ()


class KeepsNothing(MemoryDurability):
    async def close(self) -> None:
        await super().close()
        self.journal.runs.clear()


class FindsWhatIsNotThere(MemoryDurability):
    async def signal(self, run_id: str, signal: Signal) -> bool:
        return run_id in self.journal.runs and await super().signal(run_id, signal)


class ForgetsWhatARunBeganWith(MemoryDurability):
    async def get_start(self, run_id: str) -> RunStart | None:
        return None


class LosesSignals(MemoryDurability):
    async def signal(self, run_id: str, signal: Signal) -> bool:
        kept: JournalEntry = self.journal.run(run_id)
        return kept.signals.setdefault(signal.id, signal) is signal


def of(kind: type[MemorySteps]) -> type[MemoryDurability]:
    return type(kind.__name__, (Broken,), {"steps": kind})


BROKEN = {
    "test_a_run_is_executed_and_its_result_is_stored": KeepsNothing,
    "test_a_run_is_started_once": StartsAgain,
    "test_what_there_is_not_is_not_found": FindsWhatIsNotThere,
    "test_a_recorded_step_is_found_and_not_done_again": of(ForgetsOutcomes),
    "test_an_interrupted_step_is_reported_when_its_start_was_marked": of(ForgetsMarks),
    "test_a_marked_step_that_ended_is_recorded": of(ForgetsOutcomes),
    "test_work_that_raises_records_nothing": of(ChangesErrors),
    "test_steps_within_steps_are_apart": of(MixesInnerSteps),
    "test_next_reports_finished_tasks_and_new_signals": of(TellsAgain),
    "test_a_signal_that_a_step_consumed_is_not_delivered_to_a_later_attempt": of(
        ForgetsWhatIsTaken
    ),
    "test_a_suspended_run_is_replayed_when_a_signal_comes": LosesSignals,
    "test_an_attempt_that_ends_in_an_error_can_be_recovered": DropsWhatFailed,
    "test_a_run_has_one_attempt_at_a_time": PlaysTwice,
}


def contract(kind: type[MemoryDurability]) -> DurabilityContract:
    class Suite(DurabilityContract):
        def new_store(self) -> MemoryJournal:
            return MemoryJournal()

        async def open(self, store: MemoryJournal) -> MemoryDurability:
            return kind(store)

    return Suite()


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("promise", "kind"), BROKEN.items(), ids=BROKEN)
def test_what_breaks_a_promise_is_found(
    promise: str, kind: type[MemoryDurability], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.testing.durability_scenarios._DEADLINE", 1.0)

    getattr(contract(MemoryDurability), promise)()
    with pytest.raises((AssertionError, TimeoutError, PegboardError)):
        getattr(contract(kind), promise)()


def test_whoever_inherits_says_how_a_store_is_made_and_opened() -> None:
    with pytest.raises(NotImplementedError):
        StepPromises().new_store()
    with pytest.raises(NotImplementedError):
        StepPromises().open(None).send(None)
