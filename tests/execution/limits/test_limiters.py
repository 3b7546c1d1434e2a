"""Rates and concurrency: who waits, for how long, in which order, on which loop."""

import asyncio
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.execution.made import in_virtual_time

from pegboard.core.tool import Limits
from pegboard.errors import RateLimited
from pegboard.execution.limits.limiters import Limiter, Limiters
from pegboard.testing import FakeClock


def limited(clock: FakeClock, **limits: Any) -> Limiter:
    return Limiter("shop__*", Limits(**limits), monotonic=clock.monotonic)


async def passed(limiter: Limiter, times: int) -> int:
    """How many of so many calls get through without waiting."""
    through = 0
    for _ in range(times):
        try:
            await limiter.enter(0)
        except RateLimited:
            continue
        limiter.leave()
        through += 1
    return through


async def test_a_window_of_calls_may_come_at_once_and_then_as_fast_as_the_rate(
    clock: FakeClock,
) -> None:
    limiter = limited(clock, rate=10, per=2)

    first = await passed(limiter, 30)
    clock.advance(1)
    second = await passed(limiter, 30)
    clock.advance(60)
    third = await passed(limiter, 30)

    assert (first, second, third) == (10, 5, 10)


async def test_a_refused_call_says_when_to_come_back(clock: FakeClock) -> None:
    limiter = limited(clock, rate=2, per=10)
    await passed(limiter, 2)
    clock.advance(1)

    with pytest.raises(RateLimited) as caught:
        await limiter.enter(3.9)

    assert caught.value.retry_after == pytest.approx(4)
    assert caught.value.nothing_done
    assert str(caught.value) == "The limit of 2 calls per 10 s for 'shop__*' is reached."


async def test_the_first_second_of_a_machines_life_has_a_full_bucket() -> None:
    limiter = Limiter("x", Limits(rate=5), monotonic=lambda: 0.0)

    assert await passed(limiter, 9) == 5


@given(
    rate=st.integers(1, 20),
    per=st.sampled_from([0.5, 1.0, 60.0]),
    waits=st.lists(st.floats(0, 2), max_size=60),
)
def test_the_rate_holds_over_time(rate: int, per: float, waits: list[float]) -> None:
    clock = FakeClock()
    limiter = limited(clock, rate=rate, per=per)
    begin, through = clock.monotonic(), 0
    for wait in waits:
        clock.advance(wait)
        through += asyncio.run(passed(limiter, 3))

    assert through <= rate + (clock.monotonic() - begin) * rate / per + 1e-3


def test_who_waits_for_the_rate_goes_on_in_order_at_its_pace() -> None:
    async def work(clock: FakeClock) -> list[tuple[int, float]]:
        limiter = limited(clock, rate=10)
        await passed(limiter, 10)
        begin, went = clock.monotonic(), list[tuple[int, float]]()

        async def one(number: int) -> None:
            await limiter.enter(30)
            went.append((number, round(clock.monotonic() - begin, 3)))

        await asyncio.gather(*[one(number) for number in range(4)])
        return went

    assert in_virtual_time(work) == [(0, 0.1), (1, 0.2), (2, 0.3), (3, 0.4)]


def test_who_is_cancelled_while_waiting_gives_the_turn_back() -> None:
    async def work(clock: FakeClock) -> float:
        limiter = limited(clock, rate=1, per=10)
        await limiter.enter(0)
        waiting = asyncio.create_task(limiter.enter(30))
        await asyncio.sleep(5)
        waiting.cancel()
        await asyncio.wait([waiting])
        begin = clock.monotonic()
        await limiter.enter(30)
        return clock.monotonic() - begin

    assert in_virtual_time(work) == pytest.approx(5)


async def test_slots_are_given_first_come_first_served() -> None:
    limiter, order = Limiter("x", Limits(concurrency=2)), list[int]()

    async def one(number: int) -> None:
        await limiter.enter(60)
        order.append(number)
        await asyncio.sleep(0.001)
        limiter.leave()

    await asyncio.gather(*[one(number) for number in range(20)])

    assert order == list(range(20))
    assert limiter._in_flight == 0


async def test_nobody_overtakes_those_who_wait() -> None:
    limiter, order = Limiter("x", Limits(concurrency=1)), list[str]()

    async def one(name: str) -> None:
        await limiter.enter(60)
        order.append(name)
        limiter.leave()

    await limiter.enter(0)
    first = asyncio.create_task(one("first"))
    await asyncio.sleep(0)
    limiter.leave()
    await one("second")
    await first

    assert order == ["first", "second"]


