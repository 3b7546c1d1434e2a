"""Who may see and decide approvals."""

from pegboard.core.ports.approval_store import Approval
from pegboard.core.principal import Principal

SCOPE = "approvals:decide"
"""Whoever has this scope sees and decides the approvals of everybody in the tenant."""


def may_decide(principal: Principal) -> bool:
    """Whether this caller decides approvals; nobody else does, not even about their own calls."""
    return principal.has_scope(SCOPE)


def may_see(principal: Principal, approval: Approval) -> bool:
    """Whether this caller may see an approval: whose call it is, and who decides."""
    if approval.tenant != principal.tenant and "*" not in principal.scopes:
        return False
    return approval.principal == principal.id or may_decide(principal)
