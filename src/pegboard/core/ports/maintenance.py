"""What an operator wants to know of a storage, and lets it forget."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct


class Counts(Struct, frozen=True, kw_only=True):
    """How much is open now, of everybody who shares the storage.

    Attributes:
        runs: Runs that have not ended, by state.
        approvals: Approvals that wait for an answer.
    """

    runs: Mapping[str, int] = {}
    approvals: int = 0


class StorageMaintenance(Protocol):
    """Looks after a storage. Several servers may do so at once, and none waits for another."""

    async def counts(self) -> Counts:
        """How much is open now.

        Raises:
            Unavailable: The storage cannot be read.
        """
        ...

    async def forget_calls(self, *, before: float) -> int:
        """Delete calls that began before this time, with the details of their errors; how many.

        Writes whose outcome is unknown stay.

        Raises:
            Unavailable: The storage cannot be written; some may be gone.
        """
        ...

    async def forget_plans(self, *, before: float) -> int:
        """Delete plans that were made before this time, and of which no run is kept; how many.

        Raises:
            Unavailable: The storage cannot be written; some may be gone.
        """
        ...

    async def forget_approvals(self, *, before: float) -> int:
        """Delete approvals that were used, or have expired, before this time; how many.

        What still holds stays, however old it is.

        Raises:
            Unavailable: The storage cannot be written; some may be gone.
        """
        ...
