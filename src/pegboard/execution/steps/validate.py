"""Validate: the arguments are read, coerced and checked; a wrong call goes no further."""

from pegboard.core.result import ToolResult
from pegboard.execution.call import Handler, Run
from pegboard.execution.handles import fill_in, mentions_handle
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def validate(target: Target, kit: Kit, following: Handler) -> Handler:
    """Always there. Handles to stored results are replaced by what they stand for, first."""
    read, results, name = target.read, kit.results, target.spec.name

    async def handle(call: Run) -> ToolResult:
        raw = call.raw
        if mentions_handle(raw):
            raw = await fill_in(name, raw, results, call.owner)
        call.arguments = read(raw)
        return await following(call)

    return handle
