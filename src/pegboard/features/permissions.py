"""Permission checks of the services: which scope or ownership each use case requires."""

from msgspec import Struct

from pegboard.access import MAINTAINER_SCOPE
from pegboard.access.key_scopes import (
    READ_SCOPE,
    WRITE_SCOPE,
    explain_missing_key_scope,
)
from pegboard.core.ports.approval_store import Approval, VisibleApprovals
from pegboard.core.ports.conversation_store import Conversation
from pegboard.core.ports.run_store import StoredRun
from pegboard.core.principal import Principal, expand_id, expand_owner
from pegboard.core.tool import Effect
from pegboard.errors import AccessDenied
from pegboard.features.key_limits import check_key

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

KEY_SCOPES = (
    "*",
    READ_SCOPE,
    WRITE_SCOPE,
    APPROVALS_SCOPE,
    AUDIT_SCOPE,
    CATALOGUE_SCOPE,
    GRAPH_SCOPE,
    PEOPLE_SCOPE,
    PLANS_SCOPE,
    RUNS_SCOPE,
    SWITCHES_SCOPE,
)
"""What a key may be made with; tools and policies of operators may ask for others."""


class VisibleOwners(Struct, frozen=True, kw_only=True):
    """Whose rows a caller may list, as filters of a store.

    Attributes:
        tenant: The only tenant; None for all.
        principal: The id of the only owner; empty for all.
    """

    tenant: str | None
    principal: str


def find_visible_owners(
    principal: Principal, scope: str, *, asked: str = ""
) -> VisibleOwners | None:
    """Whose rows a caller may list: operators all, with a scope those of the tenant, else its own.

    Args:
        principal: The caller.
        scope: What lets it list those of its tenant.
        asked: The id of the owner that it asks for; empty for any.

    Returns:
        None if it may list nothing of what it asks for.

    Raises:
        AccessDenied: It has sent a key that was not made to read.
    """
    if principal.is_operator:
        return VisibleOwners(tenant=None, principal=asked)
    if principal.has_scope_in(principal.tenant, scope):
        return VisibleOwners(tenant=principal.tenant, principal=asked)
    check_key(principal, "what you have done", Effect.READ)
    if asked not in {"", principal.id}:
        return None
    # an account owns what it did for any organisation
    tenant = None if principal.user else principal.tenant
    return VisibleOwners(tenant=tenant, principal=principal.id)


def check_may_read_results(principal: Principal) -> None:
    """Refuse a key that was made for less than to read what is the caller's, as results are.

    Raises:
        AccessDenied: The caller has sent such a key.
    """
    check_key(principal, "results", Effect.READ)


def sees_whole_board(principal: Principal) -> bool:
    """Whether a caller may see the state of every source: all do where there are no accounts."""
    return principal.is_operator or not principal.user


def may_decide_approval(principal: Principal, approval: Approval) -> bool:
    """Whether this caller may decide approvals where this one is; else not even its own call's.

    Agents and service accounts decide none, whoever they work for.
    `Approvals.explain_refusal` says whether it may decide this very one.
    """
    if principal.kind in {"agent", "service"}:
        return False
    if principal.kind == "key" and not _names_approvals(principal, approval.tenant):
        return False
    return principal.has_scope_in(approval.tenant, APPROVALS_SCOPE)


def _names_approvals(principal: Principal, tenant: str) -> bool:
    """Whether a key was made to approve: agents hold keys, and `*` is not enough."""
    return not principal.scopes.isdisjoint({APPROVALS_SCOPE, f"{tenant}/{APPROVALS_SCOPE}"})


def find_visible_approvals(principal: Principal) -> VisibleApprovals | None:
    """The approvals that a caller may list; None for those of every tenant."""
    if principal.is_operator:
        return None
    tenants = {principal.tenant} if principal.has_scope(APPROVALS_SCOPE) else set[str]()
    if principal.user:
        end = f"/{APPROVALS_SCOPE}"
        tenants |= {scope.removesuffix(end) for scope in principal.scopes if scope.endswith(end)}
    return VisibleApprovals(
        tenants=frozenset(tenants),
        principals=expand_id(principal.user or principal.id),
        tenant=None if principal.user else principal.tenant,
    )


def may_see_approval(principal: Principal, approval: Approval) -> bool:
    """Whether this caller may see an approval: the caller of the tool, or an approver."""
    visible = find_visible_approvals(principal)
    return visible is None or visible.includes(approval)


def may_see_conversation(principal: Principal, conversation: Conversation) -> bool:
    """Whether this caller may see a conversation: only whose it is, with a key that reads."""
    is_limited = explain_missing_key_scope(principal, Effect.READ) != ""
    return conversation.belongs_to(principal) and not is_limited


def may_see_plan(principal: Principal, created_by: str) -> bool:
    """Whether this caller may see a plan of this owner (`tenant/id`)."""
    if created_by in expand_owner(principal.owner) or principal.is_operator:
        return True
    tenant = Principal(id="", tenant=principal.tenant).owner
    return principal.has_scope(PLANS_SCOPE) and created_by.startswith(tenant)


def may_see_run(principal: Principal, run: StoredRun) -> bool:
    """Whether this caller may see and control a run."""
    owner = run.start.principal
    return principal.owns(owner.tenant, owner.id) or principal.has_scope_in(
        owner.tenant, RUNS_SCOPE
    )


def check_may_control_run(principal: Principal, run: StoredRun, *, instead: str = "") -> None:
    """Refuse a key without `tools:write`, but for a run that this key has begun.

    Other runs may do what their caller may: who answers one, makes it call tools with those rights.

    Args:
        principal: The caller, who may see the run.
        run: The run.
        instead: A scope that is enough too.

    Raises:
        AccessDenied: The caller has sent such a key.
    """
    if not principal.key or run.start.principal.key != principal.key:
        check_key(principal, "runs", Effect.WRITE, instead=instead)


def check_is_person(principal: Principal, subject: str) -> None:
    """Refuse the keys of agents and services: who manages people could give itself any right.

    A key that a person has made to decide approvals acts for the person.

    Raises:
        AccessDenied: The caller is one.
    """
    if principal.kind in {"agent", "service"}:
        raise AccessDenied(subject, "the key of an agent or a service manages nothing of this")


def check_may_write(principal: Principal, subject: str) -> None:
    """Refuse a key that was made for less than to write.

    Raises:
        AccessDenied: The caller is one.
    """
    check_key(principal, subject, Effect.WRITE)


def check_may_read_audit(principal: Principal) -> None:
    """Refuse a caller that may not read the audit trail.

    Raises:
        AccessDenied: The caller lacks the scope.
    """
    if not principal.has_scope_in(principal.tenant, AUDIT_SCOPE):
        raise AccessDenied("the audit trail", f"the caller lacks the scope {AUDIT_SCOPE}")


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
