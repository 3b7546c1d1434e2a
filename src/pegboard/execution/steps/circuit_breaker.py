"""Breaker: a source that keeps failing is left alone until a probe says that it is back."""

from pegboard.core.result import ToolResult
from pegboard.errors import HostUnavailable, Overloaded, PegboardError, ToolTimeout, Unavailable
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment

_FAIR_TIME = 1.0


def breaker(target: CompiledTool, kit: CallEnvironment, following: Handler) -> Handler:
    """There for tools of a source that has a breaker."""
    guard = kit.breakers.get(target.spec.source)
    if guard is None:
        return following

    async def handle(call: CallState) -> ToolResult:
        began, probe = kit.monotonic(), guard.enter()
        told = False
        try:
            result = await following(call)
            told = True
            guard.succeeded()
            return result
        except Unavailable as error:
            told = _is_about_the_source(error, call, kit.monotonic() - began, kit)
            if told:
                guard.failed(probe=probe)
            raise
        except PegboardError:
            told = call.attempts > 0  # a call that was turned away before tells nothing
            if told:
                guard.succeeded()  # an answer, though not a welcome one: the source is there
            raise
        finally:
            if not told:
                guard.gave_up(probe=probe)

    return handle


def _is_about_the_source(
    error: Unavailable, call: CallState, took: float, kit: CallEnvironment
) -> bool:
    """Whether it says that the source is not there.

    It does not when the tool was not started, as where its start cannot be stored, when we had no
    thread for it, when a caller named a host that is away, or when a hurried caller gave it less
    than a second: otherwise one such caller would close the source for all.
    """
    if call.attempts == 0 or isinstance(error, HostUnavailable | Overloaded):
        return False
    if not isinstance(error, ToolTimeout) or took >= _FAIR_TIME:
        return True
    return call.deadline is None or kit.monotonic() < call.deadline
