"""Tells those who watch a base what has changed in it."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager

from msgspec import Struct

_MAX_WAITING = 10_000
"""Changes that a slow watcher has not read; of more, it looks at everything again."""


class DocumentChange(Struct, frozen=True):
    """A document was added, changed or deleted.

    Attributes:
        document: Its id; empty for the base itself.
    """

    base: str
    document: str = ""


class KnowledgeChanges:
    """Passes changes on to the watchers of this process."""

    def __init__(self) -> None:
        self._watchers: dict[str, set[asyncio.Queue[DocumentChange]]] = {}
        self._followers: list[Callable[[DocumentChange], None]] = []

    def notify(self, change: DocumentChange) -> None:
        """Pass a change on to the watchers of its base, and to those of all bases."""
        for follow in self._followers:
            follow(change)
        for queue in self._watchers.get(change.base, ()):
            if queue.qsize() < _MAX_WAITING:
                queue.put_nowait(change)

    def follow(self, receive: Callable[[DocumentChange], None]) -> None:
        """Call this at each change of any base from now on."""
        self._followers.append(receive)

    @contextmanager
    def watch(self, base: str) -> Generator[asyncio.Queue[DocumentChange]]:
        """The changes of a base from now on, in their order."""
        queue: asyncio.Queue[DocumentChange] = asyncio.Queue()
        self._watchers.setdefault(base, set()).add(queue)
        try:
            yield queue
        finally:
            self._watchers[base].discard(queue)
            if not self._watchers[base]:
                del self._watchers[base]
