"""Check output: what came back is wrapped, and held to what the tool promised."""

from pegboard.core.result import ToolResult
from pegboard.execution.call import Handler, Run
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def check_output(target: Target, kit: Kit, following: Handler) -> Handler:  # noqa: ARG001 - every step is built alike
    """Always there: `run` below gives the bare value."""
    finish = target.finish

    async def handle(call: Run) -> ToolResult:
        return finish(await following(call))

    return handle
