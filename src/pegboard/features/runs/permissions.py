"""Who may see and steer a run: whoever started it, and in its tenant whoever sees all runs."""

from pegboard.core.ports.run_store import StoredRun
from pegboard.core.principal import Principal

SCOPE = "runs:all"
"""Whoever has this scope sees and steers the runs of everybody in the tenant."""


def sees_all(principal: Principal) -> bool:
    """Whether this caller sees the runs of everybody in its tenant."""
    return principal.has_scope(SCOPE)


def may_see(principal: Principal, run: StoredRun) -> bool:
    """Whether this caller may see and steer a run."""
    whose = run.start.principal
    return whose.tenant == principal.tenant and (whose.id == principal.id or sees_all(principal))
