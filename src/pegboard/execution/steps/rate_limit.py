"""Limit: a call waits for its turn under each matching rate and concurrency rule."""

from pegboard.core.result import ToolResult
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.limits.limiters import Limiter


def limit(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """For tools that a limit matches; the deadline bounds the wait."""
    buckets = [
        environment.limiters.get(name, item)
        for name, item in environment.policy.limits_for(target.spec)
    ]
    if not buckets:
        return following

    async def handle(call: CallState) -> ToolResult:
        await _enter_all(buckets, call, environment)
        try:
            return await following(call)
        finally:
            for bucket in buckets:
                bucket.leave()

    return handle


async def _enter_all(buckets: list[Limiter], call: CallState, environment: CallEnvironment) -> None:
    """Enter every bucket or none: a call that one refuses uses nothing of the others."""
    held: list[Limiter] = []
    try:
        for bucket in buckets:
            await bucket.enter(_longest_wait(call, environment))
            held.append(bucket)
    finally:
        if len(held) < len(buckets):
            for bucket in held:
                bucket.withdraw()


def _longest_wait(call: CallState, environment: CallEnvironment) -> float:
    if call.deadline is None:
        return environment.settings.max_wait
    return min(environment.settings.max_wait, max(0.0, call.deadline - environment.monotonic()))
