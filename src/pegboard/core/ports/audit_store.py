"""The audit store port: an append-only, hash-chained trail of records."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct


class AuditEntry(Struct, frozen=True, kw_only=True):
    """An entry for the audit trail.

    Attributes:
        kind: `call`, `approval`, `catalogue`, `policy`, ...; `decision` comes before a decision
            takes effect; `retention` is written by the store itself.
        tenant: Empty for the board itself.
        body: JSON-compatible; never a secret.
    """

    kind: str
    at: float
    body: Mapping[str, Any]
    tenant: str = ""


class AuditRecord(Struct, frozen=True, kw_only=True):
    """An entry with its position and hash in the chain.

    Attributes:
        sequence: 1, 2, 3, ... without gaps.
        body: The hashed canonical JSON: sorted keys, no white space.
        previous: The hash of the previous record; 64 zeros for the first.
        hash: SHA-256, in hex, over all fields above.
    """

    sequence: int
    at: float
    kind: str
    tenant: str
    body: str
    previous: str
    hash: str


class AuditReport(Struct, frozen=True, kw_only=True):
    """The result of a check of the chain.

    Attributes:
        checked: The number of records read.
        first: The sequence of the oldest stored record; 0 when there is none.
        last: The sequence of the newest.
        head: The hash of the newest record. A copy elsewhere proves later that it existed.
        fault: What is wrong; empty when the chain is intact.
        sequence: Of the faulty record; None when the chain is intact.
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
"""Writes an entry to the trail where that is required; raises `AuditUnavailable`."""


async def skip_proof(_entry: AuditEntry) -> None:
    """A `Prove` for boards where the trail is not required."""


class AuditStore(Protocol):
    """Stores one chain of audit records."""

    async def append(self, entries: Sequence[AuditEntry]) -> Sequence[AuditRecord]:
        """Append the entries, all or none, and return their records.

        Raises:
            InvalidRequest: A body is not JSON.
            Unavailable: The entries could not be stored.
        """
        ...

    async def records(
        self,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 100,
        kind: str = "",
        tenant: str | None = None,
        newest_first: bool = False,
    ) -> Sequence[AuditRecord]:
        """Records between two sequence numbers, both excluded, oldest first unless asked for."""
        ...

    async def verify(self, *, anchor: tuple[int, str] | None = None) -> AuditReport:
        """Check the whole chain.

        Args:
            anchor: A sequence and its hash, stored elsewhere earlier.
        """
        ...

    async def retain(self, *, since: float, by: str) -> AuditRecord | None:
        """Delete the records before a time, and append a record that keeps the chain verifiable.

        Returns:
            The `retention` record; None when nothing was deleted.
        """
        ...
