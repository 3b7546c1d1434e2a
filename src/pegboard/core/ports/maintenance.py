"""The storage maintenance port: counts of open work, and retention."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct


class Counts(Struct, frozen=True, kw_only=True):
    """Open work in the storage, of all servers that share it.

    Attributes:
        runs: Unfinished runs, by state.
        approvals: Pending approvals.
    """

    runs: Mapping[str, int] = {}
    approvals: int = 0


class QuotePlaces(Struct, frozen=True, kw_only=True):
    """The ids of runs and conversations in which a text stands."""

    runs: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()


class StorageMaintenance(Protocol):
    """Maintains a storage. Several servers may do so at once without waiting for each other."""

    async def counts(self) -> Counts:
        """Count the open work.

        Raises:
            Unavailable: The storage cannot be read.
        """
        ...

    async def forget_calls(self, *, before: float) -> int:
        """Delete calls that started before a time, with their error details; returns the count.

        Writes with an unknown outcome stay.

        Raises:
            Unavailable: The storage cannot be written; some rows may be deleted.
        """
        ...

    async def forget_results(self, text: str) -> int:
        """Delete stored results and first outcomes in which a text stands; returns the count.

        Args:
            text: Letters, digits and `_` alone, as an id.

        Raises:
            Unavailable: The storage cannot be written.
        """
        ...

    async def find_quoting(self, text: str, *, since: float = 0.0) -> QuotePlaces:
        """Find the runs and conversations in which a text stands; reads all that it may.

        Args:
            text: Letters, digits and `_` alone, as an id.
            since: Runs that ended before are not read; 0 reads all.

        Raises:
            Unavailable: The storage cannot be read.
        """
        ...

    async def find_started_with(self, words: Sequence[str], *, since: float) -> Sequence[str]:
        """Find the runs in whose input all of these words stand.

        Args:
            words: Letters, digits and `_` alone.
            since: When they were created, at the earliest.

        Raises:
            Unavailable: The storage cannot be read.
        """
        ...

    async def forget_calls_of(self, runs: Collection[str]) -> int:
        """Delete what is kept of the calls of runs that have ended; returns the count.

        These are their approvals, the first outcomes under their idempotency keys, and the stored
        results that their steps name. It is one transaction: a caller with many runs passes some
        hundred at a time.

        Raises:
            Unavailable: The storage cannot be written.
        """
        ...

    async def forget_plans(self, *, before: float) -> int:
        """Delete plans that were created before a time and have no stored run; returns the count.

        Raises:
            Unavailable: The storage cannot be written; some rows may be deleted.
        """
        ...

    async def forget_approvals(self, *, before: float) -> int:
        """Delete approvals that were used or expired before a time; returns the count.

        Approvals that are still valid stay.

        Raises:
            Unavailable: The storage cannot be written; some rows may be deleted.
        """
        ...
