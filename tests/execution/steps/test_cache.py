"""Who gets a cached answer: by tool, arguments and caller."""

import asyncio
from typing import Any

import pytest
from tests.execution.made import (
    ADA,
    BOB,
    DONE,
    Following,
    a_call,
    a_kit,
    a_spec,
    a_target,
    a_use,
)

from pegboard.core.result import ToolResult
from pegboard.errors import ToolTimeout
from pegboard.execution.call_state import CallState
from pegboard.execution.steps.cache import cache
from pegboard.testing import FakeClock

SPEC = a_spec(cacheable=True, cache_ttl=60)


async def test_the_same_question_runs_once_and_says_that_it_was_cached() -> None:
    following = Following()
    handle = cache(a_target(SPEC), a_kit(), following)
    first = a_call('{"a": 1, "b": "2"}', arguments={"a": 1, "b": 2})
    second = a_call({"b": 2, "a": 1.0}, arguments={"b": 2, "a": 1})

    results = [await handle(first), await handle(second)]

    assert results == [DONE, DONE]
    assert (first.cached, second.cached) == (False, True)
    assert following.calls == 1


@pytest.mark.parametrize(("shared", "runs"), [(False, 2), (True, 1)], ids=["apart", "shared"])
async def test_callers_are_kept_apart_unless_the_tool_says_otherwise(
    shared: bool, runs: int
) -> None:
    following = Following()
    spec = a_spec(cacheable=True, cache_per_principal=not shared)
    handle = cache(a_target(spec), a_kit(), following)

    await handle(a_call(principal=ADA))
    await handle(a_call(principal=BOB))

    assert following.calls == runs


@pytest.mark.parametrize(
    ("identity", "runs"), [("octocat", 1), ("hubot", 2)], ids=["the same", "another"]
)
async def test_an_answer_is_of_the_account_that_the_call_acts_with(
    identity: str, runs: int
) -> None:
    following = Following()
    handle = cache(a_target(SPEC), a_kit(), following)

    for name in ("octocat", identity):
        call = a_call()
        call.credential = a_use(identity=name)
        await handle(call)

    assert following.calls == runs


async def test_other_values_are_another_question() -> None:
    following = Following()
    handle = cache(a_target(SPEC), a_kit(), following)

    await handle(a_call(arguments={"a": 1}))
    await handle(a_call(arguments={"a": 2}))

    assert following.calls == 2


async def test_another_tool_of_the_same_name_has_answers_of_its_own() -> None:
    kit, first, second = a_kit(), Following(), Following(ToolResult(content="other"))
    await cache(a_target(SPEC), kit, first)(a_call())

    result = await cache(a_target(SPEC), kit, second)(a_call())

    assert result.text == "other"


async def test_who_waits_for_the_same_answer_stops_at_their_deadline(clock: FakeClock) -> None:
    landed = asyncio.Event()

    async def flies(_call: CallState) -> ToolResult:
        await landed.wait()
        return DONE

    handle = cache(a_target(SPEC), a_kit(clock=clock), flies)
    flyer = asyncio.create_task(handle(a_call()))
    await asyncio.sleep(0)
    waiting: Any = handle(a_call(deadline=clock.monotonic() + 0.005))

    with pytest.raises(ToolTimeout):
        await waiting

    landed.set()
    assert await flyer == DONE


@pytest.mark.parametrize("changes", [{"cacheable": False}, {"cache_ttl": 0}, {"cache_ttl": -1}])
def test_a_tool_that_is_not_cacheable_pays_nothing(changes: dict[str, Any]) -> None:
    following = Following()
    fields: dict[str, Any] = {"cacheable": True} | changes

    assert cache(a_target(a_spec(**fields)), a_kit(), following) is following
