"""A taint store in memory, for registries without a storage."""

from collections.abc import Callable

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.taint_store import Taint


def _no_subject(_subject: str) -> bool:
    return False


class MemoryTaints:
    """A `TaintStore` in memory. Safe for several threads.

    Args:
        gate: Shared with what is closed together with it; None for one of its own.
        exists: Whether a run or conversation of this id is stored.
    """

    def __init__(
        self, gate: ClosableLock | None = None, *, exists: Callable[[str], bool] = _no_subject
    ) -> None:
        self._gate = gate or ClosableLock()
        self._exists = exists
        self._taints: dict[str, Taint] = {}

    async def find(self, subject: str) -> Taint | None:
        """The taint of a run or conversation; None while it has read none."""
        with self._gate:
            return self._taints.get(subject)

    async def add(self, subject: str, taint: Taint) -> Taint:
        """Keep the taint, unless there is one; returns the first one."""
        with self._gate:
            return self._taints.setdefault(subject, taint)

    async def forget(self, *, before: float) -> int:
        """Forget those from before a time whose run or conversation is gone; returns the count."""
        with self._gate:
            gone = [
                subject
                for subject, taint in self._taints.items()
                if taint.at < before and not self._exists(subject)
            ]
            for subject in gone:
                del self._taints[subject]
            return len(gone)
