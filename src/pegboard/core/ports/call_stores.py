"""What the pipeline keeps beyond a call: starts of writes, results under handles, outcomes."""

from collections.abc import Sequence
from typing import Any, Protocol

from msgspec import Struct

from pegboard.core.event import CallStarted
from pegboard.core.result import ToolResult


class Journal(Protocol):
    """Keeps the start of a write before it runs, so that a crash leaves a trace."""

    def wants(self, *, effect: str, decision: str) -> bool:
        """Whether a call of this effect, under this decision, must not run before it is stored."""
        ...

    async def record_start(self, event: CallStarted) -> None:
        """Return once it is stored, in the audit trail too where that is required.

        Raises:
            AuditUnavailable: It could not be stored, and has to be provable; it must not run.
            Unavailable: It could not be stored; the call must not run.
        """
        ...


class StoredResult(Struct, frozen=True, kw_only=True):
    """A whole result or artifact behind a handle.

    Attributes:
        owner: `tenant/principal id`: nobody else may read it.
        body: JSON when the media type is `application/json`, else as it is.
        expires_at: Unix seconds.
    """

    handle: str
    owner: str
    media_type: str
    body: bytes
    created_at: float
    expires_at: float
    name: str = ""


class ResultStore(Protocol):
    """Keeps what is too large to give at once."""

    async def put(self, result: StoredResult) -> None:
        """Keep it until it expires."""
        ...

    async def get(self, handle: str, owner: str) -> StoredResult | None:
        """Give it back; None when unknown, expired or somebody else's."""
        ...


class Outcome(Struct, frozen=True, kw_only=True):
    """The first outcome of an idempotency key.

    Attributes:
        result: None while the call runs, and for ever when it never ended, as after a crash:
            whoever runs calls knows which of them run.
        holder: The id of the call that has the key, where servers share the store.
        held_until: Unix seconds until which its call is known to run; None where nobody says so.
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
    """Keeps first outcomes by (owner, key)."""

    async def claim(self, outcome: Outcome) -> Outcome | None:
        """Take the key if it is free and return None; else return who has it."""
        ...

    async def hold(self, claim: Outcome, *, by: str, until: float | None) -> bool:
        """Let a claim without an outcome be held by this call until then; None where nobody says.

        Returns:
            False when it is held by another call than `claim` says, has an outcome, or is gone.
        """
        ...

    async def settle(self, claim: Outcome, result: ToolResult) -> None:
        """Store the outcome of a claim; it changes nothing once another call holds the key."""
        ...

    async def release(self, claim: Outcome) -> None:
        """Give a claimed key back: nothing was done. It stays when another call holds it."""
        ...


class HistoryQuery(Struct, frozen=True, kw_only=True):
    """Which calls to show, newest first; None and empty mean any.

    Attributes:
        cursor: The `next_cursor` of the page before.
        unfinished: Only writes that started and whose outcome is unknown.
        instead_of: The tool in whose place they were called.
    """

    tool: str = ""
    source: str = ""
    status: str = ""
    principal: str = ""
    run_id: str = ""
    instead_of: str = ""
    since: float | None = None
    until: float | None = None
    unfinished: bool = False
    limit: int = 50
    cursor: str = ""


class HistoryPage(Struct, frozen=True, kw_only=True):
    """One page of calls as JSON-compatible rows."""

    calls: Sequence[dict[str, Any]]
    next_cursor: str = ""


class History(Protocol):
    """Reads what was recorded."""

    async def calls(self, query: HistoryQuery) -> HistoryPage:
        """One page, newest first.

        Raises:
            InvalidRequest: The cursor is not one of ours.
        """
        ...

    async def detail(self, error_id: str) -> dict[str, Any] | None:
        """The operator's detail behind an error id; None when unknown."""
        ...
