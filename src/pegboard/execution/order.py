"""The steps of a call, in order. A new step is one file and one line here.

A call passes down this list and its result comes back up, so that the flow is: resolve, count,
validate, decide, idempotency, approve, (shape, on the way up), cache, limit, recheck, breaker,
start, spend, retry, deadline, run, check output, shape, count, record.
"""

from collections.abc import Callable

from pegboard.core.result import ToolResult
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.steps.approval import approve, spend
from pegboard.execution.steps.authorize import decide, recheck
from pegboard.execution.steps.cache import cache
from pegboard.execution.steps.circuit_breaker import breaker
from pegboard.execution.steps.count_in_flight import count
from pegboard.execution.steps.deadline import deadline
from pegboard.execution.steps.idempotency import idempotency
from pegboard.execution.steps.journal_start import start
from pegboard.execution.steps.rate_limit import limit
from pegboard.execution.steps.record import record
from pegboard.execution.steps.retry import retry
from pegboard.execution.steps.run import check_output, run
from pegboard.execution.steps.shape_result import shape
from pegboard.execution.steps.validate import validate

Step = Callable[[CompiledTool, CallEnvironment, Handler], Handler]
"""Builds its part of a tool's path around what follows; gives back what follows if not needed."""

ORDER: tuple[Step, ...] = (
    record,  # outermost: whatever happens below is recorded, and becomes a result
    count,  # inside record: what is in flight is what has begun and not been recorded
    validate,  # before decide: rules look at arguments that have their declared types
    decide,  # before anything that costs or keeps something
    idempotency,  # before limits: a repeated call gets its first outcome and uses nothing up
    approve,  # a person sees a call that is valid and would be allowed, and was not made before
    shape,  # inside idempotency: a replay has the same handle; outside cache: handles have owners
    cache,  # a cached answer needs no turn, no breaker and no attempt
    limit,  # one turn a call: its retries do not queue again
    recheck,  # after the waits; before the breaker, which would take a refusal for an answer
    breaker,  # outside retry: it counts calls that failed for good
    start,  # after the waits, before the first attempt: what is stored as started really starts
    spend,  # after all that may turn a call away; outside retry: one approval for all attempts
    retry,  # around single attempts
    deadline,  # each attempt has its own
    check_output,  # inside the cache: what breaks its promise is never an answer
    run,
)


def compile_path(target: CompiledTool, kit: CallEnvironment) -> Handler:
    """The path of one tool: only the steps that it needs, each knowing the next."""
    path: Handler = _end
    for step in reversed(ORDER):
        path = step(target, kit, path)
    return path


async def _end(_call: CallState) -> ToolResult:
    raise AssertionError("run is the last step")
