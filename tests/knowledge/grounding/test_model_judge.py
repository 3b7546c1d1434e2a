"""A model picks quotes; what it makes up is left out."""

import json

from tests.knowledge.grounding.made import make_hit

from pegboard.knowledge.grounding.model_judge import judge_conflicts, pick_quotes
from pegboard.knowledge.grounding.question import read_question
from pegboard.testing import ScriptedModel, Turn

QUESTION = "How long may a customer bring a record back?"
HIT = make_hit("Customers may bring back any record within 30 days.", document="d1")


async def test_a_quote_that_stands_nowhere_is_left_out() -> None:
    quotes = [
        {"piece": 1, "quote": "within 30 days", "supports": [0.9]},
        {"piece": 1, "quote": "within 90 days", "supports": [0.9]},
    ]
    model = ScriptedModel(Turn(text=json.dumps({"quotes": quotes})), supports_tools=False)

    picked = await pick_quotes(model, QUESTION, read_question(QUESTION), [HIT])

    assert [quote.span.text for quote in picked.quotes] == ["within 30 days"]
    assert picked.left_out == 1


async def test_one_document_contradicts_nothing_and_no_model_is_asked() -> None:
    assert await judge_conflicts(ScriptedModel(), QUESTION, []) == []
