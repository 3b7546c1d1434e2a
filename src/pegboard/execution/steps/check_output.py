"""Check output: what came back is wrapped, and held to what the tool promised."""

from pegboard.core.result import ToolResult
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment


def check_output(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:  # noqa: ARG001 - every step is built alike
    """Always there: `run` below gives the bare value."""
    finish = target.finish

    async def handle(call: CallState) -> ToolResult:
        return finish(await following(call))

    return handle
