"""At most so many at once, on any loop."""

import asyncio
import threading

import pytest

from pegboard.sources.sql.concurrency_limit import ConcurrencyLimit


async def test_no_more_than_its_size_are_inside() -> None:
    gate = ConcurrencyLimit(2)
    inside = most = 0

    async def visit() -> None:
        nonlocal inside, most
        async with gate:
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0.001)
            inside -= 1

    async with asyncio.TaskGroup() as group:
        for _ in range(10):
            group.create_task(visit())

    assert most == 2


async def test_they_enter_in_the_order_in_which_they_came() -> None:
    gate = ConcurrencyLimit(1)
    order: list[int] = []

    async def visit(number: int) -> None:
        async with gate:
            order.append(number)
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        for number in range(5):
            group.create_task(visit(number))

    assert order == [0, 1, 2, 3, 4]


async def test_one_who_gives_up_waiting_takes_no_place() -> None:
    gate = ConcurrencyLimit(1)
    async with gate:
        waiting = [asyncio.create_task(gate.__aenter__()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.sleep(0)
    waiting[1].cancel()  # its turn has come and it has not heard of it yet
    await asyncio.wait({waiting[2]}, timeout=40)

    assert waiting[2].done()
    assert waiting[0].cancelled()
    with pytest.raises(asyncio.CancelledError):
        await waiting[1]
    await gate.__aexit__(None, None, None)
    async with asyncio.timeout(40), gate:
        pass


async def test_two_loops_share_one_gate() -> None:
    gate = ConcurrencyLimit(1)
    entered = threading.Event()

    async def elsewhere() -> None:
        async with gate:
            entered.set()

    async with gate:
        other = threading.Thread(target=lambda: asyncio.run(elsewhere()))
        other.start()
        await asyncio.sleep(0.05)
        was_inside = entered.is_set()
    await asyncio.to_thread(other.join, 40)

    assert not was_inside
    assert entered.is_set()


async def test_a_loop_that_is_gone_is_passed_over() -> None:
    gate = ConcurrencyLimit(1)

    def wait_and_vanish() -> None:
        loop = asyncio.new_event_loop()
        task = loop.create_task(gate.__aenter__())
        loop.run_until_complete(asyncio.sleep(0.01))
        task.cancel = lambda *_: False  # type: ignore[method-assign, assignment] # it never hears
        loop.close()
        task._log_destroy_pending = False  # type: ignore[attr-defined] # it is abandoned on purpose

    async with gate:
        await asyncio.to_thread(wait_and_vanish)
    async with asyncio.timeout(40), gate:
        pass
