"""A batch: in order, bounded, and nothing that one call does reaches another."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pegboard.core.result import ToolResult
from pegboard.errors import ToolFailed
from pegboard.execution.pipeline import run_batch


async def batch(
    *calls: Callable[[], Awaitable[ToolResult]],
    exclusive: tuple[int, ...] = (),
    concurrency: int = 16,
) -> list[ToolResult]:
    return await run_batch(
        len(calls),
        lambda place: calls[place](),
        is_exclusive=lambda place: place in exclusive,
        concurrency=concurrency,
    )


def texts(results: list[ToolResult]) -> list[str]:
    return [result.text for result in results]


class Calls:
    """Calls that say when they begin and end."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.running = 0
        self.most = 0

    def make(self, name: str, *, seconds: float = 0.005) -> Callable[[], Awaitable[ToolResult]]:
        async def call() -> ToolResult:
            self.log.append(f"+{name}")
            self.running += 1
            self.most = max(self.most, self.running)
            try:
                await asyncio.sleep(seconds)
            finally:
                self.running -= 1
            self.log.append(f"-{name}")
            return ToolResult(content=name)

        return call


@pytest.fixture
def calls() -> Calls:
    return Calls()


async def test_results_stand_in_the_order_of_the_calls(calls: Calls) -> None:
    b, c, both = calls.make("b"), calls.make("c"), asyncio.Barrier(3)

    async def and_then(call: Callable[[], Awaitable[ToolResult]]) -> ToolResult:
        result = await call()
        await both.wait()
        return result

    async def a() -> ToolResult:
        await both.wait()
        return await calls.make("a")()

    results = await batch(a, lambda: and_then(b), lambda: and_then(c))

    assert texts(results) == ["a", "b", "c"]
    assert calls.log[-1] == "-a"


async def test_an_empty_batch_has_no_results() -> None:
    assert await batch() == []


async def test_an_exclusive_call_runs_alone_in_its_place(calls: Calls) -> None:
    results = await batch(*map(calls.make, "abxcd"), exclusive=(2,))

    middle = calls.log.index("+x")
    assert texts(results) == list("abxcd")
    assert sorted(calls.log[:middle]) == ["+a", "+b", "-a", "-b"]
    assert calls.log[middle : middle + 2] == ["+x", "-x"]


async def test_exclusive_calls_at_the_ends_and_beside_each_other(calls: Calls) -> None:
    await batch(*map(calls.make, "xya"), exclusive=(0, 1))

    assert calls.log == ["+x", "-x", "+y", "-y", "+a", "-a"]


@pytest.mark.parametrize(("concurrency", "most"), [(1, 1), (3, 3), (0, 8)])
async def test_concurrency_is_bounded(calls: Calls, concurrency: int, most: int) -> None:
    await batch(*map(calls.make, "abcdefgh"), concurrency=concurrency)

    assert calls.most == most


async def cancels_itself() -> ToolResult:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(1)
    raise AssertionError("never reached")


@pytest.mark.parametrize("siblings", [0, 3])
async def test_a_call_that_cancels_its_own_task_is_one_failed_result(
    calls: Calls, siblings: int
) -> None:
    others = [calls.make(str(number)) for number in range(siblings)]

    first, *rest = await batch(cancels_itself, *others)

    assert first.text == "The tool cancelled its own call."
    assert isinstance(first.error, ToolFailed)
    assert texts(rest) == [str(number) for number in range(siblings)]


async def test_cancelling_the_batch_leaves_no_task_behind(calls: Calls) -> None:
    before = asyncio.all_tasks()
    running = asyncio.create_task(batch(*[calls.make(str(n), seconds=60) for n in range(20)]))
    await asyncio.sleep(0.01)

    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert asyncio.all_tasks() == before
    assert calls.running == 0


async def test_a_batch_that_is_cancelled_twice_still_waits_for_its_calls() -> None:
    cleaned: list[Any] = []

    async def slow_to_clean() -> ToolResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            try:
                await asyncio.sleep(60)
            finally:
                cleaned.append(1)
            raise
        raise AssertionError("never reached")

    before = asyncio.all_tasks()
    running = asyncio.create_task(batch(slow_to_clean, slow_to_clean))
    await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert cleaned == [1, 1]
    assert asyncio.all_tasks() == before
