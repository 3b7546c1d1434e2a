"""One tool holds at most its share of the pool: what hangs does not hold up the others."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pegboard.concurrency.thread_pool import POOL, ThreadPool
from pegboard.errors import Overloaded
from pegboard.registry import ToolRegistry
from pegboard.tools import tool


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What hangs, hangs on this; opened at the end, so that no thread is left behind."""
    event = threading.Event()
    yield event
    event.set()


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - threads set no asyncio event
        await asyncio.sleep(0.005)


def _start(
    pool: ThreadPool, count: int, call: Callable[[], Any], *, owner: str = "slow"
) -> list[asyncio.Task[Any]]:
    return [asyncio.create_task(pool.run(call, owner=owner)) for _ in range(count)]


async def _hanging(pool: ThreadPool, gate: threading.Event) -> list[asyncio.Task[Any]]:
    running = threading.Event()

    def hang() -> None:
        running.set()
        gate.wait()

    tasks = _start(pool, 1, hang)
    await _until(running.is_set)
    return tasks


async def _cancelled(tasks: list[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    for task in tasks:
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_a_tool_runs_while_another_has_more_calls_than_there_are_threads(
    gate: threading.Event,
) -> None:
    pool = ThreadPool(size=4)
    slow = _start(pool, 20, gate.wait)
    await asyncio.sleep(0.02)

    quick = [await pool.run(lambda: "here", owner="quick") for _ in range(5)]

    assert quick == ["here"] * 5
    gate.set()
    assert [await task for task in slow] == [True] * 20


async def test_a_tool_has_half_the_threads_at_most(gate: threading.Event) -> None:
    pool, lock, now, most = ThreadPool(size=6), threading.Lock(), [0], [0]

    def work() -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        gate.wait()
        with lock:
            now[0] -= 1

    tasks = _start(pool, 12, work)
    await _until(lambda: now[0] == 3)
    await asyncio.sleep(0.05)
    gate.set()
    await asyncio.wait(tasks)

    assert most == [3]
    assert pool.waiting == 0


async def test_calls_of_one_tool_start_in_their_order() -> None:
    pool, order = ThreadPool(size=2), list[int]()

    tasks = [
        asyncio.create_task(pool.run(lambda number=number: order.append(number), owner="one"))
        for number in range(20)
    ]
    await asyncio.wait(tasks)

    assert order == list(range(20))


async def test_a_waiting_call_that_is_given_up_never_runs_and_holds_nothing(
    gate: threading.Event,
) -> None:
    pool, ran = ThreadPool(size=2), list[int]()
    hanging = _start(pool, 1, gate.wait)
    waiting = _start(pool, 3, lambda: ran.append(1))
    await _until(lambda: pool.waiting == 3)

    await _cancelled(waiting[:2])
    assert pool.waiting == 1
    gate.set()
    await asyncio.wait([*hanging, waiting[2]])

    assert ran == [1]


async def test_the_next_call_of_a_tool_starts_when_a_hanging_one_is_given_up(
    gate: threading.Event,
) -> None:
    pool = ThreadPool(size=2)
    hanging = await _hanging(pool, gate)
    waiting = _start(pool, 1, lambda: "started")
    await _until(lambda: pool.waiting == 1)

    await _cancelled(hanging)

    assert await waiting[0] == "started"
    assert pool.abandoned == 1


async def test_a_tool_that_only_hangs_is_refused_before_it_uses_up_what_all_may_leave(
    gate: threading.Event,
) -> None:
    pool = ThreadPool(size=2, most_abandoned=4)
    for abandoned in (1, 2):
        await _cancelled(await _hanging(pool, gate))
        assert pool.abandoned == abandoned

    with pytest.raises(Overloaded, match="2 threads hang in calls of 'slow' that were given up"):
        await pool.run(lambda: 1, owner="slow")
    assert await pool.run(lambda: "fine", owner="quick") == "fine"

    gate.set()
    await _until(lambda: pool.abandoned == 0)
    assert await pool.run(lambda: "again", owner="slow") == "again"


async def test_nothing_is_kept_of_a_tool_that_does_not_run() -> None:
    pool = ThreadPool(size=2)

    await asyncio.wait(_start(pool, 10, lambda: None))

    assert (pool._held, pool._waiting, pool._hanging) == ({}, {}, {})


async def test_a_slow_function_tool_does_not_hold_up_another(gate: threading.Event) -> None:
    @tool(effect="read")
    def hangs() -> bool:
        return gate.wait()

    @tool(effect="read")
    def quick() -> str:
        return "quick"

    registry = ToolRegistry([hangs, quick])
    slow = [asyncio.create_task(registry.call("hangs")) for _ in range(2 * POOL.size)]
    await asyncio.sleep(0.02)

    result = await registry.call("quick")

    assert result.content == "quick"
    gate.set()
    await asyncio.wait(slow)
