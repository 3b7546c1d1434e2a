"""State transitions of an approval, the same for every store."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from pegboard.core.ports.approval_store import Approval, ApprovalVerdict

OPEN = ("pending", "approved", "edited")
"""The states that expire."""


def apply_expiry(approval: Approval, now: float) -> Approval:
    """The approval with the state `expired` if it is past its time."""
    if is_overdue(approval, now):
        return structs.replace(approval, state="expired")
    return approval


def is_overdue(approval: Approval, now: float) -> bool:
    """Whether it is past its time and still open."""
    expires_at = approval.expires_at
    return approval.state in OPEN and expires_at is not None and expires_at <= now


def apply_decision(
    approval: Approval, verdict: ApprovalVerdict, now: float, answer: Mapping[str, Any]
) -> Approval | None:
    """The approval with this decision; None when it cannot be decided any more."""
    if approval.state != "pending" or is_overdue(approval, now):
        return None
    return structs.replace(approval, state=verdict, decided_at=now, **answer)


def apply_withdrawal(approval: Approval, now: float, *, by: str, note: str) -> Approval | None:
    """The withdrawn approval; None when it is not pending."""
    if approval.state != "pending" or is_overdue(approval, now):
        return None
    return structs.replace(approval, state="withdrawn", decided_at=now, decided_by=by, note=note)


def apply_use(approval: Approval, digest: str, now: float, call_id: str) -> Approval | None:
    """The approval used by this call; None when it does not allow the call."""
    if digest != (approval.edited_digest or approval.digest):
        return None
    if approval.state == "used":
        return approval if approval.call_id == call_id else None
    if approval.state not in {"approved", "edited"} or is_overdue(approval, now):
        return None
    return structs.replace(approval, state="used", used_at=now, call_id=call_id)
