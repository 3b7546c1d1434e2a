"""Judgements of a model."""

import json

from pegboard.core.model_messages import ModelUsage
from pegboard.engines.dag.analyzer import GoalJudgement, PlanAnalyzer
from pegboard.engines.dag.plan import StepOutcome
from pegboard.testing import ScriptedModel, Turn


async def test_a_goal_is_judged_by_the_outcomes_of_its_steps() -> None:
    said = {"achieved": False, "confidence": 0.4, "reason": "half", "missing": "the price"}
    usage = ModelUsage(requests=1, input_tokens=9)
    model = ScriptedModel(Turn(text=json.dumps(said), usage=usage), supports_schema=True)
    outcomes = [
        StepOutcome(id="a", title="Look", state="completed", text="7 euros"),
        StepOutcome(id="b", title="Ask", state="failed", text="no way"),
    ]
    judgement = await PlanAnalyzer(model).judge("Buy it.", outcomes)

    assert judgement == GoalJudgement(
        achieved=False, confidence=0.4, reason="half", missing="the price", usage=usage
    )
    asked = model.requests[0].messages[1].text
    assert asked.startswith("The goal:\nBuy it.")
    assert "Look (completed):\n7 euros\n\nAsk (failed):\nno way" in asked
