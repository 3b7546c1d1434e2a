"""The limits of a run."""

import pytest

from pegboard.core.model_messages import ModelUsage
from pegboard.engines.agent_limits import AgentLimits, check_limits
from pegboard.errors import LimitReached

USED = ModelUsage(requests=1, input_tokens=6, output_tokens=4, cost=0.5)


def test_a_run_below_its_limits_goes_on() -> None:
    limits = AgentLimits(calls=3, tokens=11, cost=0.6, seconds=5)

    check_limits(limits, USED, 2, elapsed=4.9)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (AgentLimits(calls=2), "The agent has reached its limit of 2 calls."),
        (AgentLimits(tokens=10), "The agent has reached its limit of 10 tokens."),
        (AgentLimits(cost=0.5), "The agent has reached its limit of 0.5 cost."),
        (AgentLimits(seconds=5), "The agent has reached its limit of 5 seconds."),
    ],
)
def test_a_limit_that_is_reached_is_named(limits: AgentLimits, message: str) -> None:
    with pytest.raises(LimitReached) as caught:
        check_limits(limits, USED, 2, elapsed=5)

    assert str(caught.value) == message
