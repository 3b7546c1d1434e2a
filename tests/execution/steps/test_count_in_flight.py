"""How many calls are in flight, while somebody watches."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.execution.made import DONE, Following, a_call, a_kit, a_target

from pegboard.core.result import ToolResult
from pegboard.errors import ToolFailed
from pegboard.execution.call_state import CallState
from pegboard.execution.steps.count_in_flight import count


async def test_calls_are_counted_while_they_run() -> None:
    seen: list[int] = []
    in_flight: dict[str, int] = {}

    async def following(_call: CallState) -> ToolResult:
        await asyncio.sleep(0)
        seen.append(in_flight["find"])
        return DONE

    handle = count(a_target(), a_kit(running_counts=in_flight), following)
    await asyncio.gather(*[handle(a_call()) for _ in range(3)])

    assert seen == [3, 2, 1]
    assert in_flight == {}


@pytest.mark.parametrize("error", [ToolFailed("no"), asyncio.CancelledError()], ids=repr)
async def test_a_call_that_fails_is_not_counted_for_ever(error: BaseException) -> None:
    in_flight: dict[str, int] = {}

    with pytest.raises(type(error)):
        await count(a_target(), a_kit(running_counts=in_flight), Following(error))(a_call())

    assert in_flight == {}


class Hesitating(dict[str, int]):
    """Lets other threads in between what is read and what is written."""

    def get(self, key: str, default: Any = None, /) -> Any:
        found = super().get(key, default)
        time.sleep(0.005)
        return found


def test_calls_of_several_threads_are_all_counted() -> None:
    in_flight, all_in, seen = Hesitating(), threading.Barrier(4), list[int]()

    async def following(_call: CallState) -> ToolResult:
        all_in.wait()
        seen.append(in_flight["find"])
        all_in.wait()
        return DONE

    handle = count(a_target(), a_kit(running_counts=in_flight), following)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(asyncio.run, [handle(a_call()) for _ in range(4)]))

    assert seen == [4, 4, 4, 4]
    assert in_flight == {}


async def test_a_count_that_got_lost_between_threads_breaks_no_call() -> None:
    in_flight: dict[str, int] = {}

    async def following(_call: CallState) -> ToolResult:
        in_flight.clear()
        return DONE

    assert await count(a_target(), a_kit(running_counts=in_flight), following)(a_call()) == DONE
    assert in_flight == {}


def test_while_nobody_watches_it_costs_nothing() -> None:
    following = Following()

    assert count(a_target(), a_kit(), following) is following
