"""Rules that ask about single calls: what was not approved never runs."""

import pytest
from tests.execution.made import BOB

from pegboard import ToolRegistry, tool
from pegboard.access import CallRule, Policy
from pegboard.core.context import ToolContext
from pegboard.core.decision import Verdict
from pegboard.errors import AccessDenied, ApprovalRequired

LARGE_OR_BY_BOB = Policy(
    rules=(CallRule(when="args.n > 100 || principal.id == 'bob'", then=Verdict.ASK),)
)


def refunds(policy: Policy) -> tuple[ToolRegistry, list[int]]:
    """A registry with the tool `refund`, and the amounts that it has paid."""
    paid: list[int] = []

    @tool(effect="write")
    def refund(n: int) -> str:
        """Pay."""
        paid.append(n)
        return "paid"

    return ToolRegistry([refund], policy=policy), paid


async def test_a_rule_that_asks_by_argument_or_caller_is_held_to() -> None:
    registry, paid = refunds(LARGE_OR_BY_BOB)

    small = await registry.call("refund", {"n": 5})
    large = await registry.call("refund", {"n": "500"})
    by_bob = await registry.call("refund", {"n": 5}, ToolContext(principal=BOB))

    assert small.unwrap() == "paid"
    assert isinstance(large.error, ApprovalRequired)
    assert isinstance(by_bob.error, ApprovalRequired)
    assert paid == [5]


async def test_a_call_that_was_asked_about_by_its_argument_runs_once_when_approved() -> None:
    registry, paid = refunds(LARGE_OR_BY_BOB)
    asked_first = await registry.call("refund", {"n": 500})
    assert isinstance(asked_first.error, ApprovalRequired)
    approvals = registry.environment.approvals
    await approvals.decide(asked_first.error.approval_id, "approved", by="ada")

    first = await registry.call("refund", {"n": 500})
    again = await registry.call("refund", {"n": 500})

    assert first.unwrap() == "paid"
    assert isinstance(again.error, ApprovalRequired)
    assert paid == [500]


async def test_a_rule_that_fails_for_a_call_denies_it() -> None:
    rule = CallRule(when="args.missing == 1", then=Verdict.ALLOW)
    registry, paid = refunds(Policy(rules=(rule,)))

    result = await registry.call("refund", {"n": 5})

    assert isinstance(result.error, AccessDenied)
    assert "could not be decided" in result.text
    assert paid == []


@pytest.mark.parametrize("n", ["x", None])
async def test_wrong_arguments_are_told_where_a_rule_looks_at_them(n: object) -> None:
    registry, _ = refunds(LARGE_OR_BY_BOB)

    result = await registry.call("refund", {"n": n})

    assert "n:" in result.text
