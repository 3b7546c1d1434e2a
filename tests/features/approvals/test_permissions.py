"""Who sees an approval: whose call it is, and who decides in its tenant."""

import pytest

from pegboard.core.ports.approval_store import Approval
from pegboard.core.principal import LOCAL, Principal
from pegboard.features.approvals.permissions import SCOPE, may_decide, may_see

APPROVAL = Approval(id="a1", digest="d", tool="pay", principal="ada", tenant="acme", created_at=1.0)
DECIDES = frozenset({SCOPE})


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
def test_who_may(principal: Principal, sees: bool, decides: bool) -> None:
    assert (may_see(principal, APPROVAL), may_decide(principal)) == (sees, decides)
