"""Circuit breaker: a source that keeps failing is not called until a probe succeeds."""

from pegboard.core.result import ToolResult
from pegboard.errors import HostUnavailable, Overloaded, PegboardError, ToolTimeout, Unavailable
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment

_FAIR_TIME = 1.0


def breaker(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """For tools of a source with a breaker."""
    guard = environment.breakers.get(target.spec.source)
    if guard is None:
        return following

    async def handle(call: CallState) -> ToolResult:
        began, probe = environment.monotonic(), guard.enter()
        is_decided = False
        try:
            result = await following(call)
            is_decided = True
            guard.record_success()
            return result
        except Unavailable as error:
            if error.is_about_caller:  # it is an answer: the source is there
                is_decided = True
                guard.record_success()
                raise
            is_decided = _is_about_the_source(
                error, call, environment.monotonic() - began, environment
            )
            if is_decided:
                guard.record_failure(probe=probe)
            raise
        except PegboardError:
            is_decided = call.attempts > 0  # a refused call says nothing about the source
            if is_decided:
                guard.record_success()  # an error is an answer too: the source is available
            raise
        finally:
            if not is_decided:
                guard.release_probe(probe=probe)

    return handle


def _is_about_the_source(
    error: Unavailable, call: CallState, took: float, environment: CallEnvironment
) -> bool:
    """Whether the error means that the source is unavailable.

    It does not when the tool was not started (its start could not be stored), when there was no
    thread for it, when an argument names a host that is away, or when the caller gave it less than
    a second: one impatient caller must not close the source for all.
    """
    if call.attempts == 0 or isinstance(error, HostUnavailable | Overloaded):
        return False
    if not isinstance(error, ToolTimeout) or took >= _FAIR_TIME:
        return True
    return call.deadline is None or environment.monotonic() < call.deadline
