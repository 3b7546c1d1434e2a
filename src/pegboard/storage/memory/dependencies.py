"""The changes of the dependency graph in memory."""

from collections.abc import Sequence

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.catalogue_stores import DependencyChange


class MemoryDependencies:
    """A `DependencyStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._changes: list[DependencyChange] = []

    async def append(self, change: DependencyChange) -> bool:
        with self._gate:
            if change.version != (self._changes[-1].version if self._changes else 0) + 1:
                return False
            self._changes.append(change)
            return True

    async def changes(self, after: int = 0) -> Sequence[DependencyChange]:
        with self._gate:
            return [change for change in self._changes if change.version > after]

    async def fold(self, snapshot: DependencyChange) -> bool:
        with self._gate:
            if all(change.version != snapshot.version for change in self._changes):
                return False
            later = [change for change in self._changes if change.version > snapshot.version]
            self._changes = [snapshot, *later]
            return True
