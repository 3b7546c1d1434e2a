"""Call tools from code without an event loop: one event loop on a daemon thread."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from pegboard.errors import SyncUse

T = TypeVar("T")


class LoopThread:
    """An event loop on a thread of its own; started on first use, ends with the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end and return its result; an interrupt cancels it.

        Raises:
            SyncUse: Called on the loop itself, which would deadlock.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise SyncUse(
                "an inline tool cannot call on the sync surface: use 'await ctx.call(...)' in an "
                "async tool, or remove inline=True"
            )
        future = asyncio.run_coroutine_threadsafe(work, self._start())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def forget(self) -> None:
        """Start anew on next use, because a forked process has the loop but not its thread."""
        self._lock = threading.Lock()
        self._loop = self._thread = None

    def _start(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="pegboard-sync", daemon=True
                )
                self._thread.start()
            return self._loop


def refuse_async(find: Callable[[str], object | None], names: Iterable[str]) -> None:
    """Refuse async tools before anything runs.

    Raises:
        SyncUse: One of the tools is async.
    """
    for name in names:
        if getattr(find(name), "is_async", False):
            raise SyncUse(f"'{name}' is an async tool: use 'await registry.call({name!r}, ...)'")


LOOP_THREAD = LoopThread()
os.register_at_fork(after_in_child=LOOP_THREAD.forget)
