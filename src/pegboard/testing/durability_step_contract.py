"""What a durability promises of the steps of a run, as tests."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from pegboard.core.ports.durability import (
    CONTROL,
    Attempt,
    Durability,
    RunSteps,
    Signal,
    StepRecord,
    UnfinishedStep,
)
from pegboard.core.run import RunResult
from pegboard.testing.durability_scenarios import (
    append_and_return,
    does_raise,
    finish_after_recovery,
    make_completed_result,
    never_finish,
    return_later,
    start_and_crash,
    start_of,
    within_time,
)


class StepPromises:
    """The part of `DurabilityContract` that is about steps and signals."""

    def new_store(self) -> Any:
        """A new store, where nothing has been kept yet."""
        raise NotImplementedError

    async def open(self, store: Any) -> Durability:
        """A durability on this store; `attach` is called next, `close` at the end."""
        raise NotImplementedError

    def test_a_recorded_step_is_found_and_not_done_again(self) -> None:
        """Its value is JSON, and the same in every attempt."""
        done: list[str] = []
        value = {"text": "ä\n", "list": [1, 2.5, None, True], "large": 2**70}

        async def attempt(steps: RunSteps) -> RunResult:
            one, two = steps.reserve("one"), steps.reserve("two")
            found = steps.find(one)
            if found is None:
                assert steps.find(two) is None, "a step is found that was never done"
                given = await steps.do(one, append_and_return(done, "one", dict(value)))
                given["text"] = "changed afterwards"
                await asyncio.sleep(60)
            assert found == StepRecord(value=value), f"another value is found: {found}"
            return make_completed_result(steps)

        self._lives(attempt, start_and_crash, finish_after_recovery)
        assert done == ["one"], "a recorded step was done again"

    def test_an_interrupted_step_is_reported_when_its_start_was_marked(self) -> None:
        """And looks as if it had never begun when it was not."""
        found: list[Any] = []

        async def attempt(steps: RunSteps) -> RunResult:
            marked, plain = steps.reserve("marked"), steps.reserve("plain")
            found.append((steps.find(marked), steps.find(plain)))
            if len(found) == 1:
                await asyncio.wait(
                    [
                        asyncio.ensure_future(steps.do(marked, never_finish, marked=True)),
                        asyncio.ensure_future(steps.do(plain, never_finish)),
                    ],
                    return_when=asyncio.FIRST_COMPLETED,
                )
            return make_completed_result(steps)

        self._lives(attempt, start_and_crash, finish_after_recovery)
        first, second = found
        assert first == (None, None)
        assert isinstance(second[0], UnfinishedStep), f"the mark is lost: {second[0]}"
        assert second[1] is None, f"a step without a mark was remembered: {second[1]}"

    def test_a_marked_step_that_ended_is_recorded(self) -> None:
        """The outcome takes the place of the mark."""

        async def attempt(steps: RunSteps) -> RunResult:
            slot = steps.reserve("pay")
            if steps.find(slot) is None:
                await steps.do(slot, return_later(7), marked=True)
                await asyncio.sleep(60)
            assert steps.find(slot) == StepRecord(value=7)
            return make_completed_result(steps)

        self._lives(attempt, start_and_crash, finish_after_recovery)

    def test_work_that_raises_records_nothing(self) -> None:
        """Its error comes out of `do` as it is."""

        async def fail() -> None:
            raise KeyError("mine")

        async def attempt(steps: RunSteps) -> RunResult:
            slot = steps.reserve("odd")
            assert await does_raise(lambda: steps.do(slot, fail), KeyError), "the error was changed"
            await steps.do(slot, return_later(1))
            return make_completed_result(steps, output=1)

        async def first(durability: Durability) -> None:
            await durability.start(start_of())
            assert (await durability.wait_until_settled("r")).output == 1

        self._lives(attempt, first)

    def test_steps_within_steps_are_apart(self) -> None:
        """The same name within two steps is two steps."""

        async def attempt(steps: RunSteps) -> RunResult:
            outer = [steps.reserve(name) for name in ("a", "b")]
            inner = [steps.inside(slot) for slot in outer]
            slots = [each.reserve("x") for each in inner]
            found = [each.find(slot) for each, slot in zip(inner, slots, strict=True)]
            assert len({slot.step for slot in (*outer, *slots)}) == 4, "two steps share a path"
            if found[0] is None:
                for number, (each, slot) in enumerate(zip(inner, slots, strict=True)):
                    await each.do(slot, return_later(number))
                await asyncio.sleep(60)
            assert found == [StepRecord(value=0), StepRecord(value=1)], f"found {found}"
            assert steps.find(outer[0]) is None
            return make_completed_result(steps)

        self._lives(attempt, start_and_crash, finish_after_recovery)

    def test_next_reports_finished_tasks_and_new_signals(self) -> None:
        """Each signal once an attempt, and those that were there before with the first."""
        received: list[Any] = []

        async def attempt(steps: RunSteps) -> RunResult:
            received.append([signal.message for signal in (await steps.next({})).signals])
            tasks = {"slow": asyncio.ensure_future(asyncio.sleep(60))}
            tasks["quick"] = asyncio.ensure_future(asyncio.sleep(0.01))
            received.append((await steps.next(tasks)).done)
            del tasks["quick"]
            while True:
                signals = (await steps.next(tasks)).signals
                received.extend(signal.message for signal in signals)
                if any(signal.topic == "end" for signal in signals):
                    tasks["slow"].cancel()
                    return make_completed_result(steps)

        async def first(durability: Durability) -> None:
            await durability.start(start_of())
            while len(received) < 2:  # noqa: ASYNC110 - the attempt has no other sign
                await asyncio.sleep(0.01)
            kept = [
                await durability.signal("r", Signal(id="1", topic="t", message={"n": 1}))
                for _ in range(2)
            ]
            assert kept == [True, False], f"the same signal twice was told to be kept: {kept}"
            await asyncio.sleep(0.05)
            await durability.signal("r", Signal(id="2", topic="end", message=2))
            await durability.wait_until_settled("r")

        self._lives(attempt, first)
        assert received == [[], ("quick",), {"n": 1}, 2], f"received {received}"

    def test_a_signal_that_a_step_consumed_is_not_delivered_to_a_later_attempt(self) -> None:
        """Whether it was taken with the outcome or with the mark; others are, and control is."""
        received: list[list[str]] = []

        async def attempt(steps: RunSteps) -> RunResult:
            signals = (await steps.next({})).signals
            received.append([signal.id for signal in signals])
            if len(received) == 1:
                await asyncio.sleep(0.2)
                await steps.next({})
                await steps.do(steps.reserve("one"), return_later(1), takes="one")
                await steps.do(steps.reserve("two"), never_finish, marked=True, takes="two")
            return make_completed_result(steps)

        async def first(durability: Durability) -> None:
            await durability.start(start_of())
            for name in ("one", "two", "three"):
                await durability.signal("r", Signal(id=name, topic="t"))
            await durability.signal("r", Signal(id="pause", topic=CONTROL, message="pause"))
            await asyncio.sleep(0.5)

        self._lives(attempt, first, finish_after_recovery)
        assert received[-1] == ["three", "pause"], f"the later attempt received {received[-1]}"

    def _lives(self, attempt: Attempt, *lives: Callable[[Durability], Awaitable[None]]) -> None:
        """One process after the other on the same store."""
        store = self.new_store()
        for live in lives:
            asyncio.run(within_time(self._life(store, attempt, live)))

    async def _life(
        self, store: Any, attempt: Attempt, live: Callable[[Durability], Awaitable[None]]
    ) -> None:
        durability = await self.open(store)
        durability.attach(attempt)
        try:
            await live(durability)
        finally:
            await durability.close()
