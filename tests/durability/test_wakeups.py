"""When runs are taken up again."""

import asyncio

import pytest
from tests.execution.made import virtually

from pegboard.durability.wakeups import Wakeups
from pegboard.errors import Unavailable
from pegboard.testing import FakeClock


@virtually
async def test_it_rings_once_at_the_last_time_that_was_set(clock: FakeClock) -> None:
    rung: list[str] = []

    async def ring(run_id: str) -> None:
        rung.append(run_id)

    alarms = Wakeups(ring)
    alarms.set("late", after=60)
    alarms.set("r", after=60)
    alarms.set("r", after=-5)
    alarms.set("never", after=0)
    alarms.drop("never")
    await asyncio.sleep(0.02)
    await alarms.close()

    assert rung == ["r"]


@virtually
async def test_each_setback_of_a_run_is_waited_for_twice_as_long_up_to_half_a_minute(
    clock: FakeClock,
) -> None:
    async def ring(run_id: str) -> None:
        raise AssertionError(run_id)

    alarms = Wakeups(ring, first=4.0)
    waits: list[float] = []
    for _ in range(5):
        alarms.set_back("r", ValueError("odd"))
        waits.append(alarms._timers["r"].when() - clock.monotonic())
    setback = alarms.setbacks["r"]
    assert alarms.error("r") is setback.error
    alarms.settle("r")
    alarms.set_back("r", ValueError("odd"))
    waits.append(alarms._timers["r"].when() - clock.monotonic())
    await alarms.close()

    assert waits == [4, 8, 16, 30, 30, 4]
    assert (str(setback.error), setback.plays) == ("odd", 5)


@virtually
async def test_a_store_that_does_not_answer_is_asked_again_soon(clock: FakeClock) -> None:
    async def ring(run_id: str) -> None:
        raise AssertionError(run_id)

    alarms = Wakeups(ring, first=4.0)
    for _ in range(3):
        alarms.set_back("r", Unavailable("gone"))
    wait = alarms._timers["r"].when() - clock.monotonic()
    await alarms.close()

    assert wait == 5
    assert alarms.error("another") is None


async def test_closing_stops_what_is_being_taken_up() -> None:
    ended: list[str] = []

    async def ring(run_id: str) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(run_id)

    alarms = Wakeups(ring)
    alarms.set("r", after=0)
    alarms.set("later", after=60)
    await asyncio.sleep(0.02)
    await alarms.close()

    assert ended == ["r"]


@virtually
async def test_a_store_that_is_gone_for_hours_is_still_asked(clock: FakeClock) -> None:
    async def ring(run_id: str) -> None:
        raise AssertionError(run_id)

    alarms = Wakeups(ring)
    for _ in range(1_100):
        alarms.set_back("r", Unavailable("gone"))
    wait = alarms._timers["r"].when() - clock.monotonic()
    await alarms.close()

    assert wait == 5


async def test_a_run_that_could_not_be_taken_up_for_a_reason_nobody_foresaw_is_tried_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    rung = asyncio.Queue[str]()

    async def ring(run_id: str) -> None:
        rung.put_nowait(run_id)
        if alarms.error(run_id) is None:
            raise ValueError("odd")

    alarms = Wakeups(ring, first=0.01)
    alarms.set("r", after=0)
    times = [await rung.get() for _ in range(2)]
    await alarms.close()

    assert times == ["r", "r"]
    assert "ValueError: odd" in caplog.text
