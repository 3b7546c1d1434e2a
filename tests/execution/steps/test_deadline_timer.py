"""Deadlines of many tasks with one timer."""

import asyncio
import threading
from typing import Any

import pytest
from tests.execution.made import in_virtual_time

from pegboard.execution.steps.deadline import (
    DEADLINE_TIMERS,
    TICK,
    DeadlineTimer,
    DeadlineTimers,
    TaskDeadline,
)
from pegboard.testing import FakeClock


def add(ticker: DeadlineTimer, seconds: float) -> TaskDeadline:
    now = ticker.now()
    return ticker.add(now + seconds, now)


@pytest.fixture
async def ticker() -> DeadlineTimer:
    return DeadlineTimer(asyncio.get_running_loop())


@pytest.mark.parametrize("seconds", [0.0, 0.005, 0.03, 0.06], ids=str)
def test_a_task_is_cancelled_soon_after_its_deadline_and_not_before(
    seconds: float,
) -> None:
    async def work(clock: FakeClock) -> float:
        ticker, begin = DEADLINE_TIMERS.current(), clock.monotonic()
        entry = add(ticker, seconds)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(60)
        took = clock.monotonic() - begin
        ticker.remove(entry)
        assert entry.take_back()
        assert entry.task.cancelling() == 0
        return took

    assert seconds <= in_virtual_time(work) + 1e-6 <= seconds + TICK + 1e-3


@pytest.mark.parametrize("seconds", [0.001, 0.05], ids=["own timer", "tick"])
async def test_a_deadline_that_was_removed_cancels_nobody(
    ticker: DeadlineTimer, seconds: float
) -> None:
    entry = add(ticker, seconds)
    ticker.remove(entry)

    await asyncio.sleep(seconds + 3 * TICK)

    assert entry.cancelled == 0


async def test_a_task_that_goes_on_is_cancelled_again(clock: FakeClock) -> None:
    ticker = DeadlineTimer(asyncio.get_running_loop(), monotonic=clock.monotonic)
    entry = add(ticker, 10)
    for _ in range(3):
        clock.advance(10)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(60)

    ticker.remove(entry)
    assert entry.cancelled == 3
    assert entry.take_back()


@pytest.mark.timeout(60)
async def test_a_task_with_its_own_timer_is_cancelled_again_too(ticker: DeadlineTimer) -> None:
    entry = add(ticker, 0.001)
    for _ in range(2):
        with pytest.raises(asyncio.CancelledError):
            await asyncio.sleep(60)

    ticker.remove(entry)
    assert entry.cancelled == 2
    assert entry.take_back()


async def test_a_cancellation_by_somebody_else_is_told_apart(ticker: DeadlineTimer) -> None:
    entry = add(ticker, 0.001)
    entry.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.sleep(60)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.sleep(60)
    ticker.remove(entry)

    assert entry.take_back() is False
    assert entry.task.uncancel() == 0


async def test_a_request_to_cancel_from_before_is_not_ours(ticker: DeadlineTimer) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.sleep(60)
    entry = add(ticker, 0.001)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.sleep(60)
    ticker.remove(entry)

    assert entry.take_back() is True
    assert task.uncancel() == 0


async def test_a_ticker_without_deadlines_stops_ticking(ticker: DeadlineTimer) -> None:
    ticker.remove(add(ticker, 60))
    armed = ticker._armed

    await asyncio.sleep(2 * TICK)

    assert (armed, ticker._armed, ticker._entries) == (True, False, set())


async def test_a_ticker_that_stopped_starts_again(ticker: DeadlineTimer) -> None:
    ticker.remove(add(ticker, 60))
    await asyncio.sleep(2 * TICK)
    entry = add(ticker, 0.05)

    with pytest.raises(asyncio.CancelledError):
        await asyncio.sleep(60)

    ticker.remove(entry)
    assert entry.take_back()


async def test_many_deadlines_are_kept_apart(clock: FakeClock) -> None:
    ticker, ended = (
        DeadlineTimer(asyncio.get_running_loop(), monotonic=clock.monotonic),
        list[int](),
    )

    async def one(number: int) -> None:
        entry = add(ticker, 5 + number * 10)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            assert entry.take_back()
            ended.append(number)
        finally:
            ticker.remove(entry)

    tasks = [asyncio.create_task(one(number)) for number in (2, 0, 1)]
    await asyncio.sleep(0)
    seen: list[list[int]] = []
    for _ in tasks:
        clock.advance(10)
        await asyncio.wait(
            [task for task in tasks if not task.done()], return_when=asyncio.FIRST_COMPLETED
        )
        seen.append(list(ended))

    assert seen == [[0], [0, 1], [0, 1, 2]]
    assert ticker._entries == set()


async def test_a_deadline_needs_a_task(ticker: DeadlineTimer) -> None:
    problems: list[Any] = []

    def outside() -> None:
        try:
            add(ticker, 1)
        except RuntimeError as error:
            problems.append(str(error))

    asyncio.get_running_loop().call_soon(outside)
    await asyncio.sleep(0.01)

    assert problems == ["a deadline needs a task"]


async def test_a_loop_has_one_ticker() -> None:
    assert DEADLINE_TIMERS.current() is DEADLINE_TIMERS.current()


def test_loops_that_alternate_keep_their_tickers() -> None:
    tickers = DeadlineTimers()
    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()

    async def current() -> DeadlineTimer:
        return tickers.current()

    seen = [loop.run_until_complete(current()) for loop in (first, second, first, second)]
    first.close()
    second.close()

    assert [ticker.loop for ticker in seen] == [first, second, first, second]
    assert (seen[0], seen[1]) == (seen[2], seen[3])


def test_loops_of_several_threads_have_their_own() -> None:
    found: list[bool] = []

    async def work() -> None:
        for _ in range(200):
            found.append(DEADLINE_TIMERS.current().loop is asyncio.get_running_loop())
            await asyncio.sleep(0)

    threads = [threading.Thread(target=asyncio.run, args=(work(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [True] * 800


class BareLoop(asyncio.SelectorEventLoop):
    """A loop that takes no attributes of others, as one written in C may be."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_pegboard_deadline_timer":
            raise AttributeError(name)
        super().__setattr__(name, value)


def test_a_loop_that_takes_no_attributes_has_a_ticker_all_the_same() -> None:
    loop = BareLoop()

    async def current() -> DeadlineTimer:
        return DEADLINE_TIMERS.current()

    try:
        assert loop.run_until_complete(current()).loop is loop
    finally:
        loop.close()
