"""Checks a document for changes at an interval."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.errors import PegboardError

_LOG = logging.getLogger("pegboard.openapi")


class DocumentRefresh:
    """A task that checks whether the document has changed since it was first read.

    Args:
        name: The name of the source, for the log.
        every: Seconds between two checks; 0 for never.
        has_changed: Reads the document, and returns whether it differs from the listed one.
    """

    def __init__(
        self, name: str, *, every: float, has_changed: Callable[[], Awaitable[bool]]
    ) -> None:
        self._name = name
        self._every = every
        self._has_changed = has_changed
        self._notify: Callable[[], None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_closed = False

    def on_change(self, notify: Callable[[], None]) -> None:
        """Set the callback for a change."""
        self._notify = notify

    def start(self) -> None:
        """Start checking, unless it is running or there is no callback."""
        if not self._every or self._notify is None or self._task is not None or self._is_closed:
            return
        work = self._poll(self._notify)
        self._task = asyncio.create_task(work, name=f"refresh {self._name}")

    async def close(self) -> None:
        """Stop checking; safe to call twice."""
        self._is_closed = True
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))

    async def _poll(self, notify: Callable[[], None]) -> None:
        fault = ""
        while True:
            await asyncio.sleep(self._every)
            with log_and_continue(_LOG, f"openapi: cannot refresh the document of {self._name}"):
                try:
                    if await self._has_changed():
                        notify()
                    fault = ""
                except PegboardError as error:
                    # the last document stays in use; logged once, not with every check
                    if error.message != fault:
                        _LOG.warning(
                            "openapi: cannot refresh the document of %s: %s",
                            self._name,
                            error.message,
                        )
                    fault = error.message
