"""Waiting for one of many tasks, again and again."""

import asyncio

from pegboard.concurrency.wait_any import TaskWaiter


async def test_the_first_that_ends_is_enough() -> None:
    watch, loop = TaskWaiter(), asyncio.get_running_loop()
    tasks: list[asyncio.Future[int]] = [loop.create_future() for _ in range(3)]
    waiting = asyncio.create_task(watch.one_of(tasks))
    await asyncio.sleep(0)
    assert not waiting.done()

    tasks[1].set_result(1)

    await waiting


async def test_what_has_ended_is_not_waited_for() -> None:
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    ended.set_result(None)

    await TaskWaiter().one_of([ended])
    await TaskWaiter().one_of([ended])


async def test_an_ear_that_is_set_is_enough() -> None:
    watch, ear = TaskWaiter(), asyncio.Event()
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    waiting = asyncio.create_task(watch.one_of([never], ear=ear))
    await asyncio.sleep(0)

    ear.set()

    await waiting


async def test_tasks_that_come_and_go_are_watched_only_while_they_are_there() -> None:
    watch, loop = TaskWaiter(), asyncio.get_running_loop()
    last: asyncio.Future[None] = loop.create_future()
    for _ in range(300):
        gone: asyncio.Future[None] = loop.create_future()
        waiting = asyncio.create_task(watch.one_of([gone, last]))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    waiting = asyncio.create_task(watch.one_of([last]))
    await asyncio.sleep(0)

    assert len(watch._known) < 100
    assert len(watch._waiting) == 1
    last.set_result(None)
    await waiting
