"""What people are asked before calls run, and what they answer."""

from pegboard.features.approvals.service import Approvals
from pegboard.features.approvals.withdrawing import ApprovalWithdrawalListener

__all__ = ["ApprovalWithdrawalListener", "Approvals"]
