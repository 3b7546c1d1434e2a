"""Retry: only retryable errors, only where repeating is safe, and while there is time for it."""

import asyncio

from pegboard.core.context import CallRetry
from pegboard.core.result import CallTry, ToolResult
from pegboard.core.tool import Retry
from pegboard.errors import PegboardError
from pegboard.execution.authorization import reauthorize
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.retry_rules import delay_before, is_repeatable, may_repeat


def retry(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """For tools with a retry policy."""
    spec = target.spec
    policy = spec.retry
    if policy is None or policy.max_retries <= 0:
        return following

    repeatable = is_repeatable(spec)

    async def handle(call: CallState) -> ToolResult:
        began = call.started
        for retries in range(policy.max_retries + 1):
            try:
                result = await following(call)
            except PegboardError as error:
                _note(call, environment, began, error)
                if retries == policy.max_retries:
                    raise
                if not may_repeat(policy, error, repeatable=repeatable):
                    raise
                delay = delay_before(policy, retries, error, environment.random())
                if not _is_time_left(call, environment, began, delay):
                    raise
                _report(call, policy, retries, error, delay)
            else:
                if call.tries is not None:
                    _note(call, environment, began)
                return result
            await asyncio.sleep(delay)
            reauthorize(call, target, environment)
            began = environment.monotonic()
        raise AssertionError  # the last try returns or raises

    return handle


def _is_time_left(
    call: CallState, environment: CallEnvironment, began: float, delay: float
) -> bool:
    """Whether the next attempt would have at least half the time that the last one took.

    With less it would only replace the error of the last attempt by a timeout.
    """
    if call.deadline is None:
        return True
    now = environment.monotonic()
    return call.deadline - (now + delay) > (now - began) / 2


def _report(
    call: CallState, policy: Retry, retries: int, error: PegboardError, delay: float
) -> None:
    """Report to the caller that another try follows."""
    if call.ctx.on_retry is not None:
        call.ctx.on_retry(
            CallRetry(
                call_id=call.id,
                tool=call.name,
                attempt=retries + 2,
                max_attempts=policy.max_retries + 1,
                delay=delay,
                error_code=error.code,
            )
        )


def _note(
    call: CallState,
    environment: CallEnvironment,
    began: float,
    error: PegboardError | None = None,
) -> None:
    """Add a try to those of the call; the first one began with the call."""
    made = CallTry(
        started_at=call.started_at + began - call.started,
        duration_ms=round((environment.monotonic() - began) * 1000, 3),
        error_code="" if error is None else error.code,
    )
    call.tries = [*(call.tries or ()), made]
