import asyncio

import pytest
from tests.execution.made import a_kit

from pegboard.execution.wait_for_source import wait_for_source


async def test_who_is_there_is_not_waited_for() -> None:
    await wait_for_source(a_kit(coming=lambda _: None), "shop__find")


async def test_it_is_waited_until_somebody_knows() -> None:
    answered = asyncio.Event()
    waiting = asyncio.create_task(wait_for_source(a_kit(coming=lambda _: answered), "shop__find"))
    await asyncio.sleep(0.01)
    assert not waiting.done()

    answered.set()

    await waiting


@pytest.mark.parametrize("left", [0.02, -1.0], ids=["soon", "long ago"])
async def test_nobody_waits_beyond_the_deadline(left: float) -> None:
    never = asyncio.Event()
    kit = a_kit(coming=lambda _: never, monotonic=lambda: 100.0)

    await wait_for_source(kit, "shop__find", deadline=100.0 + left)

    assert not never.is_set()
