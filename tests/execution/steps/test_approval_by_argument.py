"""Policies that ask about single calls: what was not approved never runs."""

from collections.abc import Mapping
from typing import Any

from tests.execution.made import BOB

from pegboard import ToolRegistry, tool
from pegboard.access import Policy
from pegboard.core.context import ToolContext
from pegboard.core.decision import Decision, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import ToolSpec
from pegboard.errors import ApprovalRequired


class AskByArgument(Policy):
    """Allows every tool in general, and asks about calls with a large `n`, or by Bob."""

    has_call_rules = True

    def decide_call(
        self, principal: Principal, tool: ToolSpec, arguments: Mapping[str, Any] | None
    ) -> Decision:
        if principal == BOB or (arguments or {}).get("n", 0) > 100:
            return Decision(verdict=Verdict.ASK, reason="n is large", rule="policy.call[0]")
        return self.decide(tool)


class AskBehindTheBack(AskByArgument):
    """Says that it never asks, and does."""

    def may_ask(self, tool: ToolSpec) -> bool:
        return False


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
    registry, paid = refunds(AskByArgument())

    small = await registry.call("refund", {"n": 5})
    large = await registry.call("refund", {"n": 500})
    by_bob = await registry.call("refund", {"n": 5}, ToolContext(principal=BOB))

    assert small.unwrap() == "paid"
    assert isinstance(large.error, ApprovalRequired)
    assert isinstance(by_bob.error, ApprovalRequired)
    assert paid == [5]


async def test_a_call_that_was_asked_about_by_its_argument_runs_once_when_approved() -> None:
    registry, paid = refunds(AskByArgument())
    asked_first = await registry.call("refund", {"n": 500})
    assert isinstance(asked_first.error, ApprovalRequired)
    approvals = registry.environment.approvals
    await approvals.decide(asked_first.error.approval_id, "approved", by="ada")

    first = await registry.call("refund", {"n": 500})
    again = await registry.call("refund", {"n": 500})

    assert first.unwrap() == "paid"
    assert isinstance(again.error, ApprovalRequired)
    assert paid == [500]


async def test_what_is_asked_about_without_a_step_for_approvals_never_runs() -> None:
    registry, paid = refunds(AskBehindTheBack())

    result = await registry.call("refund", {"n": 500})

    assert isinstance(result.error, ApprovalRequired)
    assert paid == []
