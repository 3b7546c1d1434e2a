"""What a running call tells its client: progress and log lines, in order, without blocking it."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp_types import LoggingMessageNotification, LoggingMessageNotificationParams

from pegboard.core.context import Progress
from pegboard.core.elicitation import LogLevel, LogLine

Request = ServerRequestContext[Any, Any]
_MAX_WAITING = 1_000
_LOG = logging.getLogger("pegboard.mcp")


class ProgressReporter:
    """The way from a call to whoever waits for it.

    What cannot be sent fast enough is left out: the newest progress replaces one that waits, and
    log lines beyond a bound are dropped.

    Attributes:
        request: Where it is sent: the request that waits now. None while nobody does.
    """

    def __init__(self, request: Request, *, tool: str, levels: frozenset[LogLevel]) -> None:
        self.request: Request | None = request
        self._tool = tool
        self._levels = levels
        self._done = float("-inf")
        self._waiting: deque[Progress | LogLine] = deque()
        self._sender: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._wants_progress = progress_token_from_params(request.params) is not None

    @property
    def on_progress(self) -> Callable[[Progress], None] | None:
        """For a tool context; None when the client did not ask for it."""
        return self._listener(self._progress) if self._wants_progress else None

    @property
    def on_log(self) -> Callable[[LogLine], None] | None:
        """For a tool context; None when the client wants no log lines."""
        return self._listener(self._log) if self._levels else None

    async def flush(self) -> None:
        """Return once everything told so far is on its way."""
        if self._sender is not None:
            await self._sender

    def _listener(self, take: Callable[[Any], None]) -> Callable[[Any], None]:
        def listen(told: Any) -> None:
            try:
                here = asyncio.get_running_loop() is self._loop
            except RuntimeError:
                here = False
            if here:
                take(told)
            else:
                self._loop.call_soon_threadsafe(take, told)

        return listen

    def _progress(self, told: Progress) -> None:
        """Keep progress of the call itself that grows, as MCP wants it."""
        if told.tool != self._tool or told.done <= self._done:
            return
        self._done = told.done
        if self._waiting and isinstance(self._waiting[-1], Progress):
            self._waiting[-1] = told
            return
        self._put(told)

    def _log(self, told: LogLine) -> None:
        if told.level in self._levels:
            self._put(told)

    def _put(self, told: Progress | LogLine) -> None:
        if self.request is None or len(self._waiting) >= _MAX_WAITING:
            return
        self._waiting.append(told)
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send())

    async def _send(self) -> None:
        while self._waiting:
            told, request = self._waiting.popleft(), self.request
            if request is None:
                continue
            try:
                await _sending(told, request)
            except Exception:  # noqa: BLE001 - the door's own task: a client that is gone misses it
                _LOG.debug("a client could not be told", exc_info=True)


def _sending(told: Progress | LogLine, request: Request) -> Awaitable[None]:
    if isinstance(told, Progress):
        return request.session.report_progress(told.done, told.total, told.message or None)
    params = LoggingMessageNotificationParams(
        level=told.level, data=told.data, logger=told.logger or told.tool
    )
    return request.session.send_notification(
        LoggingMessageNotification(params=params), related_request_id=request.request_id
    )
