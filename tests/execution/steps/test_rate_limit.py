"""A call enters every bucket that names it, or none."""

import asyncio
from typing import Any

import pytest
from tests.execution.made import DONE, Following, a_call, a_kit, a_spec, a_target

from pegboard.access import Policy
from pegboard.core.result import ToolResult
from pegboard.core.tool import Limits
from pegboard.errors import RateLimited, ToolFailed
from pegboard.execution import CallDefaults
from pegboard.execution.call_state import CallState
from pegboard.execution.limits.limiters import Limiters
from pegboard.execution.steps.rate_limit import limit
from pegboard.testing import FakeClock

NOW_OR_NEVER = CallDefaults(max_wait=0)


def limits(**by_glob: Limits) -> Policy:
    return Policy(limits={glob.replace("_", "*"): item for glob, item in by_glob.items()})


async def test_a_slot_is_given_back_however_the_call_ends() -> None:
    kit = a_kit(policy=limits(_=Limits(concurrency=1)), settings=NOW_OR_NEVER)
    handle = limit(a_target(), kit, Following(ToolFailed("no"), asyncio.CancelledError(), DONE))
    for kind in (ToolFailed, asyncio.CancelledError):
        with pytest.raises(kind):
            await handle(a_call())

    assert await handle(a_call()) == DONE


async def test_tools_under_one_rule_share_its_turns(clock: FakeClock) -> None:
    kit = a_kit(
        clock=clock,
        policy=limits(_=Limits(rate=2)),
        limiters=Limiters(monotonic=clock.monotonic),
        settings=NOW_OR_NEVER,
    )
    first = limit(a_target(a_spec("a")), kit, Following())
    second = limit(a_target(a_spec("b")), kit, Following())
    await first(a_call())
    await second(a_call())

    with pytest.raises(RateLimited, match=r"'\*' is reached"):
        await first(a_call())


async def test_paths_of_one_tool_share_its_turns(clock: FakeClock) -> None:
    own, board = Limits(rate=1), Limits(rate=50)
    kit = a_kit(
        clock=clock,
        policy=Policy(limits={"find": board}),
        limiters=Limiters(monotonic=clock.monotonic),
        settings=NOW_OR_NEVER,
    )
    plain = limit(a_target(a_spec(limits=own)), kit, Following())
    keyed = limit(a_target(a_spec(limits=own), keyed=True), kit, Following())
    await plain(a_call())

    with pytest.raises(RateLimited):
        await keyed(a_call())


async def test_who_is_refused_by_one_rule_uses_nothing_of_the_others_up(clock: FakeClock) -> None:
    kit = a_kit(
        clock=clock,
        policy=limits(_=Limits(rate=3, concurrency=3), find=Limits(rate=1)),
        limiters=Limiters(monotonic=clock.monotonic),
        settings=NOW_OR_NEVER,
    )
    mine = limit(a_target(a_spec("find")), kit, Following())
    others = limit(a_target(a_spec("other")), kit, Following())
    await mine(a_call())
    for _ in range(9):
        with pytest.raises(RateLimited, match="'find'"):
            await mine(a_call())

    assert [await others(a_call()) for _ in range(2)] == [DONE, DONE]


async def test_who_is_cancelled_between_two_rules_gives_the_first_back() -> None:
    kit = a_kit(policy=limits(_=Limits(concurrency=2), f_=Limits(concurrency=1)))
    held = asyncio.Event()

    async def holds(_call: CallState) -> ToolResult:
        await held.wait()
        return DONE

    mine = limit(a_target(a_spec("find")), kit, holds)
    running = asyncio.create_task(mine(a_call()))
    await asyncio.sleep(0)
    waiting = asyncio.create_task(mine(a_call()))
    await asyncio.sleep(0.001)
    waiting.cancel()
    await asyncio.wait([waiting])

    other = limit(a_target(a_spec("other")), a_kit_like(kit, NOW_OR_NEVER), Following())
    assert await other(a_call()) == DONE
    held.set()
    assert await running == DONE


def a_kit_like(kit: Any, settings: CallDefaults) -> Any:
    return a_kit(policy=kit.policy, limiters=kit.limiters, settings=settings)


@pytest.mark.parametrize(
    ("longest_wait", "deadline"), [(0.005, None), (0.005, 60), (60, 0.005), (60, -5)], ids=str
)
async def test_the_wait_is_bounded_by_setting_and_deadline(
    clock: FakeClock, longest_wait: float, deadline: float | None
) -> None:
    kit = a_kit(
        clock=clock,
        policy=limits(_=Limits(concurrency=1)),
        settings=CallDefaults(max_wait=longest_wait),
    )
    bucket = kit.limiters.get("*", Limits(concurrency=1))
    await bucket.enter(0)
    end = None if deadline is None else clock.monotonic() + deadline

    with pytest.raises(RateLimited):
        await limit(a_target(), kit, Following())(a_call(deadline=end))


def test_a_tool_that_no_limit_names_pays_nothing() -> None:
    following = Following()
    kit = a_kit(policy=limits(crm_=Limits(rate=1)))

    assert limit(a_target(), kit, following) is following
