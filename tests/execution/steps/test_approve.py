"""A call that the policy asks about never reaches its tool."""

import pytest
from tests.execution.made import DONE, Following, a_call, a_kit, a_spec, a_target

from pegboard.access import Policy
from pegboard.core.decision import Decision, Verdict
from pegboard.core.tool import Effect
from pegboard.errors import ApprovalRequired
from pegboard.execution.steps.approve import approve


async def test_a_call_that_needs_an_approval_is_answered_with_the_reason() -> None:
    following = Following()
    handle = approve(a_target(a_spec(effect=Effect.ADMIN)), a_kit(), following)

    with pytest.raises(ApprovalRequired) as caught:
        await handle(a_call())

    assert following.calls == 0
    assert str(caught.value) == (
        "Approval needed for 'find': the default for tools that administer is ask. "
        "The tool was not run."
    )


async def test_what_was_decided_of_the_call_counts_and_not_what_holds_for_its_tool() -> None:
    following = Following()
    handle = approve(a_target(a_spec(effect=Effect.ADMIN)), a_kit(), following)
    yes = Decision(verdict=Verdict.ALLOW, reason="a person said yes", rule="approval")
    ask = Decision(verdict=Verdict.ASK, reason="it costs money", rule="policy.ask[0]")

    assert await handle(a_call(decision=yes)) == DONE
    with pytest.raises(ApprovalRequired, match="it costs money"):
        await handle(a_call(decision=ask))
    assert following.calls == 1


def test_a_tool_that_is_allowed_pays_nothing() -> None:
    following = Following()
    policy = Policy(allow=("find",))

    assert approve(a_target(a_spec(effect=Effect.ADMIN)), a_kit(policy=policy), following) is (
        following
    )
