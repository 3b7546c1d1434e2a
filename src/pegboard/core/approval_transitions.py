"""What may become of an approval: the same in every storage."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from pegboard.core.ports.approval_store import Approval, ApprovalVerdict

OPEN = ("pending", "approved", "edited")
"""States that end when their time is over."""


def apply_expiry(approval: Approval, now: float) -> Approval:
    """The approval as it is now, whether or not somebody has marked it as expired."""
    if is_overdue(approval, now):
        return structs.replace(approval, state="expired")
    return approval


def is_overdue(approval: Approval, now: float) -> bool:
    """Whether its time is over while nobody has decided or used it."""
    expires_at = approval.expires_at
    return approval.state in OPEN and expires_at is not None and expires_at <= now


def apply_decision(
    approval: Approval, verdict: ApprovalVerdict, now: float, answer: Mapping[str, Any]
) -> Approval | None:
    """With this answer; None when it is too late for one."""
    if approval.state != "pending" or is_overdue(approval, now):
        return None
    return structs.replace(approval, state=verdict, decided_at=now, **answer)


def apply_withdrawal(approval: Approval, now: float, *, by: str, note: str) -> Approval | None:
    """Asked no longer; None where nothing is being asked."""
    if approval.state != "pending" or is_overdue(approval, now):
        return None
    return structs.replace(approval, state="withdrawn", decided_at=now, decided_by=by, note=note)


def apply_use(approval: Approval, digest: str, now: float, call_id: str) -> Approval | None:
    """Used by this call; None when it does not let it through."""
    if digest != (approval.edited_digest or approval.digest):
        return None
    if approval.state == "used":
        return approval if approval.call_id == call_id else None
    if approval.state not in {"approved", "edited"} or is_overdue(approval, now):
        return None
    return structs.replace(approval, state="used", used_at=now, call_id=call_id)
