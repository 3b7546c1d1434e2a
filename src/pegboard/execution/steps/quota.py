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
        if (principal := call.ctx.principal).user:
            meter.count_call(principal)
        return following(call)

    return handle
