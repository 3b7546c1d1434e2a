"""Sends progress and log lines of a running call to its client, without blocking the call."""

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
    """Sends progress and log lines to the request that waits for a call.

    Messages that cannot be sent fast enough are dropped: new progress replaces progress that is
    queued, and log lines beyond `_MAX_WAITING` are discarded.

    Attributes:
        request: The request that waits for the call now. None while no request does.
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
        """`ToolContext.on_progress`; None if the client did not ask for progress."""
        return self._listener(self._progress) if self._wants_progress else None

    @property
    def on_log(self) -> Callable[[LogLine], None] | None:
        """`ToolContext.on_log`; None if the client wants no log lines."""
        return self._listener(self._log) if self._levels else None

    async def flush(self) -> None:
        """Wait until every message so far has been sent."""
        if self._sender is not None:
            await self._sender

    def _listener(self, take: Callable[[Any], None]) -> Callable[[Any], None]:
        def on_message(message: Any) -> None:
            try:
                in_loop = asyncio.get_running_loop() is self._loop
            except RuntimeError:
                in_loop = False
            if in_loop:
                take(message)
            else:
                self._loop.call_soon_threadsafe(take, message)

        return on_message

    def _progress(self, progress: Progress) -> None:
        """Queue progress of the call itself; MCP requires that it increases."""
        if progress.tool != self._tool or progress.done <= self._done:
            return
        self._done = progress.done
        if self._waiting and isinstance(self._waiting[-1], Progress):
            self._waiting[-1] = progress
            return
        self._put(progress)

    def _log(self, line: LogLine) -> None:
        if line.level in self._levels:
            self._put(line)

    def _put(self, message: Progress | LogLine) -> None:
        if self.request is None or len(self._waiting) >= _MAX_WAITING:
            return
        self._waiting.append(message)
        if self._sender is None or self._sender.done():
            self._sender = asyncio.create_task(self._send())

    async def _send(self) -> None:
        while self._waiting:
            message, request = self._waiting.popleft(), self.request
            if request is None:
                continue
            try:
                await _notify(message, request)
            except Exception:  # noqa: BLE001 - a task of the server: a client that left misses it
                _LOG.debug("mcp: sending a notification failed", exc_info=True)


def _notify(message: Progress | LogLine, request: Request) -> Awaitable[None]:
    if isinstance(message, Progress):
        progress = message
        return request.session.report_progress(
            progress.done, progress.total, progress.message or None
        )
    params = LoggingMessageNotificationParams(
        level=message.level, data=message.data, logger=message.logger or message.tool
    )
    return request.session.send_notification(
        LoggingMessageNotification(params=params), related_request_id=request.request_id
    )
