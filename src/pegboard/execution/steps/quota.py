"""Quota: a call counts for its account and organisation, and is refused beyond what they may."""

from collections.abc import Coroutine
from typing import Any

from pegboard.core.result import ToolResult
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment


def quota(_target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """Where the board counts; a call of a caller without an account counts for nobody."""
    meter = environment.quotas
    if meter is None:
        return following

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        principal = call.ctx.principal
        if not principal.user or meter.count_call(principal):
            return following(call)
        return count_and_go_on(call)

    async def count_and_go_on(call: CallState) -> ToolResult:
        await meter.count_call_in_store(call.ctx.principal)
        return await following(call)

    return handle
