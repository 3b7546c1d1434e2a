"""What a person is asked before a call runs: kept until it is decided, and good for one call."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

ApprovalState = Literal["pending", "approved", "denied", "edited", "expired", "used", "withdrawn"]
ApprovalVerdict = Literal["approved", "denied", "edited"]


class Approval(Struct, frozen=True, kw_only=True):
    """One question, bound to one exact call.

    Attributes:
        digest: Of tool, version, arguments and principal; an answer is good for nothing else.
        arguments: Exactly as they would be passed on.
        shown: The same for showing, redacted.
        principal: Whose call it is.
        reason: Why the policy asks.
        state: `edited` is approved with other arguments; `withdrawn` is asked no longer, because
            its run has ended: the note says how.
        edited: The arguments that the approver wants instead; only when `edited`.
        edited_digest: The digest with those.
        expires_at: From then on it can neither be decided nor used; None for never.
        call_id: The call that has used it.
    """

    id: str
    digest: str
    tool: str
    principal: str
    created_at: float
    arguments: Any = None
    shown: Any = None
    version: str = ""
    tenant: str = ""
    reason: str = ""
    run_id: str = ""
    node_id: str = ""
    state: ApprovalState = "pending"
    decided_by: str = ""
    decided_at: float | None = None
    note: str = ""
    edited: Any = None
    edited_digest: str = ""
    expires_at: float | None = None
    used_at: float | None = None
    call_id: str = ""


class ApprovalQuery(Struct, frozen=True, kw_only=True):
    """Which approvals to show, newest first; empty means any."""

    state: str = ""
    principal: str = ""
    tenant: str | None = None
    run_id: str = ""
    tool: str = ""
    digest: str = ""
    limit: int = 50
    cursor: str = ""


class ApprovalPage(Struct, frozen=True, kw_only=True):
    """One page of approvals."""

    approvals: Sequence[Approval]
    next_cursor: str = ""


class DecisionResult(Struct, frozen=True, kw_only=True):
    """What came of an answer.

    Attributes:
        applied: False when somebody else was first, or it was too late.
        approval: As it stands now; None when there is none of this id.
    """

    applied: bool
    approval: Approval | None


class ApprovalStore(Protocol):
    """Keeps approvals. Each answer is applied once, and each approval lets one call through."""

    async def ask(self, approval: Approval) -> Approval:
        """Keep the question and return it; one of this id that is there already is returned."""
        ...

    async def get(self, id: str) -> Approval | None:  # noqa: A002 - it is known by its id
        """One approval; None when there is none."""
        ...

    async def approvals(self, query: ApprovalQuery) -> ApprovalPage:
        """One page, newest first. What has passed its time is shown as `expired`.

        Raises:
            InvalidRequest: The cursor is not one of ours, or the limit is out of range.
        """
        ...

    async def decide(
        self,
        id: str,  # noqa: A002 - it is known by its id
        verdict: ApprovalVerdict,
        *,
        by: str,
        note: str = "",
        edited: Any = None,
        edited_digest: str = "",
    ) -> DecisionResult:
        """Answer it, if nobody has yet and it is not too late."""
        ...

    async def use(self, id: str, *, digest: str, call_id: str) -> Approval | None:  # noqa: A002 - it is known by its id
        """Let one call through: give the approval if it is approved and was not used.

        Args:
            id: Of the approval.
            digest: Of the call that wants through: the approval's own, or that of the edited one.
            call_id: Of that call. The one that has used it may ask again.

        Returns:
            The approval, used; None when this call may not run on it.
        """
        ...

    async def withdraw(self, run_id: str, *, by: str, note: str) -> Sequence[Approval]:
        """Take back what a run has asked and nobody has answered: each once, whoever is first.

        Args:
            run_id: Of a run that has ended, or will.
            by: Who has ended it; empty for nobody.
            note: How it ended, for people.
        """
        ...

    async def expire(self) -> Sequence[Approval]:
        """Mark what has passed its time, and return it: each once, whoever asks first."""
        ...
