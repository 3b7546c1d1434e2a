"""Breaker: a source that keeps failing is left alone until a probe says that it is back."""

from pegboard.core.result import ToolResult
from pegboard.errors import PegboardError, Unavailable
from pegboard.execution.call import Handler, Run
from pegboard.execution.kit import Kit
from pegboard.execution.target import Target


def breaker(target: Target, kit: Kit, following: Handler) -> Handler:
    """There for tools of a source that has a breaker."""
    guard = kit.breakers.get(target.spec.source)
    if guard is None:
        return following

    async def handle(call: Run) -> ToolResult:
        probe = guard.enter()
        told = False
        try:
            result = await following(call)
            told = True
            guard.succeeded()
            return result
        except Unavailable:
            told = True
            guard.failed(probe=probe)
            raise
        except PegboardError:
            told = True
            guard.succeeded()  # an answer, though not a welcome one: the source is there
            raise
        finally:
            if not told:
                guard.gave_up(probe=probe)

    return handle
