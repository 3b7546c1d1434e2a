"""The steps of a call, in order. A new step is one file and one line here.

A call passes down this list and its result comes back up: resolve, count, validate, trust, decide,
idempotency, credential, approve, cache, limit, recheck, quota, breaker, start, spend, retry,
deadline, run; then check output, shape, count, record.
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
from pegboard.execution.steps.credential import credential
from pegboard.execution.steps.deadline import deadline
from pegboard.execution.steps.idempotency import idempotency
from pegboard.execution.steps.journal_start import start
from pegboard.execution.steps.quota import quota
from pegboard.execution.steps.rate_limit import limit
from pegboard.execution.steps.record import record
from pegboard.execution.steps.retry import retry
from pegboard.execution.steps.run import check_output, run
from pegboard.execution.steps.shape_result import shape
from pegboard.execution.steps.trust import trust
from pegboard.execution.steps.validate import validate

Step = Callable[[CompiledTool, CallEnvironment, Handler], Handler]
"""Wraps the steps that follow; returns them unchanged for a tool that does not need the step."""

ORDER: tuple[Step, ...] = (
    record,  # outermost: every outcome below is recorded and becomes a result
    count,  # inside record: a call is in flight until it is recorded
    validate,  # before decide: rules see arguments of their declared types
    trust,  # before decide: rules ask whether the run has read untrusted text; outside all results
    decide,  # before anything that costs or stores something
    idempotency,  # before limits: a repeated call uses nothing up
    credential,  # a missing one uses no approval up, and approvers see whose account acts
    approve,  # people only see new calls that are valid and would be allowed
    shape,  # inside idempotency: a replay has the same handle; outside cache: handles have owners
    cache,  # a cached answer needs no turn, no breaker and no attempt
    limit,  # one turn per call: retries do not queue again
    recheck,  # after the waits; before the breaker, which counts a refusal as an answer
    quota,  # what is refused, cached or replayed uses nothing up; before the breaker, as recheck
    breaker,  # outside retry: it counts calls, not attempts
    start,  # after the waits: what is stored as started really starts
    spend,  # after every refusal; outside retry: one approval for all attempts
    retry,  # around single attempts
    deadline,  # each attempt has its own
    check_output,  # inside the cache: invalid output is never cached
    run,
)


def compile_path(target: CompiledTool, environment: CallEnvironment) -> Handler:
    """Compile the path of one tool: the steps that it needs, each calling the next."""
    path: Handler = _end
    for step in reversed(ORDER):
        path = step(target, environment, path)
    return path


async def _end(_call: CallState) -> ToolResult:
    raise AssertionError("run is the last step")
