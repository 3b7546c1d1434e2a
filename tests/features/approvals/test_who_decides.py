"""Who may decide an approval: not those who asked, where the policy wants another person."""

from collections.abc import Collection

import pytest

from pegboard import ToolRegistry, tool
from pegboard.access import CallRule, Policy
from pegboard.access.policy import Ask
from pegboard.core.context import ToolContext
from pegboard.core.ports.approval_store import Approval
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied, ApprovalRequired
from pegboard.execution import CallEnvironment
from pegboard.features.approvals import Approvals

DECIDES = frozenset({"acme/approvals:decide"})
ADA = Principal(
    id="u_ada", user="u_ada", tenant="acme", scopes=DECIDES, roles=frozenset({"acme/editor"})
)
EVE = Principal(id="u_eve", user="u_eve", tenant="zoo", scopes=DECIDES)
OTHER = Policy(ask=("*", Ask("refund", "other")))
BY_RULE = Policy(ask=("*",), rules=(CallRule(when="args.order == 1", then="ask", by="other"),))


@tool(effect="write")
async def refund(order: int) -> str:
    """Refund an order."""
    return f"refunded {order}"


async def asked(registry: ToolRegistry, principal: Principal = ADA, run_id: str = "") -> Approval:
    ctx = ToolContext(principal=principal, run_id=run_id)
    error = (await registry.call("refund", {"order": 1}, ctx)).error
    assert isinstance(error, ApprovalRequired)
    found = await registry.environment.approvals.get(error.approval_id)
    assert found is not None
    return found


def a_registry(policy: Policy) -> ToolRegistry:
    return ToolRegistry([refund], environment=CallEnvironment(policy=policy))


@pytest.mark.parametrize("policy", [OTHER, BY_RULE], ids=["a glob", "a rule"])
async def test_another_person_than_the_caller_has_to_approve(policy: Policy) -> None:
    registry = a_registry(policy)
    approvals = Approvals(registry)
    approval = await asked(registry)

    with pytest.raises(AccessDenied, match="another person than those who asked"):
        await approvals.decide(approval.id, "approve", principal=ADA)
    decided = await approvals.decide(approval.id, "approve", principal=EVE)

    assert (approval.by, decided.decided_by) == ("other", "u_eve")
    assert (await registry.call("refund", {"order": 1}, ToolContext(principal=ADA))).text == (
        "refunded 1"
    )


async def test_the_caller_may_approve_where_the_policy_names_no_other() -> None:
    registry = a_registry(Policy(ask=("*",)))

    decided = await Approvals(registry).decide((await asked(registry)).id, "approve", principal=ADA)

    assert (decided.by, decided.decided_by) == ("", "u_ada")


async def test_who_has_steered_the_run_may_not_approve_what_it_does() -> None:
    async def askers(run_id: str) -> Collection[str]:
        assert run_id == "r1"
        return {EVE.owner}

    registry = a_registry(OTHER)
    approvals = Approvals(registry, askers=askers)
    approval = await asked(registry, run_id="r1")

    with pytest.raises(AccessDenied, match="another person"):
        await approvals.decide(approval.id, "approve", principal=EVE)
    assert (await approvals.decide(approval.id, "deny", principal=LOCAL)).state == "denied"


@pytest.mark.parametrize(
    ("kind", "scopes", "refusal"),
    [
        ("agent", {"*"}, "a key decides approvals only where it was made with approvals:decide"),
        ("key", set[str](), "the person of this key is no approver of 'acme'"),
        ("key", {"zoo/approvals:decide"}, "the person of this key is no approver of 'acme'"),
        ("service", {"*"}, "service accounts decide no approvals"),
        ("user", set[str](), "the caller lacks the scope approvals:decide"),
        ("key", {"*", "approvals:decide"}, ""),
        ("key", DECIDES, ""),
    ],
    ids=[
        "every scope",
        "a key of a member",
        "an approver elsewhere",
        "a service account",
        "a member",
        "approvals named",
        "approvals of the organisation named",
    ],
)
async def test_a_key_approves_only_if_it_was_made_for_that_and_its_person_may(
    kind: str, scopes: set[str], refusal: str
) -> None:
    registry = a_registry(Policy(ask=("*",)))
    caller = Principal(id="u_eve", user="u_eve", kind=kind, key="key_1", scopes=frozenset(scopes))

    told = await Approvals(registry).explain_refusal(await asked(registry), principal=caller)

    assert told == refusal


async def test_an_approver_lists_what_it_may_decide_in_each_of_its_organisations() -> None:
    registry = a_registry(Policy(ask=("*",)))
    for tenant in ("acme", "zoo", "other"):
        await asked(registry, Principal(id=f"of {tenant}", tenant=tenant))
    scopes = frozenset({"acme/approvals:decide", "zoo/approvals:decide"})
    eve = Principal(id="u_eve", user="u_eve", tenant="acme", scopes=scopes)

    page = await Approvals(registry).list(principal=eve)

    assert {item.tenant for item in page.approvals} == {"acme", "zoo"}
