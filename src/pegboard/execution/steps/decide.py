"""Decide: may this caller do this; the answer and its reason go into the record."""

from collections.abc import Coroutine
from typing import Any

from pegboard.core.result import ToolResult
from pegboard.execution.call import Handler, Run
from pegboard.execution.judging import judged
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def decide(target: Target, kit: Kit, following: Handler) -> Handler:
    """Always there."""
    spec, policy, switches = target.spec, kit.policy, kit.switches

    def handle(call: Run) -> Coroutine[Any, Any, ToolResult]:
        call.decision = judged(call, spec, policy, switches)
        return following(call)

    return handle
