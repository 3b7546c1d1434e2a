"""Retries: what is repeated, how long is waited, and that each has time before the deadline."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.execution.made import (
    DONE,
    Following,
    a_call,
    a_kit,
    a_spec,
    a_target,
    in_virtual_time,
)

from pegboard.core.context import CallRetry, ToolContext
from pegboard.core.result import CallTry, ToolResult
from pegboard.core.tool import Effect, Retry
from pegboard.errors import (
    AccessDenied,
    InvalidRequest,
    PegboardError,
    RateLimited,
    ToolArgumentError,
    ToolFailed,
    ToolTimeout,
    Unavailable,
)
from pegboard.execution.call_state import CallState
from pegboard.execution.steps.retry import retry
from pegboard.testing import FakeClock

AT_ONCE = Retry(max_retries=2, backoff=0)


async def attempts(
    error: PegboardError, policy: Retry = AT_ONCE, *, call: CallState | None = None, **spec: Any
) -> int:
    """How often a tool that always fails so is tried."""
    following = Following(error)
    handle = retry(a_target(a_spec(retry=policy, **spec)), a_kit(), following)
    with pytest.raises(type(error)):
        await handle(call or a_call())
    return following.calls


DOWN = Unavailable("down")
UNTOUCHED = Unavailable("down", nothing_done=True)


@pytest.mark.parametrize(
    ("effect", "idempotent", "error", "expected"),
    [
        ("read", None, DOWN, 3),
        ("read", False, DOWN, 3),
        ("write", None, DOWN, 3),
        ("write", True, DOWN, 3),
        ("write", False, DOWN, 1),
        ("write", False, UNTOUCHED, 3),
        ("admin", None, DOWN, 3),
        ("admin", False, DOWN, 1),
        ("admin", False, UNTOUCHED, 3),
        ("read", None, ToolTimeout("late"), 3),
        ("write", False, ToolTimeout("late"), 1),
        ("read", None, ToolFailed("no"), 1),
        ("read", None, InvalidRequest("no"), 1),
        ("read", None, ToolArgumentError("find", ()), 1),
    ],
    ids=lambda value: str(value).replace(" ", "-"),
)
async def test_only_what_is_retryable_and_safe_to_repeat_is_tried_again(
    effect: str, idempotent: bool | None, error: PegboardError, expected: int
) -> None:
    assert await attempts(error, effect=Effect(effect), idempotent=idempotent) == expected


class Foreign(Exception):
    pass


def caused(error: PegboardError, cause: Exception) -> PegboardError:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("on", "error", "expected"),
    [
        (("tool_failed",), ToolFailed("no"), 3),
        (("tool_failed",), DOWN, 1),
        (("timeout", "unavailable"), DOWN, 3),
        ((ToolFailed,), ToolFailed("no"), 3),
        ((Foreign,), caused(ToolFailed("no"), Foreign()), 3),
        ((Foreign,), caused(ToolFailed("no"), ValueError()), 1),
        ((Foreign,), DOWN, 1),
        ((Unavailable,), RateLimited("wait"), 3),
        ((Exception,), AccessDenied("find", "no"), 1),
        (("arguments_invalid",), ToolArgumentError("find", ()), 1),
    ],
    ids=str,
)
async def test_codes_and_types_say_what_is_tried_again(
    on: tuple[str | type[Exception], ...], error: PegboardError, expected: int
) -> None:
    assert await attempts(error, Retry(max_retries=2, backoff=0, on=on)) == expected


async def test_an_answer_ends_the_attempts() -> None:
    following, call = Following(DOWN, DONE), a_call()

    result = await retry(a_target(a_spec(retry=AT_ONCE)), a_kit(), following)(call)

    assert (result, following.calls, call.attempts) == (DONE, 2, 2)


async def test_the_last_error_is_the_one_that_is_told() -> None:
    first, last = Unavailable("first"), Unavailable("last")
    handle = retry(
        a_target(a_spec(retry=Retry(max_retries=1, backoff=0))), a_kit(), Following(first, last)
    )

    with pytest.raises(Unavailable, match="last"):
        await handle(a_call())


async def test_the_attempts_stop_where_an_error_may_not_be_repeated() -> None:
    following = Following(DOWN, ToolFailed("no"), DONE)

    with pytest.raises(ToolFailed):
        await retry(a_target(a_spec(retry=AT_ONCE)), a_kit(), following)(a_call())

    assert following.calls == 2


async def test_a_call_is_cancelled_while_it_waits_for_its_next_attempt() -> None:
    handle = retry(a_target(a_spec(retry=Retry(backoff=60))), a_kit(), Following(DOWN))
    running = asyncio.ensure_future(handle(a_call()))
    await asyncio.sleep(0.001)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


async def test_what_is_turned_off_while_a_call_waits_is_not_tried_again() -> None:
    following, kit, call = Following(DOWN), a_kit(), a_call()
    handle = retry(a_target(a_spec(retry=Retry(backoff=0.01))), kit, following)
    running = asyncio.ensure_future(handle(call))
    await asyncio.sleep(0)
    kit.switches.turn_off(tool="find", reason="a fire")

    with pytest.raises(AccessDenied, match="a fire"):
        await running
    assert following.calls == 1
    assert call.decision is not None
    assert call.decision.rule == "switch.tool"


async def test_other_switches_do_not_stop_a_retry() -> None:
    following, kit = Following(DOWN, DONE), a_kit()
    kit.switches.turn_off(writes=True)

    assert await retry(a_target(a_spec(retry=AT_ONCE)), kit, following)(a_call()) == DONE


def waits(policy: Retry, *errors: PegboardError, random: float = 1.0) -> list[float]:
    """How long a call waits before each retry."""
    starts: list[float] = []

    async def work(clock: FakeClock) -> None:
        following = Following(*errors)

        async def timed(call: CallState) -> ToolResult:
            starts.append(clock.monotonic())
            return await following(call)

        kit = a_kit(clock=clock, random=lambda: random)
        with pytest.raises(PegboardError):
            await retry(a_target(a_spec(retry=policy)), kit, timed)(a_call())

    in_virtual_time(work)
    return [round(after - before, 6) for before, after in pairwise(starts)]


def test_the_wait_doubles_up_to_the_longest() -> None:
    policy = Retry(max_retries=5, backoff=0.5, max_backoff=3)

    assert waits(policy, DOWN) == [0.5, 1, 2, 3, 3]


def test_the_wait_is_spread_at_random_from_nothing_to_the_whole() -> None:
    policy = Retry(max_retries=2, backoff=0.5)

    assert waits(policy, DOWN, random=0.5) == [0.25, 0.5]
    assert waits(policy, DOWN, random=0.0) == [0, 0]


def test_an_error_that_says_when_to_come_back_is_not_retried_sooner() -> None:
    policy = Retry(max_retries=2, backoff=0.5)

    assert waits(policy, RateLimited("wait", retry_after=7)) == [7, 7]


def test_a_thousand_retries_are_a_number_too() -> None:
    policy = Retry(max_retries=1100, backoff=0.001, max_backoff=0.001)

    assert len(waits(policy, DOWN)) == 1100


@given(
    backoff=st.floats(0, 10),
    longest=st.floats(0, 30),
    retries=st.integers(1, 12),
    random=st.floats(0, 1, exclude_max=True),
    after=st.none() | st.floats(0, 5),
)
def test_every_wait_lies_between_what_was_asked_for_and_the_backoff(
    backoff: float, longest: float, retries: int, random: float, after: float | None
) -> None:
    policy = Retry(max_retries=retries, backoff=backoff, max_backoff=longest)

    found = waits(policy, Unavailable("down", retry_after=after), random=random)

    assert len(found) == retries
    for number, wait in enumerate(found):
        most = max(min(longest, backoff * 2**number), after or 0)
        assert (after or 0) - 1e-5 <= wait <= most + 1e-5


@given(
    retries=st.integers(1, 20),
    backoff=st.floats(0, 3),
    seconds=st.floats(0, 2),
    deadline=st.floats(0, 20),
    random=st.floats(0, 1, exclude_max=True),
    after=st.none() | st.floats(0, 5),
)
def test_retries_have_time_before_the_deadline(
    retries: int, backoff: float, seconds: float, deadline: float, random: float, after: float
) -> None:
    async def work(clock: FakeClock) -> tuple[list[float], float]:
        begin, starts = clock.monotonic(), list[float]()

        async def takes_time(_call: CallState) -> ToolResult:
            starts.append(clock.monotonic() - begin)
            clock.advance(seconds)
            raise Unavailable("down", retry_after=after)

        kit = a_kit(clock=clock, random=lambda: random)
        policy = Retry(max_retries=retries, backoff=backoff)
        with pytest.raises(Unavailable):
            await retry(a_target(a_spec(retry=policy)), kit, takes_time)(
                a_call(deadline=begin + deadline)
            )
        return starts, clock.monotonic() - begin

    starts, took = in_virtual_time(work)

    assert all(deadline - start > seconds / 2 - 1e-6 for start in starts[1:])
    assert took <= max(deadline, 0) + seconds + 1e-6
    assert len(starts) <= retries + 1


def test_without_a_retry_policy_there_is_no_step() -> None:
    following = Following()

    assert retry(a_target(), a_kit(), following) is following


def test_each_try_of_a_repeated_call_is_noted_with_its_time_and_error() -> None:
    async def work(clock: FakeClock) -> list[CallTry]:
        following = Following(Unavailable("down", retry_after=10), RateLimited("slow"), DONE)
        call = a_call(started=clock.monotonic(), started_at=500.0)
        kit = a_kit(clock=clock, random=lambda: 0.0)
        await retry(a_target(a_spec(retry=AT_ONCE)), kit, following)(call)
        return call.tries or []

    tries = in_virtual_time(work)

    assert [item.error_code for item in tries] == ["unavailable", "rate_limited", ""]
    assert [item.started_at for item in tries] == [500.0, 510.0, 510.0]


async def test_a_call_that_is_not_repeated_notes_no_tries() -> None:
    call = a_call()
    await retry(a_target(a_spec(retry=AT_ONCE)), a_kit(), Following(DONE))(call)

    assert call.tries is None


async def test_each_failed_try_that_another_one_follows_is_reported() -> None:
    told = list[CallRetry]()
    call = a_call()
    call.ctx = ToolContext(on_retry=told.append)
    await attempts(DOWN, Retry(max_retries=2, backoff=0), call=call)

    assert [(item.attempt, item.max_attempts, item.error_code) for item in told] == [
        (2, 3, "unavailable"),
        (3, 3, "unavailable"),
    ]
    assert {item.tool for item in told} == {call.name}
