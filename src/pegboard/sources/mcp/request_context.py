"""The context of one request to a server: the call it belongs to, and its transport error."""

import asyncio
import time
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import Any, TypeVar

from pegboard.core.context import ToolContext
from pegboard.core.elicitation import (
    Answer,
    LogLevel,
    Question,
    Sample,
    SampleRequest,
    is_timed,
)
from pegboard.errors import PegboardError

T = TypeVar("T")

CURRENT: ContextVar["RequestContext | None"] = ContextVar("pegboard_mcp_exchange", default=None)
"""The request that runs now. What comes back on its HTTP stream runs in the same context, so that a
question of the server finds its call."""


class RequestContext:
    """One request, for the connection that carries it; made on the event loop of its call.

    Attributes:
        ctx: The call; None for a request of the board itself, such as a list.
        fault: The error of the HTTP client or of the status; None when there was none.
        limit: The time limit of opening the connection; None for no such request.
        is_opening: Whether the connection is being made: then a fault ends it at once.
    """

    def __init__(
        self, ctx: ToolContext[Any] | None, *, timeout: float | None = None, opening: bool = False
    ) -> None:
        self.ctx = ctx
        self.is_opening = opening
        self.fault: PegboardError | None = None
        self.limit: asyncio.Timeout | None = None
        self._loop = asyncio.get_running_loop()
        self._asked = 0.0  # seconds for which somebody was asked, in which no time passes
        self._deadline = None if timeout is None else time.monotonic() + timeout

    def remaining(self) -> float | None:
        """The seconds left for the request; None for no limit."""
        if self._deadline is not None:
            return max(0.0, self._deadline - time.monotonic())
        if self.ctx is None or self.ctx.deadline is None:
            return None
        return max(0.0, self.ctx.deadline + self._asked - time.monotonic())

    async def ask(self, question: Question) -> Answer | None:
        """Ask the person behind the call; None when nobody can be asked."""
        ctx = self.ctx
        if ctx is None or ctx.elicitor is None or not ctx.elicitor.takes_questions:
            return None
        return await self._pause(ctx.ask(question))

    async def sample(self, request: SampleRequest) -> Sample | None:
        """Ask the caller's model; None when there is none."""
        ctx = self.ctx
        if ctx is None or ctx.elicitor is None or not ctx.elicitor.takes_samples:
            return None
        return await self._pause(ctx.sample(request))

    async def log(self, data: Any, level: LogLevel, logger: str) -> None:
        """Send a log line of the server to the caller."""
        if self.ctx is not None:
            await self._run_on_call_loop(self.ctx.tell(data, level=level, logger=logger))

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Report the server's progress to the caller."""
        if self.ctx is not None:
            await self._run_on_call_loop(
                self.ctx.progress(progress, total=total, message=message or "")
            )

    async def _pause(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for an answer; where the call's time stands still, that of the request does too."""
        started = time.monotonic()
        try:
            return await self._run_on_call_loop(work)
        finally:
            if self.ctx is not None and self.ctx.elicitor and is_timed(self.ctx.elicitor):
                self._asked += time.monotonic() - started

    async def _run_on_call_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the event loop of the call."""
        if asyncio.get_running_loop() is self._loop:
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))
