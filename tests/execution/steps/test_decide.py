"""The decision stands before the tool, and goes into the call."""

from typing import Any

import pytest
from tests.execution.made import DONE, Following, a_call, a_kit, a_spec, a_target

from pegboard.access import Policy
from pegboard.core.decision import Decision, Verdict
from pegboard.core.tool import Effect, Status
from pegboard.errors import AccessDenied, PegboardError, SourceUnavailable
from pegboard.execution.steps.decide import decide


async def test_an_allowed_call_goes_on_and_carries_its_decision() -> None:
    call = a_call()

    result = await decide(a_target(), a_kit(policy=Policy(allow=("f*",))), Following())(call)

    assert result == DONE
    assert call.decision == Decision(
        verdict=Verdict.ALLOW,
        reason="the policy's allow rule 'f*' matches",
        rule="policy.allow[0]",
    )


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        ({"scopes": ("money",)}, AccessDenied, "Access to 'find' denied: the caller lacks the "),
        ({"status": Status.DISABLED}, AccessDenied, "Access to 'find' denied: the tool is disable"),
        ({"unavailable": "needs a key"}, SourceUnavailable, "'find' cannot be used: needs a key"),
    ],
    ids=["scope", "disabled", "unavailable"],
)
async def test_a_denied_call_goes_no_further(
    spec: dict[str, Any], kind: type[PegboardError], message: str
) -> None:
    following, call = Following(), a_call()

    with pytest.raises(kind) as caught:
        await decide(a_target(a_spec(**spec)), a_kit(), following)(call)

    assert following.calls == 0
    assert str(caught.value).startswith(message)
    assert call.decision is not None
    assert call.decision.verdict is Verdict.DENY


async def test_what_needs_an_approval_is_left_to_the_next_step() -> None:
    call, following = a_call(), Following()

    await decide(a_target(a_spec(effect=Effect.ADMIN)), a_kit(), following)(call)

    assert call.decision is not None
    assert call.decision.verdict is Verdict.ASK
    assert following.calls == 1


async def test_a_switch_holds_from_the_next_call_on() -> None:
    kit, following = a_kit(), Following()
    handle = decide(a_target(), kit, following)
    await handle(a_call())
    kit.switches.turn_off(tool="find", reason="a fire")

    with pytest.raises(AccessDenied, match="a fire"):
        await handle(a_call())

    kit.switches.turn_on(tool="find")
    await handle(a_call())
    assert following.calls == 2
