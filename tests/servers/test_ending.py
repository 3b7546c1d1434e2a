"""Ending what still runs."""

import asyncio

from pegboard.servers.ending import end, leave


async def test_work_is_cancelled_once_and_may_tidy_up() -> None:
    tidied: list[int] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            tidied.append(1)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    await end([task, None])

    assert task.cancelled()
    assert tidied == [1]


async def test_nothing_is_waited_for_where_nothing_runs() -> None:
    await end([])
    task = asyncio.create_task(asyncio.sleep(60))

    await leave()

    assert task.cancelled()
