"""Waiting for what the board itself keeps: while it is away, no tool is to blame."""

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec import structs

from pegboard.core.context import ToolContext
from pegboard.core.result import ToolResult
from pegboard.errors import IdempotencyInProgress, StoreUnavailable
from pegboard.graphs.engine.node_execution import NodeExecution

_FIRST = 1.0
_LONGEST = 5.0
"""Seconds between tries: as often as a run is taken up whose own store is away."""


class StoreRetry:
    """How long one node waits for the stores of its board, over all the calls that it makes.

    Until its deadline; without one for as long as a call may take with its waits. A graph that has
    stopped begins nothing more; one whose play is broken off by the same store waits on, or else
    the failure would be what is recorded of the node when the store is back.

    Args:
        doing: The node.
        repeatable: Whether doing what it does twice is as good as once.
    """

    def __init__(self, doing: NodeExecution, *, repeatable: bool) -> None:
        session = doing.session
        self._is_repeatable = repeatable
        self._count = 0
        longest = session.board.kit.settings.call_timeout
        self._doing = doing
        self._until = doing.deadline
        if self._until is None and longest:
            self._until = session.monotonic() + longest

    async def call(
        self, name: str, arguments: Mapping[str, Any], ctx: ToolContext[Any]
    ) -> ToolResult:
        """Call a tool, and again while the call cannot begin.

        It cannot while the board cannot store that it starts, or while another server, which had
        the run before, still holds its key. Neither is a failure of the tool.
        """
        board = self._doing.session.board
        result, pause = await board.call(name, arguments, self._keyed(ctx)), _FIRST
        while _is_not_begun(result) and self._is_left(pause):
            await asyncio.sleep(pause)
            if self._doing.scope.stopped and not self._doing.session.broken_off:
                break
            if isinstance(result.error, StoreUnavailable):
                pause = min(2 * pause, _LONGEST)
                self._count += 1
            result = await board.call(name, arguments, self._keyed(ctx))
        return result

    def _keyed(self, ctx: ToolContext[Any]) -> ToolContext[Any]:
        """Under a key that no call has which was not begun.

        Where nothing can be stored its key may stay taken, as if by a call that was cut off; what
        may be repeated takes it over, and so has one key in all plays.
        """
        if self._is_repeatable or not self._count:
            return ctx
        return structs.replace(ctx, idempotency_key=f"{ctx.idempotency_key}:w{self._count}")

    def _is_left(self, pause: float) -> bool:
        return self._until is None or self._doing.session.monotonic() + pause < self._until


def _is_not_begun(result: ToolResult) -> bool:
    error = result.error
    is_held_up = isinstance(error, StoreUnavailable | IdempotencyInProgress) and error.retryable
    return is_held_up and not result.meta.attempts
