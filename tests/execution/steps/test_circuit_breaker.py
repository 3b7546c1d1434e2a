"""Which outcomes say that a source is not there, and that a probe always ends."""

import asyncio

import pytest
from tests.execution.made import DONE, Following, a_call, a_kit, a_spec, a_target

from pegboard.core.result import ToolResult
from pegboard.errors import (
    BreakerOpen,
    HostUnavailable,
    InvalidRequest,
    Overloaded,
    PegboardError,
    ToolFailed,
    ToolTimeout,
    Unavailable,
)
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.limits.breakers import Breaker, Breakers
from pegboard.execution.steps.circuit_breaker import breaker
from pegboard.testing import FakeClock

DOWN = Unavailable("down")


@pytest.fixture
def guard(clock: FakeClock) -> Breaker:
    return Breaker("shop", threshold=2, recovery=5, monotonic=clock.monotonic)


def built(guard: Breaker, clock: FakeClock, following: Handler) -> Handler:
    breakers = Breakers()
    breakers.add("shop", guard)
    kit = a_kit(breakers=breakers, clock=clock)
    return breaker(a_target(a_spec(source="shop")), kit, following)


async def outcome(handle: Handler, call: CallState | None = None) -> ToolResult | PegboardError:
    try:
        return await handle(call or a_call())
    except PegboardError as error:
        return error


async def test_a_source_that_is_down_is_left_alone_until_a_probe_succeeds(
    guard: Breaker, clock: FakeClock
) -> None:
    following = Following(DOWN, DOWN, DONE)
    handle = built(guard, clock, following)

    first = [await outcome(handle) for _ in range(2)]
    left_alone = await outcome(handle)
    clock.advance(5)
    probe = await outcome(handle)

    assert first == [DOWN, DOWN]
    assert isinstance(left_alone, BreakerOpen)
    assert probe == DONE
    assert guard.state == "closed"
    assert following.calls == 3


@pytest.mark.parametrize(
    "answer",
    [InvalidRequest("404"), ToolFailed("422"), ToolResult(content="no", is_error=True)],
    ids=["caller", "tool", "result"],
)
async def test_a_probe_that_is_answered_with_a_refusal_closes_it(
    guard: Breaker, clock: FakeClock, answer: ToolResult | PegboardError
) -> None:
    handle = built(guard, clock, Following(DOWN, DOWN, answer, DONE))
    for _ in range(2):
        await outcome(handle)
    clock.advance(5)

    assert await outcome(handle) == answer
    assert guard.state == "closed"
    assert await outcome(handle) == DONE


@pytest.mark.parametrize(
    "error", [asyncio.CancelledError(), ValueError("a bug"), KeyboardInterrupt()], ids=repr
)
async def test_a_probe_that_ends_without_an_answer_leaves_room_for_the_next(
    guard: Breaker, clock: FakeClock, error: BaseException
) -> None:
    handle = built(guard, clock, Following(DOWN, DOWN, error, DONE))
    for _ in range(2):
        await outcome(handle)
    clock.advance(5)
    with pytest.raises(type(error)):
        await handle(a_call())

    assert guard.state == "half_open"
    assert await outcome(handle) == DONE
    assert guard.state == "closed"


async def test_a_probe_that_is_cancelled_from_outside_leaves_room_for_the_next(
    guard: Breaker, clock: FakeClock
) -> None:
    async def hangs(_call: CallState) -> ToolResult:
        await asyncio.sleep(60)
        return DONE

    for _ in range(2):
        guard.record_failure(probe=False)
    clock.advance(5)
    probe = asyncio.create_task(outcome(built(guard, clock, hangs)))
    await asyncio.sleep(0.001)
    probe.cancel()
    await asyncio.wait([probe])

    assert await outcome(built(guard, clock, Following())) == DONE


@pytest.mark.parametrize("error", [Overloaded("no thread"), HostUnavailable("away")])
async def test_our_lack_of_threads_or_a_callers_bad_address_says_nothing_of_the_source(
    guard: Breaker, clock: FakeClock, error: Unavailable
) -> None:
    handle = built(guard, clock, Following(error))
    for _ in range(5):
        await outcome(handle, a_call(attempts=1))

    assert guard.state == "closed"


@pytest.mark.parametrize(
    ("seconds", "deadline", "state"),
    [(0.1, 0.1, "closed"), (1.0, 1.0, "open"), (0.1, 60, "open"), (0.1, None, "open")],
    ids=["hurried", "waited fairly", "the attempt's own time", "no deadline"],
)
async def test_only_a_timeout_that_was_fair_says_that_the_source_is_down(
    guard: Breaker, clock: FakeClock, seconds: float, deadline: float | None, state: str
) -> None:
    async def too_late(_call: CallState) -> ToolResult:
        clock.advance(seconds)
        raise ToolTimeout("late")

    handle = built(guard, clock, too_late)
    for _ in range(2):
        end = None if deadline is None else clock.monotonic() + deadline
        await outcome(handle, a_call(deadline=end, attempts=1))

    assert guard.state == state


def test_a_source_without_a_breaker_pays_nothing() -> None:
    following = Following()

    assert breaker(a_target(), a_kit(), following) is following


async def test_a_call_whose_tool_was_not_started_says_nothing_of_its_source(
    guard: Breaker, clock: FakeClock
) -> None:
    async def full(_call: CallState) -> ToolResult:
        raise Unavailable("the storage is full")

    handle = built(guard, clock, full)
    refused = [await outcome(handle) for _ in range(5)]

    assert {str(error) for error in refused} == {"the storage is full"}
    assert guard.state == "closed"


async def test_a_refused_credential_of_one_caller_leaves_the_source_to_the_others(
    guard: Breaker, clock: FakeClock
) -> None:
    refused = Unavailable("the server requires authentication", permanent=True)
    refused.is_about_caller = True
    call = a_call()
    call.attempts = 1
    handle = built(guard, clock, Following(refused, refused, refused, DONE))

    found = [await outcome(handle, call) for _ in range(4)]

    assert found == [refused, refused, refused, DONE]
    assert guard.state == "closed"
