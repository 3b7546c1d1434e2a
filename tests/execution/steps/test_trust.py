"""The step of trust is there for the tools that need it alone."""

import pytest
from tests.execution.made import DONE, Following, a_call, a_kit, a_spec, a_target

from pegboard.access import Policy
from pegboard.core.context import ToolContext
from pegboard.core.decision import Verdict
from pegboard.core.tool import Effect
from pegboard.execution.steps.trust import trust


@pytest.mark.parametrize(
    ("effect", "trusted", "needed"),
    [
        (Effect.READ, True, False),
        (Effect.READ, False, True),
        (Effect.WRITE, True, True),
    ],
    ids=["a trusted read", "an untrusted read", "a write"],
)
def test_a_tool_without_a_need_for_it_has_no_step(
    effect: Effect, *, trusted: bool, needed: bool
) -> None:
    kit = a_kit(policy=Policy(untrusted=Verdict.ASK, trust_messages=False))
    following = Following(DONE)

    step = trust(a_target(a_spec(effect=effect, trusted=trusted)), kit, following)

    assert (step is not following) is needed


def test_a_tool_whose_results_may_be_arguments_later_has_the_step() -> None:
    kit = a_kit(policy=Policy(untrusted=Verdict.ASK))
    following = Following(DONE)

    assert trust(a_target(a_spec(effect=Effect.READ)), kit, following) is not following


async def test_a_call_outside_any_run_is_marked_and_leaves_nothing() -> None:
    kit = a_kit()
    call = a_call()
    call.ctx = ToolContext()

    result = await trust(a_target(a_spec(trusted=False)), kit, Following(DONE))(call)

    assert (result.meta.untrusted, call.untrusted) == (True, True)
    assert await kit.trust.find(call.ctx) is None
