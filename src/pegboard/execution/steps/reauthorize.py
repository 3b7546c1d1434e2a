"""Recheck: a call that has waited is judged again: what was turned off meanwhile does not run."""

from collections.abc import Coroutine
from typing import Any

from pegboard.core.result import ToolResult
from pegboard.execution.authorization import reauthorize
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment


def recheck(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:
    """There for calls that may wait: for who has their key or makes their answer, or for a turn."""
    spec = target.spec
    is_shared = spec.cacheable and spec.cache_ttl > 0
    if not (target.keyed or is_shared or kit.policy.limits_for(spec)):
        return following

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        reauthorize(call, target, kit)
        return following(call)

    return handle
