"""Run: the tool itself. What it raises becomes one of our errors here, and only here."""

import asyncio
from typing import Any

from pegboard.errors import PegboardError
from pegboard.execution.call import Handler, Run
from pegboard.execution.failures import translated
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def run(target: Target, kit: Kit, following: Handler) -> Handler:  # noqa: ARG001 - the last step follows nothing
    """Always there, innermost."""
    start, name, needs_context = target.run, target.spec.name, target.needs_context
    redact = kit.redact

    async def handle(call: Run) -> Any:
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
            raise translated(name, error) from error
        except BaseException as error:  # foreign code: a panic of an extension is no Exception
            raise translated(name, error) from error

    return handle
