import asyncio
import sys

import pytest

from pegboard.concurrency.cooperative import iterate_cooperatively
from pegboard.testing import FakeClock


async def test_others_get_their_turn_in_what_takes_long(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[iterate_cooperatively.__module__], "time", clock)
    turns: list[int] = []

    async def other() -> None:
        while True:
            turns.append(len(done))
            await asyncio.sleep(0)

    done: list[int] = []
    beside = asyncio.create_task(other())
    async for item in iterate_cooperatively(range(60)):
        clock.advance(0.001)  # work that holds the loop
        done.append(item)
    beside.cancel()

    assert done == list(range(60))
    assert 7 <= len(turns) <= 13


async def test_what_is_quick_is_not_held_up(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[iterate_cooperatively.__module__], "time", clock)
    beside = asyncio.create_task(asyncio.sleep(0))

    assert [item async for item in iterate_cooperatively("abc")] == ["a", "b", "c"]
    assert not beside.done()
    await beside
