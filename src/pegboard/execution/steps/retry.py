"""Retry: only retryable errors, only where repeating is safe, and never past the deadline."""

import asyncio

from pegboard.core.result import ToolResult
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
        for retries in range(policy.max_retries):
            try:
                return await following(call)
            except PegboardError as error:
                if not may_repeat(policy, error, repeatable=repeatable):
                    raise
                delay = delay_before(policy, retries, error, environment.random())
                if call.deadline is not None and environment.monotonic() + delay >= call.deadline:
                    raise
            await asyncio.sleep(delay)
            reauthorize(call, target, environment)
        return await following(call)

    return handle
