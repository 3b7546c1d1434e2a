"""Count: how many calls of a tool are in flight, for whoever watches."""

import threading

from pegboard.core.result import ToolResult
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment

_LOCK = threading.Lock()  # event loops in several threads count in one place


def count(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:
    """There while somebody watches."""
    in_flight, name = kit.in_flight, target.spec.name
    if in_flight is None:
        return following

    async def handle(call: CallState) -> ToolResult:
        with _LOCK:
            in_flight[name] = in_flight.get(name, 0) + 1
        try:
            return await following(call)
        finally:
            with _LOCK:
                left = in_flight.get(name, 0) - 1
                if left > 0:
                    in_flight[name] = left
                else:
                    in_flight.pop(name, None)

    return handle
