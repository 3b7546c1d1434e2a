"""Run: the tool itself, and the check of what it returns.

A foreign exception becomes one of our errors here, and nowhere else.
"""

import asyncio
from typing import Any

from pegboard.core.result import ToolResult
from pegboard.errors import PegboardError
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.errors_for_readers import translate_error


def check_output(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:  # noqa: ARG001 - every step is built alike
    """Always there: wraps the bare value that `run` gives, and checks it against the schema."""
    finish = target.finish

    async def handle(call: CallState) -> ToolResult:
        return finish(await following(call))

    return handle


def run(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:  # noqa: ARG001 - the last step follows nothing
    """Always there, innermost."""
    start, name, needs_context = target.run, target.spec.name, target.needs_context
    redact = environment.redact

    async def handle(call: CallState) -> Any:
        call.attempts += 1
        try:
            ctx = call.context(redact) if needs_context else call.ctx
            return await start(call.arguments, ctx)
        except (PegboardError, KeyboardInterrupt, GeneratorExit):
            raise
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is None or task.cancelling() > call.cancelling:
                raise
            raise translate_error(name, error) from error
        except BaseException as error:  # foreign code: a panic of an extension is no Exception
            raise translate_error(name, error) from error

    return handle
