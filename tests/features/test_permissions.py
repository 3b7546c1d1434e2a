"""The scopes and owners that the services require."""

import pytest

from pegboard.core.ports.approval_store import Approval
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied
from pegboard.features.permissions import (
    APPROVALS_SCOPE,
    check_may_change_catalogue,
    may_decide_approvals,
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
        (Principal(id="ada", tenant="other", scopes=DECIDES), False, True),
    ],
    ids=["operator", "caller", "colleague", "approver", "stranger"],
)
def test_an_approval_is_seen_by_its_caller_and_by_approvers_of_its_tenant(
    principal: Principal, sees: bool, decides: bool
) -> None:
    found = (may_see_approval(principal, APPROVAL), may_decide_approvals(principal))

    assert found == (sees, decides)


def test_the_catalogue_is_changed_only_with_its_scope() -> None:
    check_may_change_catalogue(LOCAL, "the marketplaces")
    check_may_change_catalogue(
        Principal(id="ann", scopes=frozenset({"catalogue:write"})), "the marketplaces"
    )
    with pytest.raises(AccessDenied):
        check_may_change_catalogue(Principal(id="bob"), "the marketplaces")
