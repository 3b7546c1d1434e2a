"""Estimates of tokens, and their correction."""

import pytest

from pegboard.core.model_messages import AssistantMessage, ModelTool, ToolCall, UserMessage
from pegboard.engines.context.token_estimate import TokenEstimate, measure_message


def test_calls_and_signatures_count() -> None:
    call = ToolCall(id="c", name="read", arguments='{"path": "' + "x" * 3_000 + '"}')
    message = AssistantMessage(calls=(call,), provider={"signature": "s" * 300})

    assert measure_message(message) > 1_100
    assert measure_message(UserMessage(text="")) < 10


def test_listed_tools_count() -> None:
    tool = ModelTool(name="read", description="x" * 300, parameters={"type": "object"})

    assert TokenEstimate([tool]).tool_units > 100
    assert TokenEstimate().tool_units == 0


@pytest.mark.parametrize(
    ("units", "counted", "scale"),
    [(100, 80, 0.8), (100, 0, 1.0), (0, 80, 1.0), (100, 9_000, 4.0), (100, 1, 0.25)],
    ids=["counted", "unknown", "nothing estimated", "far too many", "far too few"],
)
def test_the_provider_corrects_the_estimate(units: int, counted: int, scale: float) -> None:
    estimate = TokenEstimate()
    estimate.correct(units, counted)

    assert estimate.scale == scale
    assert estimate.tokens(1_000) == int(1_000 * scale) + 1
