"""Decide: may this caller do this; the answer and its reason go into the record."""

from collections.abc import Coroutine
from typing import Any

from pegboard.core.result import ToolResult
from pegboard.execution.authorization import authorize
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment


def decide(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:
    """Always there."""
    spec, policy, switches = target.spec, kit.policy, kit.switches

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        call.decision = authorize(call, spec, policy, switches)
        return following(call)

    return handle
