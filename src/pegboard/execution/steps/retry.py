"""Retry: only what is retryable, only where repeating is safe, and never past the deadline."""

import asyncio

from pegboard.core.result import ToolResult
from pegboard.errors import PegboardError
from pegboard.execution.call import Handler, Run
from pegboard.execution.judging import decide_again
from pegboard.execution.kit import Kit
from pegboard.execution.repeating import delay_before, is_repeatable, may_repeat
from pegboard.execution.target import Target


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
                if not may_repeat(policy, error, repeatable=repeatable):
                    raise
                delay = delay_before(policy, retries, error, kit.random())
                if call.deadline is not None and kit.monotonic() + delay >= call.deadline:
                    raise
            await asyncio.sleep(delay)
            decide_again(call, target, kit)
        return await following(call)

    return handle
