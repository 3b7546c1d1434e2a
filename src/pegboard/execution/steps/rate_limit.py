"""Limit: a call waits for its turn under each rate and concurrency rule that names it."""

from pegboard.core.result import ToolResult
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.limits.limiters import Limiter


def limit(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:
    """There for tools that a limit names; the wait is bounded by the deadline."""
    buckets = [kit.limiters.get(name, item) for name, item in kit.policy.limits_for(target.spec)]
    if not buckets:
        return following

    async def handle(call: CallState) -> ToolResult:
        await _enter_all(buckets, call, kit)
        try:
            return await following(call)
        finally:
            for bucket in buckets:
                bucket.leave()

    return handle


async def _enter_all(buckets: list[Limiter], call: CallState, kit: CallEnvironment) -> None:
    """Enter each, or none: a call that is refused by one uses nothing of the others up."""
    held: list[Limiter] = []
    try:
        for bucket in buckets:
            await bucket.enter(_longest_wait(call, kit))
            held.append(bucket)
    finally:
        if len(held) < len(buckets):
            for bucket in held:
                bucket.withdraw()


def _longest_wait(call: CallState, kit: CallEnvironment) -> float:
    if call.deadline is None:
        return kit.settings.longest_wait
    return min(kit.settings.longest_wait, max(0.0, call.deadline - kit.monotonic()))
