"""What people are asked before calls run, and what they answer."""

from pegboard.features.approvals.service import Approvals, ApprovalWithdrawalListener

__all__ = ["ApprovalWithdrawalListener", "Approvals"]
