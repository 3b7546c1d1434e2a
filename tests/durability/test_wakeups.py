"""When runs are taken up again."""

import asyncio

import pytest
from tests.execution.made import virtually

from pegboard.durability.scheduling import Wakeups
from pegboard.errors import Unavailable
from pegboard.testing import FakeClock


@virtually
async def test_it_rings_once_at_the_last_time_that_was_set(clock: FakeClock) -> None:
    rung: list[str] = []

    async def ring(run_id: str) -> None:
        rung.append(run_id)

    wakeups = Wakeups(ring)
    wakeups.set("late", after=60)
    wakeups.set("r", after=60)
    wakeups.set("r", after=-5)
    wakeups.set("never", after=0)
    wakeups.drop("never")
    await asyncio.sleep(0.02)
    await wakeups.close()

    assert rung == ["r"]


@virtually
async def test_each_setback_of_a_run_is_waited_for_twice_as_long_up_to_half_a_minute(
    clock: FakeClock,
) -> None:
    async def ring(run_id: str) -> None:
        raise AssertionError(run_id)

    wakeups = Wakeups(ring, first=4.0)
    waits: list[float] = []
    for _ in range(5):
        wakeups.retry("r", ValueError("odd"))
        waits.append(wakeups._timers["r"].when() - clock.monotonic())
    setback = wakeups.retries["r"]
    assert wakeups.error("r") is setback.error
    wakeups.settle("r")
    wakeups.retry("r", ValueError("odd"))
    waits.append(wakeups._timers["r"].when() - clock.monotonic())
    await wakeups.close()

    assert waits == [4, 8, 16, 30, 30, 4]
    assert (str(setback.error), setback.attempts) == ("odd", 5)


@virtually
async def test_a_store_that_does_not_answer_is_asked_again_soon(clock: FakeClock) -> None:
    async def ring(run_id: str) -> None:
        raise AssertionError(run_id)

    wakeups = Wakeups(ring, first=4.0)
    for _ in range(3):
        wakeups.retry("r", Unavailable("gone"))
    wait = wakeups._timers["r"].when() - clock.monotonic()
    await wakeups.close()

    assert wait == 5
    assert wakeups.error("another") is None


async def test_closing_stops_what_is_being_taken_up() -> None:
    ended: list[str] = []

    async def ring(run_id: str) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(run_id)

    wakeups = Wakeups(ring)
    wakeups.set("r", after=0)
    wakeups.set("later", after=60)
    await asyncio.sleep(0.02)
    await wakeups.close()

    assert ended == ["r"]


@virtually
async def test_a_store_that_is_gone_for_hours_is_still_asked(clock: FakeClock) -> None:
    async def ring(run_id: str) -> None:
        raise AssertionError(run_id)

    wakeups = Wakeups(ring)
    for _ in range(1_100):
        wakeups.retry("r", Unavailable("gone"))
    wait = wakeups._timers["r"].when() - clock.monotonic()
    await wakeups.close()

    assert wait == 5


async def test_a_run_that_could_not_be_taken_up_for_a_reason_nobody_foresaw_is_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rung = asyncio.Queue[str]()

    async def ring(run_id: str) -> None:
        rung.put_nowait(run_id)
        if wakeups.error(run_id) is None:
            raise ValueError("odd")

    wakeups = Wakeups(ring, first=0.01)
    wakeups.set("r", after=0)
    times = [await rung.get() for _ in range(2)]
    await wakeups.close()

    assert times == ["r", "r"]
    assert "ValueError: odd" in caplog.text
