"""Waiting for one of very many tasks."""

import asyncio
from collections.abc import Collection
from typing import Any

_SPARE = 64


class TaskWaiter:
    """Waits until one of some tasks has ended, again and again, with tasks that come and go.

    `asyncio.wait` looks at all of them each time it begins and ends to wait; this looks closely at
    each task once.
    """

    def __init__(self) -> None:
        """Nothing is watched yet."""
        self._known: set[asyncio.Future[Any]] = set()
        self._waiting: set[asyncio.Future[None]] = set()

    async def one_of(
        self, tasks: "Collection[asyncio.Future[Any]]", *, ear: asyncio.Event | None = None
    ) -> None:
        """Return once one of these tasks has ended, or the ear is set."""
        for task in tasks:
            if task not in self._known:
                self._known.add(task)
                task.add_done_callback(self._on_done)
        if len(self._known) > 2 * len(tasks) + _SPARE:
            self._known.intersection_update(tasks)  # some have gone without an end
        if any(task.done() for task in tasks):
            return
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        listening = None if ear is None else asyncio.ensure_future(ear.wait())
        if listening is not None:
            listening.add_done_callback(lambda _: _wake(waiting))
        try:
            await waiting
        finally:
            self._waiting.discard(waiting)
            if listening is not None:
                listening.cancel()

    def _on_done(self, task: "asyncio.Future[Any]") -> None:
        self._known.discard(task)
        for waiting in self._waiting:
            _wake(waiting)


def _wake(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)
