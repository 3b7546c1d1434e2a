"""Store ports of the call pipeline: write-ahead journal, results, outcomes, call history."""

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct

from pegboard.core.event import CallStarted
from pegboard.core.result import ToolResult


class Journal(Protocol):
    """Stores the start of a write before it runs, so that a crash leaves a record."""

    def wants(self, *, effect: str, decision: str, handler: str) -> bool:
        """Whether such a call must be stored before it runs."""
        ...

    async def record_start(self, event: CallStarted) -> None:
        """Store the start of a call, in the audit trail too where that is required.

        Raises:
            AuditUnavailable: The required audit trail cannot be written; do not run the call.
            Unavailable: The start could not be stored; do not run the call.
        """
        ...


class StoredResult(Struct, frozen=True, kw_only=True):
    """A whole result or artifact behind a handle.

    Attributes:
        owner: `tenant/principal id`, the only reader.
        body: JSON when the media type is `application/json`, else the raw bytes.
        expires_at: Unix seconds.
    """

    handle: str
    owner: str
    media_type: str
    body: bytes
    created_at: float
    expires_at: float
    name: str = ""


RESULT_QUOTA = 500_000_000
"""Bytes of stored results that one owner may have, unless a setting says otherwise."""


class ResultStore(Protocol):
    """Stores results that are too large to return at once."""

    async def put(self, result: StoredResult) -> None:
        """Store a result until it expires, or until its owner's later results need the room.

        Raises:
            Unavailable: It could not be stored, or is larger than what its owner may store.
        """
        ...

    async def get(self, handle: str, owner: str) -> StoredResult | None:
        """The result; None when it is unknown, expired or owned by another caller."""
        ...


class Outcome(Struct, frozen=True, kw_only=True):
    """The first outcome of an idempotency key.

    Attributes:
        result: None while the call runs, and after a crash, when its outcome stays unknown.
        holder: The id of the call that holds the key, where servers share the store.
        held_until: Unix seconds until which the call is known to run; None when unknown.
    """

    key: str
    owner: str
    tool: str
    digest: str
    created_at: float
    result: ToolResult | None = None
    holder: str = ""
    held_until: float | None = None


class OutcomeStore(Protocol):
    """Stores first outcomes by (owner, key)."""

    async def claim(self, outcome: Outcome) -> Outcome | None:
        """Claim the key and return None; return the existing claim when it is taken."""
        ...

    async def hold(self, claim: Outcome, *, by: str, until: float | None) -> bool:
        """Lease a claim without an outcome to this call until a time; None for no time.

        Returns:
            False when another call than `claim` says holds it, it has an outcome, or it is missing.
        """
        ...

    async def settle(self, claim: Outcome, result: ToolResult) -> None:
        """Store the outcome of a claim; no effect when another call holds the key."""
        ...

    async def release(self, claim: Outcome) -> None:
        """Release a claimed key, as nothing was done; no effect when another call holds it."""
        ...


class HistoryQuery(Struct, frozen=True, kw_only=True):
    """A filter for calls; None and empty fields match all.

    Attributes:
        tenant: Of which tenant; None for all.
        cursor: The `next_cursor` of the previous page.
        unfinished: Only writes whose outcome is unknown.
        instead_of: The tool that they substituted.
    """

    tool: str = ""
    source: str = ""
    status: str = ""
    principal: str = ""
    tenant: str | None = None
    run_id: str = ""
    instead_of: str = ""
    call_id: str = ""
    since: float | None = None
    until: float | None = None
    unfinished: bool = False
    limit: int = 50
    cursor: str = ""


class HistoryPage(Struct, frozen=True, kw_only=True):
    """One page of calls as JSON-compatible rows."""

    calls: Sequence[dict[str, Any]]
    next_cursor: str = ""


class TotalsQuery(Struct, frozen=True, kw_only=True):
    """Which calls to count.

    Attributes:
        since: Unix seconds; calls before it are left out.
        until: Unix seconds; as calls from it on.
        slots: Into how many equal parts the time is divided.
        tool: Of which tool; empty for all.
        source: Of the tools of which source; empty for all.
        principal: Whose calls; empty for everybody's.
        tenant: Of which tenant; None for all.
    """

    since: float
    until: float
    slots: int = 24
    tool: str = ""
    source: str = ""
    principal: str = ""
    tenant: str | None = None


class CallTotals(Struct, frozen=True, kw_only=True):
    """The number of calls in a time, and how long they took.

    Attributes:
        failed: Those that failed, or whose tool was unavailable.
        p50_ms: Half of the newest calls took at most this long; None without calls.
        p95_ms: As well, for 95 of 100.
        slots: Calls and failed calls of each part of the time, the earliest first.
    """

    calls: int
    failed: int
    p50_ms: float | None
    p95_ms: float | None
    slots: tuple[tuple[int, int], ...]


class History(Protocol):
    """Reads recorded calls."""

    async def totals(self, query: TotalsQuery) -> CallTotals:
        """How many calls there were, and how long the newest ones took."""
        ...

    async def calls(self, query: HistoryQuery) -> HistoryPage:
        """One page, newest first.

        Raises:
            InvalidRequest: The cursor is invalid.
        """
        ...

    async def detail(self, error_id: str) -> dict[str, Any] | None:
        """The operator's detail behind an error id, of a call or a run; None when unknown."""
        ...
