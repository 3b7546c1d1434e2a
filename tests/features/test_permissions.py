"""The scopes and owners that the services require."""

import pytest

from pegboard.core.ports.approval_store import Approval
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied
from pegboard.features.permissions import (
    APPROVALS_SCOPE,
    AUDIT_SCOPE,
    VisibleOwners,
    check_may_change_catalogue,
    find_visible_owners,
    may_decide_approval,
    may_see_approval,
)

APPROVAL = Approval(id="a1", digest="d", tool="pay", principal="ada", tenant="acme", created_at=1.0)
DECIDES = frozenset({APPROVALS_SCOPE})


@pytest.mark.parametrize(
    ("principal", "sees", "decides"),
    [
        (LOCAL, True, True),
        (Principal(id="ada", tenant="acme"), True, False),
        (Principal(id="bob", tenant="acme"), False, False),
        (Principal(id="bob", tenant="acme", scopes=DECIDES), True, True),
        (Principal(id="ada", tenant="other", scopes=DECIDES), False, False),
        (
            Principal(id="u_1", user="u_1", scopes=frozenset({f"acme/{APPROVALS_SCOPE}"})),
            True,
            True,
        ),
        (
            Principal(id="u_1", user="u_1", scopes=frozenset({f"zoo/{APPROVALS_SCOPE}"})),
            False,
            False,
        ),
        (Principal(id="ada", user="ada", tenant="zoo"), True, False),
    ],
    ids=[
        "operator",
        "caller",
        "colleague",
        "approver",
        "stranger",
        "account with the role",
        "account with the role elsewhere",
        "account of the caller",
    ],
)
def test_an_approval_is_seen_by_its_caller_and_by_approvers_of_its_tenant(
    principal: Principal, sees: bool, decides: bool
) -> None:
    found = (may_see_approval(principal, APPROVAL), may_decide_approval(principal, APPROVAL))

    assert found == (sees, decides)


def test_the_catalogue_is_changed_only_with_its_scope() -> None:
    check_may_change_catalogue(LOCAL, "the marketplaces")
    check_may_change_catalogue(
        Principal(id="ann", scopes=frozenset({"catalogue:write"})), "the marketplaces"
    )
    with pytest.raises(AccessDenied):
        check_may_change_catalogue(Principal(id="bob"), "the marketplaces")


READS = frozenset({AUDIT_SCOPE})


@pytest.mark.parametrize(
    ("principal", "asked", "found"),
    [
        pytest.param(LOCAL, "", VisibleOwners(tenant=None, principal=""), id="operator"),
        pytest.param(LOCAL, "ada", VisibleOwners(tenant=None, principal="ada"), id="one of all"),
        pytest.param(
            Principal(id="ann", tenant="acme", scopes=READS),
            "ada",
            VisibleOwners(tenant="acme", principal="ada"),
            id="one of the tenant",
        ),
        pytest.param(
            Principal(id="bob", tenant="acme"),
            "",
            VisibleOwners(tenant="acme", principal="bob"),
            id="ones own",
        ),
        pytest.param(Principal(id="bob", tenant="acme"), "ada", None, id="of somebody else"),
        pytest.param(
            Principal(id="u_1", user="u_1", tenant="acme"),
            "u_1",
            VisibleOwners(tenant=None, principal="u_1"),
            id="of an account, for any organisation",
        ),
    ],
)
def test_a_caller_lists_what_it_may_see(
    principal: Principal, asked: str, found: VisibleOwners | None
) -> None:
    assert find_visible_owners(principal, AUDIT_SCOPE, asked=asked) == found
