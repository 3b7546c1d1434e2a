"""Validate: the arguments are read, coerced and checked; a wrong call goes no further."""

from collections.abc import Coroutine
from typing import Any

from pegboard.core.result import ToolResult
from pegboard.execution.call import Handler, Run
from pegboard.execution.handles import fill_in, handle_parameters, mentions_handle
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def validate(target: Target, kit: Kit, following: Handler) -> Handler:
    """Always there. Handles to stored results are replaced by what they stand for, first."""
    read, results, name = target.read, kit.results, target.spec.name
    kept = handle_parameters(target.spec.input_schema)

    async def with_handles(call: Run) -> ToolResult:
        call.arguments = read(await fill_in(name, call.raw, results, call.owner, kept=kept))
        return await following(call)

    def handle(call: Run) -> Coroutine[Any, Any, ToolResult]:
        if mentions_handle(call.raw):
            return with_handles(call)
        call.arguments = read(call.raw)
        return following(call)

    return handle
