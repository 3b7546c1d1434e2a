"""Approvals of calls, and decisions about them."""

from pegboard.features.approvals.service import Approvals, ApprovalWithdrawalListener

__all__ = ["ApprovalWithdrawalListener", "Approvals"]
