import pytest

from pegboard.core.decision import Decision, Verdict


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_a_plain_yes_is_allowed(verdict: Verdict) -> None:
    decision = Decision(verdict=verdict, reason="because", rule="policy.deny[0]")

    assert decision.allowed == (verdict is Verdict.ALLOW)
