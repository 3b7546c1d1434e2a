"""What every durability promises, as tests that a back end's own test inherits."""

import asyncio
import time

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import Durability, RunSteps, Signal
from pegboard.core.run import PendingStep, RunResult
from pegboard.errors import PegboardError, RunNotFound
from pegboard.testing.durability_scenarios import (
    Odd,
    complete,
    does_raise,
    make_completed_result,
    return_later,
    start_of,
    suspend_or_wait,
)
from pegboard.testing.durability_step_contract import StepPromises


class DurabilityContract(StepPromises):
    """The contract of a durability back end: inherit from it, and define how to open a store.

    ```python
    class TestMemory(DurabilityContract):
        def new_store(self) -> MemoryJournal:
            return MemoryJournal()

        async def open(self, store: MemoryJournal) -> MemoryDurability:
            return MemoryDurability(store)
    ```

    Opening the same store again, after `close`, is what the next process does. Needs pytest and
    nothing else: each test runs its own event loop, on a store of its own.
    """

    def test_a_run_is_executed_and_its_result_is_stored(self) -> None:
        """Also for the next process."""

        async def attempt(steps: RunSteps) -> RunResult:
            assert steps.start == start_of(), "the attempt began with something else"
            return make_completed_result(steps, output={"n": [1, None]})

        async def first(durability: Durability) -> None:
            assert await durability.start(start_of()), "it was there before"
            result = await durability.wait_until_settled("r")
            assert result.state is NodeState.COMPLETED
            assert result.output == {"n": [1, None]}, "the output is another"
            assert await durability.get_result("r") == result

        async def second(durability: Durability) -> None:
            result = await durability.wait_until_settled("r")
            assert result.output == {"n": [1, None]}, "the next process does not know the end"
            assert await durability.recover() == (), "what has ended is played again"

        self._lives(attempt, first, second)

    def test_a_run_is_started_once(self) -> None:
        """The same id is the same run, whatever else is said."""
        attempts: list[str] = []

        async def attempt(steps: RunSteps) -> RunResult:
            attempts.append(steps.start.run_id)
            return make_completed_result(steps)

        async def first(durability: Durability) -> None:
            assert await durability.start(start_of())
            await durability.wait_until_settled("r")
            assert not await durability.start(start_of()), "it was started again"
            await durability.wait_until_settled("r")
            assert attempts == ["r"], f"it was played {len(attempts)} times"

        self._lives(attempt, first)

    def test_what_there_is_not_is_not_found(self) -> None:
        """By no method that is asked about one run."""

        async def first(durability: Durability) -> None:
            assert await durability.get_start("nothing") is None
            for request in (
                lambda: durability.get_result("nothing"),
                lambda: durability.wait_until_settled("nothing"),
                lambda: durability.signal("nothing", Signal(id="s", topic="t")),
            ):
                assert await does_raise(request, RunNotFound), "a run that there is not was found"
            await durability.start(start_of())
            await durability.wait_until_settled("r")
            assert await durability.get_start("r") == start_of(), "it began with something else"

        self._lives(complete, first)

    def test_a_suspended_run_is_replayed_when_a_signal_comes(self) -> None:
        """Until then nothing of it is done."""
        attempts: list[int] = []

        async def attempt(steps: RunSteps) -> RunResult:
            signals = (await steps.next({})).signals
            attempts.append(len(signals))
            if signals:
                return make_completed_result(steps, output=signals[0].message)
            return await suspend_or_wait(
                steps, PendingStep(id="w", step="w", kind="event", event="e")
            )

        async def first(durability: Durability) -> None:
            await durability.start(start_of())
            waiting = await durability.wait_until_settled("r")
            assert waiting.state is NodeState.WAITING
            assert [item.id for item in waiting.pending] == ["w"], "what it waits for is lost"
            await durability.signal("r", Signal(id="1", topic="event:e", message="came"))
            assert (await durability.wait_until_settled("r")).output == "came"

        self._lives(attempt, first)
        assert attempts[-1] == 1

    def test_a_suspended_run_is_replayed_at_its_time(self) -> None:
        """`wait_until_settled` waits for that time."""
        attempts: list[int] = []

        async def attempt(steps: RunSteps) -> RunResult:
            attempts.append(1)
            slot = steps.reserve("until")
            if steps.find(slot) is not None:
                return make_completed_result(steps)
            await steps.do(slot, return_later(1))
            until = steps.start.created_at + 0.2
            return await suspend_or_wait(
                steps, PendingStep(id="w", step="w", kind="time", until=until)
            )

        async def first(durability: Durability) -> None:
            begun = start_of(created_at=time.time())
            await durability.start(begun)
            assert (await durability.wait_until_settled("r")).state is NodeState.COMPLETED

        self._lives(attempt, first)

    def test_an_attempt_that_ends_in_an_error_can_be_recovered(self) -> None:
        """Waiters get the error; the run is unchanged."""
        attempts: list[int] = []

        async def attempt(steps: RunSteps) -> RunResult:
            attempts.append(1)
            if len(attempts) == 1:
                raise Odd("the store is gone")
            return make_completed_result(steps)

        async def first(durability: Durability) -> None:
            await durability.start(start_of())
            await asyncio.sleep(0.05)
            await does_raise(lambda: durability.wait_until_settled("r"), PegboardError)
            await durability.recover()
            assert (await durability.wait_until_settled("r")).state is NodeState.COMPLETED

        self._lives(attempt, first)

    def test_a_run_has_one_attempt_at_a_time(self) -> None:
        """Whatever signals arrive and however often it is recovered."""
        running: list[int] = []
        most: list[int] = []

        async def attempt(steps: RunSteps) -> RunResult:
            running.append(1)
            most.append(len(running))
            await asyncio.sleep(0.05)
            running.pop()
            signals = (await steps.next({})).signals
            while len(signals) < 3:
                pending = PendingStep(id="w", step="w", kind="event")
                waiting = RunResult(
                    run_id=steps.start.run_id, state=NodeState.WAITING, pending=(pending,)
                )
                if await steps.suspend(waiting):
                    return waiting
                pause = asyncio.ensure_future(asyncio.sleep(0.3))
                signals = (await steps.next({"pause": pause})).signals
            return make_completed_result(steps)

        async def first(durability: Durability) -> None:
            await durability.start(start_of())
            for name in ("1", "2", "3"):
                await durability.signal("r", Signal(id=name, topic="t"))
                await durability.recover()
            result = await durability.wait_until_settled("r")
            assert result.state is NodeState.COMPLETED, "a signal was not received"

        self._lives(attempt, first)
        assert max(most) == 1, f"{max(most)} players played one run"
