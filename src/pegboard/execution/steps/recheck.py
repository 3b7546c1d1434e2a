"""Recheck: a call that has waited is judged again: what was turned off meanwhile does not run."""

from collections.abc import Coroutine
from typing import Any

from pegboard.core.result import ToolResult
from pegboard.execution.call import Handler, Run
from pegboard.execution.judging import decide_again
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def recheck(target: Target, kit: Kit, following: Handler) -> Handler:
    """There for calls that may wait: for who has their key or makes their answer, or for a turn."""
    spec = target.spec
    is_shared = spec.cacheable and spec.cache_ttl > 0
    if not (target.keyed or is_shared or kit.policy.limits_for(spec)):
        return following

    def handle(call: Run) -> Coroutine[Any, Any, ToolResult]:
        decide_again(call, target, kit)
        return following(call)

    return handle
