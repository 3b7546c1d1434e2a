"""Count: the number of running calls by tool, for metrics."""

import threading

from pegboard.core.result import ToolResult
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment

_LOCK = threading.Lock()  # shared by the event loops of several threads


def count(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """Where the environment counts running calls."""
    in_flight, name = environment.running_counts, target.spec.name
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
