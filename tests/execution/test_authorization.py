"""What was turned off while a call waited holds for it too."""

import pytest
from tests.execution.made import a_call, a_kit, a_spec, a_target

from pegboard.core.decision import Verdict
from pegboard.core.tool import Effect
from pegboard.errors import AccessDenied, SourceUnavailable
from pegboard.execution.authorization import authorize, reauthorize


def test_a_denial_is_the_decision_of_the_call_and_an_error() -> None:
    kit, call = a_kit(), a_call()

    with pytest.raises(SourceUnavailable, match="'find' cannot be used: needs a key"):
        authorize(call, a_spec(unavailable="needs a key"), kit)

    assert call.decision is not None
    assert call.decision.verdict is Verdict.DENY


def test_an_answer_that_is_no_denial_is_left_to_whoever_asks() -> None:
    kit, call = a_kit(), a_call()

    decision = authorize(call, a_spec(effect=Effect.ADMIN), kit)

    assert (decision.verdict, call.decision) == (Verdict.ASK, None)


def test_a_call_that_has_waited_ends_by_a_switch_that_was_thrown_meanwhile() -> None:
    kit, target = a_kit(), a_target()
    reauthorize(a_call(), target, kit)

    kit.switches.turn_off(tool="find", reason="until noon")

    with pytest.raises(AccessDenied, match="until noon"):
        reauthorize(a_call(), target, kit)
