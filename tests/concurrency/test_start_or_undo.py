import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from pegboard.concurrency.start_or_undo import start_or_undo


def undoing() -> tuple[list[int], Callable[[int], Coroutine[Any, Any, None]]]:
    """Something that takes a moment to undo a number, and the numbers that it has undone."""
    undone: list[int] = []

    async def undo(number: int) -> None:
        await asyncio.sleep(0.02)
        undone.append(number)

    return undone, undo


async def test_what_has_begun_is_given_and_not_undone() -> None:
    undone, undo = undoing()

    assert await start_or_undo(asyncio.sleep(0, 7), undo=undo) == 7
    assert undone == []


@pytest.mark.parametrize("cancels", [1, 3])
async def test_whoever_is_cancelled_meanwhile_waits_for_it_and_undoes_it(cancels: int) -> None:
    goes_on = asyncio.Event()
    undone, undo = undoing()

    async def beginning() -> int:
        await goes_on.wait()
        return 7

    task = asyncio.create_task(start_or_undo(beginning(), undo=undo))
    for _ in range(cancels):
        await asyncio.sleep(0.01)
        task.cancel()
    await asyncio.sleep(0.01)
    is_waiting = not task.done()
    goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert is_waiting
    assert undone == [7]


async def test_a_beginning_that_fails_leaves_nothing_to_undo() -> None:
    goes_on = asyncio.Event()
    undone, undo = undoing()

    async def beginning() -> int:
        await goes_on.wait()
        raise OSError

    task = asyncio.create_task(start_or_undo(beginning(), undo=undo))
    await asyncio.sleep(0.01)
    task.cancel()
    goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(OSError):
        await start_or_undo(beginning(), undo=undo)

    assert undone == []
