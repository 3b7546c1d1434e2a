"""Ending what still runs."""

import asyncio

from pegboard.servers.shutdown import (
    cancel_and_wait,
    cut_off_error,
    exit_process,
    not_started_error,
)


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
    await cancel_and_wait([task, None])

    assert task.cancelled()
    assert tidied == [1]


async def test_nothing_is_waited_for_where_nothing_runs() -> None:
    await cancel_and_wait([])
    task = asyncio.create_task(asyncio.sleep(60))

    await exit_process()

    assert task.cancelled()


def test_only_what_was_not_begun_may_be_made_again() -> None:
    told = [
        (error.retryable, error.nothing_done) for error in (not_started_error(), cut_off_error())
    ]

    assert told == [(True, True), (False, False)]
