"""The audit trail: records that can be added to and checked, and never changed unnoticed."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct


class AuditEntry(Struct, frozen=True, kw_only=True):
    """Something that happened and has to be provable.

    Attributes:
        kind: `call`, `approval`, `catalogue`, `policy`, ...; `decision` is what somebody is about
            to decide; `retention` is the store's own.
        tenant: Whose it is; empty for the board's.
        body: JSON-compatible; never a secret.
    """

    kind: str
    at: float
    body: Mapping[str, Any]
    tenant: str = ""


class AuditRecord(Struct, frozen=True, kw_only=True):
    """An entry in its place of the chain.

    Attributes:
        sequence: 1, 2, 3, ... without gaps.
        body: The canonical JSON that was hashed: sorted keys, no white space.
        previous: The hash of the record before; of the first one 64 zeros.
        hash: SHA-256, in hex, over all of the above.
    """

    sequence: int
    at: float
    kind: str
    tenant: str
    body: str
    previous: str
    hash: str


class AuditReport(Struct, frozen=True, kw_only=True):
    """What a check of the chain has found.

    Attributes:
        checked: How many records were read.
        first: The sequence of the oldest record that is kept; 0 when there is none.
        last: The sequence of the newest.
        head: The hash of the newest. Whoever notes it elsewhere can prove later that it was there.
        fault: What is wrong with which record; empty when all is well.
        sequence: Of the record at fault; None when all is well.
    """

    checked: int
    first: int
    last: int
    head: str
    fault: str = ""
    sequence: int | None = None

    @property
    def is_intact(self) -> bool:
        """Whether nothing was changed, removed or reordered."""
        return not self.fault


Prove = Callable[[AuditEntry], Awaitable[None]]
"""Returns once the trail has it, where the trail is required; raises `AuditUnavailable`."""


async def skip_proof(_entry: AuditEntry) -> None:
    """A `Prove` for where nothing has to be in the trail first."""


class AuditStore(Protocol):
    """One chain of records."""

    async def append(self, entries: Sequence[AuditEntry]) -> Sequence[AuditRecord]:
        """Add them at the end, all or none, and return them in their places.

        Raises:
            InvalidRequest: A body is no JSON.
            Unavailable: They could not be stored.
        """
        ...

    async def records(
        self, *, after: int = 0, limit: int = 100, kind: str = "", tenant: str | None = None
    ) -> Sequence[AuditRecord]:
        """Records with a greater sequence, oldest first."""
        ...

    async def verify(self, *, anchor: tuple[int, str] | None = None) -> AuditReport:
        """Read the whole chain and say whether it is as it was written.

        Args:
            anchor: A sequence and its hash, noted elsewhere at an earlier time.
        """
        ...

    async def retain(self, *, since: float, by: str) -> AuditRecord | None:
        """Forget the records before this time, and say so in a record that keeps the chain whole.

        Returns:
            The record that says so; None when there was nothing to forget.
        """
        ...
