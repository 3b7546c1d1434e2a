import asyncio
from typing import Any

import pytest

from pegboard.core.memory import MemoryOutcomes
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import IdempotencyConflict
from pegboard.features.catalogue.once import Once


def once() -> Once:
    return Once(MemoryOutcomes(), now=lambda: 1.0)


async def test_a_key_gives_the_first_answer_to_whoever_used_it() -> None:
    done: list[int] = []

    async def work() -> dict[str, Any]:
        done.append(1)
        return {"count": len(done)}

    box = once()
    given: dict[str, Any] = {"what": "w", "request": {"a": 1}}
    first = await box.do(work, key="k", principal=LOCAL, **given)
    again = await box.do(work, key="k", principal=LOCAL, **given)
    other = await box.do(work, key="k", principal=Principal(id="o"), **given)
    without = await box.do(work, key="", principal=LOCAL, **given)

    assert [first["count"], again["count"], other["count"], without["count"]] == [1, 1, 2, 3]


async def test_a_key_in_use_is_refused_and_one_that_failed_is_free() -> None:
    box, go = once(), asyncio.Event()

    async def slow() -> dict[str, Any]:
        await go.wait()
        raise RuntimeError

    async def quick() -> dict[str, Any]:
        return {}

    given: dict[str, Any] = {"what": "w", "key": "k", "request": 1, "principal": LOCAL}
    other: dict[str, Any] = {**given, "request": 2}
    running = asyncio.create_task(box.do(slow, **given))
    await asyncio.sleep(0)
    with pytest.raises(IdempotencyConflict, match="has not ended"):
        await box.do(quick, **given)
    with pytest.raises(IdempotencyConflict, match="another request"):
        await box.do(quick, **other)
    go.set()
    with pytest.raises(RuntimeError):
        await running

    assert await box.do(quick, **given) == {}
