"""Validate: the arguments are read, coerced and checked; a wrong call goes no further."""

from collections.abc import Coroutine
from typing import Any

from pegboard.core.result import ToolResult
from pegboard.errors import ToolArgumentError
from pegboard.execution.authorization import authorize
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.results.handles import fill_in, handle_parameters, mentions_handle


def validate(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:
    """Always there. Handles to stored results are replaced by what they stand for, first."""
    read, results, spec = target.read, kit.results, target.spec
    kept = handle_parameters(spec.input_schema)

    def refuse_denied(call: CallState) -> None:
        """What a tool wants is nothing for a caller who may not call it at all."""
        authorize(call, spec, kit.policy, kit.switches)

    async def with_handles(call: CallState) -> ToolResult:
        raw = await fill_in(spec.name, call.raw, results, call.owner, kept=kept)
        try:
            call.arguments = read(raw)
        except ToolArgumentError:
            refuse_denied(call)
            raise
        return await following(call)

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        if mentions_handle(call.raw):
            return with_handles(call)
        try:
            call.arguments = read(call.raw)
        except ToolArgumentError:
            refuse_denied(call)
            raise
        return following(call)

    return handle
