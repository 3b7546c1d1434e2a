"""What people are asked before calls run, and what they answer."""

from pegboard.features.approvals.service import Approvals
from pegboard.features.approvals.withdrawing import Withdrawing

__all__ = ["Approvals", "Withdrawing"]
