"""Reading a document again every so often, so that what its API offers anew is not missed."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.errors import PegboardError

_LOG = logging.getLogger("pegboard.openapi")


class DocumentRefresh:
    """A task that looks whether the document has changed, from its first reading on.

    Args:
        name: The source's, for the log.
        every: Seconds between two looks; 0 for never.
        has_changed: Reads the document; whether it is another than the one that is listed.
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
        """Who is told of a change."""
        self._notify = notify

    def start(self) -> None:
        """Look from now on; nothing where nobody is told, or it looks already."""
        if not self._every or self._notify is None or self._task is not None or self._is_closed:
            return
        work = self._poll(self._notify)
        self._task = asyncio.create_task(work, name=f"refresh {self._name}")

    async def close(self) -> None:
        """Look no more; safe to call twice."""
        self._is_closed = True
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))

    async def _poll(self, notify: Callable[[], None]) -> None:
        fault = ""
        while True:
            await asyncio.sleep(self._every)
            with log_and_continue(_LOG, f"the document of {self._name} cannot be read again"):
                try:
                    if await self._has_changed():
                        notify()
                    fault = ""
                except PegboardError as error:
                    # what was read last goes on to hold; said once, not with every look
                    if error.message != fault:
                        _LOG.warning(
                            "the document of %s cannot be read again: %s", self._name, error.message
                        )
                    fault = error.message
