"""The approval store port: approval requests, their decisions, and the one call each allows."""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from msgspec import Struct

from pegboard.core.argument_origin import ArgumentOrigin
from pegboard.core.ports.taint_store import Taint

ApprovalState = Literal["pending", "approved", "denied", "edited", "expired", "used", "withdrawn"]
ApprovalKind = Literal["call", "connection"]
ApprovalVerdict = Literal["approved", "denied", "edited"]


class Approval(Struct, frozen=True, kw_only=True):
    """An approval request for one exact call.

    Attributes:
        digest: Of tool, version, arguments and principal; the approval holds for no other call.
        arguments: Exactly as the tool would receive them.
        shown: The arguments for display, redacted.
        principal: The caller.
        reason: Why the policy requires an approval.
        state: `edited` is approved with other arguments; `withdrawn` means that its run has
            finished without it, as the note says.
        edited: The arguments that the approver chose instead; only when `edited`.
        edited_digest: The digest of the call with those arguments.
        expires_at: When it can no longer be decided or used; None for never.
        call_id: The call that used it.
        arguments_digest: Of the arguments alone; empty where an older version asked.
        definition_digest: Of the definition of the tool; empty where an older version asked.
        kind: `connection` for a call that waits for its caller to connect an account, which no
            decision approves.
        source: The source of such an account.
        account_name: The name that such an account gets; empty for the default.
        credential: The account that the call acts with, where it is one of a caller.
        account: The same account, as of `Credential.account`.
        grant: The standing approval that has approved it; empty for a person.
        rule: The rule that asks, as of `Decision.rule`.
        is_single: Whether it can be approved once only, and no standing approval answers it.
        taint: The call that brought untrusted text into the run before this call; None for none.
        origins: Where its arguments come from, where that is why it is asked about.
        by: Who may decide it: `other` for anybody but those who asked; empty for each approver.
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
    arguments_digest: str = ""
    definition_digest: str = ""
    grant: str = ""
    kind: ApprovalKind = "call"
    source: str = ""
    account_name: str = ""
    credential: str = ""
    account: str = ""
    by: str = ""
    rule: str = ""
    is_single: bool = False
    taint: Taint | None = None
    origins: tuple[ArgumentOrigin, ...] = ()


class VisibleApprovals(Struct, frozen=True, kw_only=True):
    """The approvals that a caller may see: those of some tenants, and its own.

    Attributes:
        tenants: Where it may decide.
        principals: The ids under which its own are stored.
        tenant: Where its own are; None for every tenant.
    """

    tenants: frozenset[str]
    principals: tuple[str, ...]
    tenant: str | None = None

    def includes(self, approval: Approval) -> bool:
        """Whether the caller may see this approval."""
        is_own = approval.principal in self.principals and self.tenant in {None, approval.tenant}
        return is_own or approval.tenant in self.tenants


class ApprovalQuery(Struct, frozen=True, kw_only=True):
    """A filter for approvals; empty fields match all.

    Attributes:
        visible: Beside the other filters, only what a caller may see; None for all.
    """

    state: str = ""
    principal: str = ""
    tenant: str | None = None
    run_id: str = ""
    tool: str = ""
    digest: str = ""
    visible: "VisibleApprovals | None" = None
    limit: int = 50
    cursor: str = ""


class ApprovalPage(Struct, frozen=True, kw_only=True):
    """One page of approvals; with very large ones fewer than its limit, and others after it."""

    approvals: Sequence[Approval]
    next_cursor: str = ""


class DecisionResult(Struct, frozen=True, kw_only=True):
    """The result of a decision.

    Attributes:
        applied: False when it was decided before, or has expired.
        approval: The current approval; None when there is none with this id.
    """

    applied: bool
    approval: Approval | None


class ApprovalStore(Protocol):
    """Stores approvals. Each is decided once and allows one call."""

    async def ask(self, approval: Approval) -> Approval:
        """Store the request and return it; returns the stored one when its id exists already."""
        ...

    async def get(self, id: str) -> Approval | None:  # noqa: A002 - it is known by its id
        """One approval; None when there is none."""
        ...

    async def approvals(self, query: ApprovalQuery) -> ApprovalPage:
        """One page, newest first. Requests past their time have the state `expired`.

        Raises:
            InvalidRequest: The cursor is invalid, or the limit is out of range.
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
        grant: str = "",
    ) -> DecisionResult:
        """Decide the request, unless it is decided already or has expired."""
        ...

    async def use(self, id: str, *, digest: str, call_id: str) -> Approval | None:  # noqa: A002 - it is known by its id
        """Use the approval for one call, if it is approved and unused.

        Args:
            id: The approval.
            digest: Of the call: the digest of the approval, or of the edited call.
            call_id: The call. The call that has used the approval may use it again.

        Returns:
            The used approval; None when it does not allow this call.
        """
        ...

    async def withdraw(self, run_id: str, *, by: str, note: str) -> Sequence[Approval]:
        """Withdraw the pending requests of a run; returns each once, to the first server that asks.

        Args:
            run_id: A run that has finished or is about to.
            by: The caller who ended it; empty for none.
            note: How it ended, for display.
        """
        ...

    async def expire(self) -> Sequence[Approval]:
        """Mark overdue requests as expired; returns each once, to the first server that asks."""
        ...
