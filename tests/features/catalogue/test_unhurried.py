import asyncio
import time

from pegboard.features.catalogue.unhurried import unhurried


async def test_others_get_their_turn_in_what_takes_long() -> None:
    turns: list[int] = []

    async def other() -> None:
        while True:
            turns.append(len(done))
            await asyncio.sleep(0)

    done: list[int] = []
    beside = asyncio.create_task(other())
    async for item in unhurried(range(60)):
        time.sleep(0.001)  # noqa: ASYNC251 - work that holds the loop
        done.append(item)
    beside.cancel()

    assert done == list(range(60))
    assert 3 <= len(turns) <= 30


async def test_what_is_quick_is_not_held_up() -> None:
    beside = asyncio.create_task(asyncio.sleep(0))

    assert [item async for item in unhurried("abc")] == ["a", "b", "c"]
    assert not beside.done()
    await beside
