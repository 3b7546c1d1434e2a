"""Permission checks of the services: which scope or ownership each use case requires."""

from pegboard.access import MAINTAINER_SCOPE
from pegboard.core.ports.approval_store import Approval
from pegboard.core.ports.conversation_store import Conversation
from pegboard.core.ports.run_store import StoredRun
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied

APPROVALS_SCOPE = "approvals:decide"
"""See and decide every approval of the tenant."""

AUDIT_SCOPE = "audit:read"
"""Read the whole audit trail of the tenant."""

CATALOGUE_SCOPE = MAINTAINER_SCOPE
"""Register, remove and roll back tools, add marketplace entries, and approve pinned definitions."""

GRAPH_SCOPE = "graph:write"
"""Change the dependency graph."""

PEOPLE_SCOPE = "people:write"
"""Invite people to an organisation, approve them, and change their roles."""

PLANS_SCOPE = "plans:all"
"""See every plan of the tenant."""

RUNS_SCOPE = "runs:all"
"""See and control every run of the tenant."""

SWITCHES_SCOPE = "switches:write"
"""See and throw the kill switches, which apply to every caller of the board."""


def may_decide_approvals(principal: Principal) -> bool:
    """Whether this caller may decide approvals; without the scope not even its own calls'."""
    return principal.has_scope(APPROVALS_SCOPE)


def may_see_approval(principal: Principal, approval: Approval) -> bool:
    """Whether this caller may see an approval: the caller of the tool, or an approver."""
    if approval.tenant != principal.tenant and "*" not in principal.scopes:
        return False
    return approval.principal == principal.id or may_decide_approvals(principal)


def may_see_conversation(principal: Principal, conversation: Conversation) -> bool:
    """Whether this caller may see and continue a conversation: only whose it is."""
    owner = (conversation.tenant, conversation.principal)
    return owner == (principal.tenant, principal.id)


def may_see_plan(principal: Principal, created_by: str) -> bool:
    """Whether this caller may see a plan of this owner (`tenant/id`)."""
    if principal.owner == created_by:
        return True
    tenant = Principal(id="", tenant=principal.tenant).owner
    return principal.has_scope(PLANS_SCOPE) and created_by.startswith(tenant)


def may_see_all_runs(principal: Principal) -> bool:
    """Whether this caller may see every run of its tenant."""
    return principal.has_scope(RUNS_SCOPE)


def may_see_run(principal: Principal, run: StoredRun) -> bool:
    """Whether this caller may see and control a run."""
    owner = run.start.principal
    if owner.tenant != principal.tenant:
        return False
    return owner.id == principal.id or may_see_all_runs(principal)


def check_may_read_audit(principal: Principal) -> None:
    """Refuse a caller that may not read the audit trail.

    Raises:
        AccessDenied: The caller lacks the scope.
    """
    _check_scope(principal, AUDIT_SCOPE, "the audit trail")


def check_may_change_catalogue(principal: Principal, subject: str) -> None:
    """Refuse a caller that may not change the catalogue, browse marketplaces or approve pins.

    Args:
        principal: The caller.
        subject: Named in the error: a tool, a source, or for example "the catalogue".

    Raises:
        AccessDenied: The caller lacks the scope.
    """
    _check_scope(principal, CATALOGUE_SCOPE, subject)


def check_may_change_graph(principal: Principal) -> None:
    """Refuse a caller that may not change the dependency graph.

    Raises:
        AccessDenied: The caller lacks the scope.
    """
    _check_scope(principal, GRAPH_SCOPE, "the dependency graph")


def check_may_switch(principal: Principal) -> None:
    """Refuse a caller that may not see or throw kill switches.

    Raises:
        AccessDenied: The caller lacks the scope.
    """
    _check_scope(principal, SWITCHES_SCOPE, "the kill switches")


def _check_scope(principal: Principal, scope: str, subject: str) -> None:
    if not principal.has_scope(scope):
        raise AccessDenied(subject, f"the caller lacks the scope {scope}")