async def test_who_does_not_get_a_slot_in_time_is_refused() -> None:
    limiter = Limiter("shop__*", Limits(concurrency=1))
    await limiter.enter(0)

    with pytest.raises(RateLimited) as caught:
        await limiter.enter(0.005)

    assert caught.value.retry_after == 1
    assert caught.value.nothing_done
    assert str(caught.value) == "1 calls of 'shop__*' are running, which is the limit."
    assert not limiter._waiters


async def test_who_got_no_slot_has_not_used_the_rate_up(clock: FakeClock) -> None:
    limiter = limited(clock, rate=2, concurrency=1)
    await limiter.enter(0)
    for _ in range(5):
        with pytest.raises(RateLimited, match="are running"):
            await limiter.enter(0)
    limiter.leave()

    await limiter.enter(0)


async def test_who_is_cancelled_in_line_leaves_it() -> None:
    limiter = Limiter("x", Limits(concurrency=1))
    await limiter.enter(0)
    waiting = asyncio.create_task(limiter.enter(60))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.wait([waiting])
    limiter.leave()

    await limiter.enter(0)
    assert waiting.cancelled()


async def test_a_slot_that_comes_at_the_moment_of_cancelling_goes_to_the_next() -> None:
    limiter = Limiter("x", Limits(concurrency=1))
    await limiter.enter(0)
    waiting = asyncio.create_task(limiter.enter(60))
    behind = asyncio.create_task(limiter.enter(60))
    await asyncio.sleep(0)

    limiter.leave()
    waiting.cancel()
    await asyncio.wait([waiting, behind])

    assert waiting.cancelled()
    assert not behind.cancelled()
    assert limiter._in_flight == 1


async def test_a_slot_that_comes_at_the_moment_of_giving_up_is_taken() -> None:
    limiter = Limiter("x", Limits(concurrency=1))
    await limiter.enter(0)
    waiting = asyncio.create_task(limiter.enter(0.01))
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_later(0.01, limiter.leave)

    await asyncio.wait([waiting])

    assert limiter._in_flight == (0 if waiting.exception() else 1)


async def test_leaving_unused_gives_turn_and_slot_back(clock: FakeClock) -> None:
    limiter = limited(clock, rate=1, concurrency=1)
    await limiter.enter(0)
    limiter.withdraw()

    await limiter.enter(0)


async def test_without_a_limit_nobody_waits(clock: FakeClock) -> None:
    assert await passed(limited(clock), 1000) == 1000


def test_loops_in_several_threads_share_the_slots() -> None:
    limiter = Limiter("x", Limits(concurrency=2))
    running, most, problems = [0], [0], list[BaseException]()
    lock = threading.Lock()

    async def one() -> None:
        await limiter.enter(60)
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        await asyncio.sleep(0.001)
        with lock:
            running[0] -= 1
        limiter.leave()

    async def many() -> None:
        await asyncio.gather(*[one() for _ in range(15)])

    def in_thread() -> None:
        try:
            asyncio.run(many())
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=in_thread) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert problems == []
    assert most[0] == 2
    assert limiter._in_flight == 0


def test_a_slot_is_not_lost_to_a_loop_that_has_ended() -> None:
    limiter = Limiter("x", Limits(concurrency=1))
    ended = asyncio.new_event_loop()

    async def hold() -> None:
        await limiter.enter(0)

    async def stand_in_line() -> None:
        waiting = asyncio.create_task(limiter.enter(60))
        await asyncio.sleep(0)
        stuck.append(waiting)

    stuck: list[Any] = []
    asyncio.run(hold())
    ended.run_until_complete(stand_in_line())
    ended.close()
    limiter.leave()

    asyncio.run(hold())
    assert limiter._in_flight == 1
    stuck[0]._log_destroy_pending = False


def test_tools_under_one_rule_share_its_bucket() -> None:
    limiters, limits = Limiters(), Limits(rate=1)

    assert limiters.get("shop__*", limits) is limiters.get("shop__*", Limits(rate=1))
    assert limiters.get("shop__*", limits) is not limiters.get("crm__*", limits)


def test_two_rules_of_one_name_have_two_buckets_that_last() -> None:
    limiters = Limiters()
    first, second = limiters.get("find", Limits(rate=1)), limiters.get("find", Limits(rate=2))

    assert limiters.get("find", Limits(rate=1)) is first
    assert limiters.get("find", Limits(rate=2)) is second
