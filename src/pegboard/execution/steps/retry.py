"""Retry: only what is retryable, only where repeating is safe, and never past the deadline."""

import asyncio

from pegboard.core.result import ToolResult
from pegboard.core.tool import Retry
from pegboard.errors import CallerError, PegboardError
from pegboard.execution.call import Handler, Run
from pegboard.execution.kit import Kit
from pegboard.execution.repeating import did_nothing, is_repeatable
from pegboard.execution.steps.decide import decide_again
from pegboard.execution.target import Target

_MOST_DOUBLINGS = 64  # far beyond any wait, and still a number


def retry(target: Target, kit: Kit, following: Handler) -> Handler:
    """There for tools with a retry policy."""
    spec = target.spec
    policy = spec.retry
    if policy is None or policy.max_retries <= 0:
        return following

    repeatable = is_repeatable(spec)

    async def handle(call: Run) -> ToolResult:
        for retries in range(policy.max_retries):
            try:
                return await following(call)
            except PegboardError as error:
                if not _may_repeat(policy, error, repeatable=repeatable):
                    raise
                delay = _delay(policy, retries, error, kit)
                if call.deadline is not None and kit.monotonic() + delay >= call.deadline:
                    raise
            await asyncio.sleep(delay)
            decide_again(call, target, kit)
        return await following(call)

    return handle


def _may_repeat(policy: Retry, error: PegboardError, *, repeatable: bool) -> bool:
    if isinstance(error, CallerError) or not _is_named(policy, error):
        return False
    return repeatable or did_nothing(error)


def _is_named(policy: Retry, error: PegboardError) -> bool:
    if not policy.on:
        return error.retryable
    return any(
        error.code == item
        if isinstance(item, str)
        else isinstance(error, item) or isinstance(error.__cause__, item)
        for item in policy.on
    )


def _delay(policy: Retry, retries: int, error: PegboardError, kit: Kit) -> float:
    """Exponential backoff with full jitter, and never sooner than the error asks for."""
    longest = min(policy.max_backoff, policy.backoff * 2.0 ** min(retries, _MOST_DOUBLINGS))
    return max(kit.random() * longest, error.retry_after or 0.0)
