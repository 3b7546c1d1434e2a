"""Who may see and run a plan: whoever made it, and in its tenant whoever sees all plans."""

from pegboard.core.principal import Principal
from pegboard.execution.call_state import owner_of

SCOPE = "plans:all"
"""Whoever has this scope sees the plans of everybody in the tenant."""


def may_see(principal: Principal, created_by: str) -> bool:
    """Whether this caller may see a plan of this owner (`tenant/id`)."""
    if owner_of(principal) == created_by:
        return True
    tenant = owner_of(Principal(id="", tenant=principal.tenant))
    return principal.has_scope(SCOPE) and created_by.startswith(tenant)
