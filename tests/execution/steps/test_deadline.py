"""An attempt ends at its deadline; who asked for the cancellation is never mixed up."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.execution.made import DONE, Following, a_call, a_kit, a_spec, a_target, in_virtual_time

from pegboard.concurrency.thread_pool import ThreadPool
from pegboard.core.result import ToolResult
from pegboard.core.tool import Effect, Retry
from pegboard.errors import ToolFailed, ToolTimeout
from pegboard.execution import CallDefaults
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.errors_for_readers import make_failed_result
from pegboard.execution.steps.deadline import TICK, deadline
from pegboard.testing import FakeClock


def built(
    following: Callable[[CallState], Awaitable[ToolResult]],
    *,
    timeout: float | None = None,
    **kit: Any,
) -> Handler:
    given: Any = following
    return deadline(a_target(a_spec(timeout=timeout)), a_kit(**kit), given)


async def sleeps(_call: CallState) -> ToolResult:
    await asyncio.sleep(60)
    return DONE


@pytest.mark.parametrize("seconds", [0.001, 0.01, 0.05], ids=str)
def test_an_attempt_ends_at_its_timeout(seconds: float) -> None:
    async def work(clock: FakeClock) -> tuple[ToolTimeout, float]:
        begin = clock.monotonic()
        with pytest.raises(ToolTimeout) as caught:
            await built(sleeps, timeout=seconds, clock=clock)(a_call())
        return caught.value, clock.monotonic() - begin

    late, took = in_virtual_time(work)

    assert seconds <= took + 1e-6 <= seconds + TICK + 1e-3
    assert str(late) == f"'find' did not end within {seconds:.3g} s."
    assert not late.nothing_done


def raises(error: Exception) -> Handler:
    async def following(_call: CallState) -> ToolResult:
        raise error

    return following


@pytest.mark.parametrize(
    ("changes", "invites"),
    [
        ({"effect": Effect.WRITE}, False),
        ({"effect": Effect.WRITE, "retry": Retry(), "idempotent": False}, False),
        ({"effect": Effect.WRITE, "idempotent": True}, True),
        ({"effect": Effect.WRITE, "retry": Retry()}, True),
        ({"effect": Effect.READ}, True),
    ],
)
@pytest.mark.parametrize("following", [sleeps, raises(ToolTimeout("It took too long."))])
async def test_nobody_is_invited_to_repeat_a_write_that_may_have_taken_effect(
    following: Any, changes: dict[str, Any], invites: bool
) -> None:
    step = deadline(a_target(a_spec(timeout=0.01, **changes)), a_kit(), following)

    with pytest.raises(ToolTimeout) as caught:
        await step(a_call())

    assert caught.value.retryable is invites
    assert ("Whether it took effect is unknown" in str(caught.value)) is not invites
    assert ("try again" in make_failed_result(caught.value).text) is invites


async def test_a_write_that_says_it_did_nothing_in_its_time_may_be_tried_again() -> None:
    error = ToolTimeout("It never began.", nothing_done=True)
    step = deadline(a_target(a_spec(effect=Effect.WRITE, timeout=1)), a_kit(), raises(error))

    with pytest.raises(ToolTimeout) as caught:
        await step(a_call())

    assert caught.value is error


async def test_the_end_of_the_call_ends_the_attempt_before_its_timeout(clock: FakeClock) -> None:
    call = a_call(deadline=clock.monotonic() + 0.01)

    with pytest.raises(ToolTimeout, match=r"within 0\.01 s"):
        await built(sleeps, timeout=60, clock=clock)(call)


@pytest.mark.parametrize("late", [0.0, 5.0])
async def test_an_attempt_whose_time_is_up_is_not_started(late: float) -> None:
    following = Following()

    with pytest.raises(ToolTimeout, match="was not started") as caught:
        await built(following)(a_call(deadline=time.monotonic() - late))

    assert following.calls == 0
    assert caught.value.nothing_done


@pytest.mark.parametrize(
    ("own", "setting", "deadline", "until"),
    [
        (None, 60, None, 60),
        (5, 60, None, 5),
        (5, 60, 3, 3),
        (None, 60, 90, 60),
        (0, 60, 90, 90),
        (None, 0, 90, 90),
    ],
    ids=["default", "own", "the call's", "default before the call's", "none", "no default"],
)
async def test_the_nearest_end_holds_and_the_tool_is_told(
    clock: FakeClock,
    own: float | None,
    setting: float,
    deadline: float | None,
    until: float,
) -> None:
    now = clock.monotonic()
    call = a_call(deadline=None if deadline is None else now + deadline)
    kit: dict[str, Any] = {"clock": clock, "settings": CallDefaults(attempt_timeout=setting)}

    assert await built(Following(), timeout=own, **kit)(call) == DONE
    assert call.attempt_deadline == now + until
    assert call.context().deadline == now + until


async def test_without_any_limit_there_is_no_deadline() -> None:
    call = a_call()

    assert await built(Following(), timeout=0)(call) == DONE
    assert call.context().deadline is None


def test_a_tool_that_swallows_one_cancellation_is_cancelled_again() -> None:
    swallowed: list[float] = []

    async def work(clock: FakeClock) -> float:
        async def stubborn(_call: CallState) -> ToolResult:
            while not swallowed:
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    swallowed.append(clock.monotonic())
            await asyncio.sleep(60)
            return DONE

        with pytest.raises(ToolTimeout):
            await built(stubborn, timeout=0.01, clock=clock)(a_call())
        assert current().cancelling() == 0
        return clock.monotonic()

    assert in_virtual_time(work) - swallowed[0] < 2


async def test_a_late_answer_is_an_answer_and_leaves_the_task_alone() -> None:
    async def late(_call: CallState) -> ToolResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return DONE
        raise AssertionError("never reached")

    assert await built(late, timeout=0.001)(a_call()) == DONE
    assert current().cancelling() == 0
    await asyncio.sleep(0.001)


async def test_an_error_on_the_way_out_is_told_and_leaves_the_task_alone() -> None:
    async def fails_late(_call: CallState) -> ToolResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise ToolFailed("half of it is done") from None
        raise AssertionError("never reached")

    with pytest.raises(ToolFailed, match="half of it"):
        await built(fails_late, timeout=0.001)(a_call())
    assert current().cancelling() == 0


async def test_a_cancellation_from_outside_is_not_a_timeout() -> None:
    running = asyncio.create_task(work(built(sleeps, timeout=60)))
    await asyncio.sleep(0.001)
    running.cancel()

    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_cancellation_from_outside_wins_over_a_timeout_at_the_same_time() -> None:
    async def waits(_call: CallState) -> ToolResult:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            running.cancel()
            raise
        raise AssertionError("never reached")

    running = asyncio.create_task(work(built(waits, timeout=0.001)))

    with pytest.raises(asyncio.CancelledError):
        await running


async def test_the_callers_own_timeout_is_told_apart_from_ours() -> None:
    with pytest.raises(TimeoutError) as caught:
        async with asyncio.timeout(0.01):
            await built(sleeps, timeout=60)(a_call())

    assert not isinstance(caught.value, ToolTimeout)
    with pytest.raises(ToolTimeout):
        async with asyncio.timeout(60):
            await built(sleeps, timeout=0.01)(a_call())


async def test_a_timeout_while_the_caller_cleans_up_after_being_cancelled_is_a_timeout() -> None:
    outcomes: list[BaseException | ToolResult] = []

    async def cleans_up() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            try:
                outcomes.append(await built(sleeps, timeout=0.001)(a_call()))
            except (ToolTimeout, asyncio.CancelledError) as error:
                outcomes.append(error)

    running = asyncio.create_task(cleans_up())
    await asyncio.sleep(0.001)
    running.cancel()
    await asyncio.wait([running])

    assert [type(outcome) for outcome in outcomes] == [ToolTimeout]
    assert running.cancelled()


async def test_a_call_within_a_call_is_cut_off_with_it() -> None:
    inner = built(sleeps, timeout=60)

    async def outer(call: CallState) -> ToolResult:
        return await inner(a_call(deadline=call.attempt_deadline))

    with pytest.raises(ToolTimeout):
        await built(outer, timeout=0.01)(a_call())
    assert current().cancelling() == 0


def test_calls_of_one_loop_end_each_at_their_own_time() -> None:
    async def work(clock: FakeClock) -> list[tuple[float, float]]:
        begin, ended = clock.monotonic(), list[tuple[float, float]]()

        async def one(seconds: float) -> None:
            with pytest.raises(ToolTimeout):
                await built(sleeps, timeout=seconds, clock=clock)(a_call())
            ended.append((seconds, round(clock.monotonic() - begin, 1)))

        await asyncio.gather(*[one(seconds) for seconds in (3, 1.5, 0.01)])
        return ended

    assert in_virtual_time(work) == [(0.01, 0.0), (1.5, 1.5), (3, 3.0)]


def test_with_a_clock_of_its_own_a_kit_times_by_it() -> None:
    async def work(clock: FakeClock) -> tuple[str, float]:
        begin = clock.monotonic()
        try:
            await built(sleeps, timeout=2, clock=clock)(a_call())
        except ToolTimeout as error:
            return str(error), clock.monotonic() - begin
        raise AssertionError("never reached")

    message, took = in_virtual_time(work)

    assert message == "'find' did not end within 2 s."
    assert 2 <= took < 2.1


async def test_a_clock_that_is_far_from_the_machines_ends_nothing_early(clock: FakeClock) -> None:
    async def takes_a_while(_call: CallState) -> ToolResult:
        await asyncio.sleep(0.05)
        return DONE

    assert await built(takes_a_while, timeout=60, clock=clock)(a_call()) == DONE


async def work(handle: Handler) -> ToolResult:
    return await handle(a_call())


def current() -> "asyncio.Task[Any]":
    task = asyncio.current_task()
    assert task is not None
    return task


async def test_a_write_that_never_had_a_thread_was_not_started() -> None:
    pool, gate = ThreadPool(size=1), threading.Event()

    async def in_pool(_call: CallState) -> ToolResult:
        return await pool.run(gate.wait, owner="")

    spec = a_spec(effect=Effect.WRITE, timeout=0.05)
    target: Any = a_target(spec)
    target.tool.is_async = False
    handle = deadline(target, a_kit(), in_pool)
    with pytest.raises(ToolTimeout) as running:
        await handle(a_call())
    pool.most_abandoned, pool.size = 1_000, 0
    with pytest.raises(ToolTimeout) as waiting:
        await handle(a_call())
    gate.set()

    assert "Whether it took effect is unknown" in str(running.value)
    assert str(waiting.value) == "'find' was not started: no thread was free within 0.05 s."
    assert waiting.value.nothing_done
    assert waiting.value.retryable
