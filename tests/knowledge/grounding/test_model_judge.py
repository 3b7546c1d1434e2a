import json

from tests.knowledge.grounding.made import make_hit

from pegboard.knowledge.grounding.citations import quote_of
from pegboard.knowledge.grounding.model_judge import judge_conflicts, pick_quotes
from pegboard.knowledge.grounding.question import read_question
from pegboard.testing import ScriptedModel, Turn

QUESTION = "How long may a customer bring a record back?"
NEW = make_hit("Back within 30 days. See [3] there.", document="new")
OLD = make_hit("Back within 14 days.", document="old")


def script(**answer) -> ScriptedModel:
    return ScriptedModel(Turn(text=json.dumps(answer)), supports_tools=False)


async def test_a_model_sees_pieces_as_data_and_picks_quotes_of_them() -> None:
    model = script(quotes=[{"piece": 1, "quote": "See (3) there.", "supports": [0.7]}])

    picked = await pick_quotes(model, QUESTION, read_question(QUESTION), [NEW])

    shown = model.requests[0].messages[-1].text
    assert "<evidence-" in shown
    assert "[3]" not in shown
    assert [(quote.span.text, quote.alignment) for quote in picked.quotes] == [
        ("See [3] there.", 0.7)
    ]


async def test_pairs_within_a_document_are_none() -> None:
    quotes = [
        quote_of(NEW, 0, 20, alignments=(1.0,)),
        quote_of(NEW, 21, 35, alignments=(1.0,)),
        quote_of(OLD, 0, 20, alignments=(1.0,)),
    ]
    model = script(
        contradictions=[
            {"first": 1, "second": 2, "about": "one document"},
            {"first": 3, "second": 1, "about": "days"},
            {"first": 1, "second": 3, "about": "again"},
        ]
    )

    (pair,) = await judge_conflicts(model, QUESTION, quotes)

    assert (pair.first.span.text, pair.second.span.text) == (
        "Back within 30 days.",
        "Back within 14 days.",
    )
    assert (pair.judge, pair.about) == ("model", "days")


async def test_a_model_is_not_asked_about_one_document() -> None:
    model = ScriptedModel()

    assert await judge_conflicts(model, QUESTION, [quote_of(NEW, 0, 20, alignments=())]) == []
    assert (await pick_quotes(model, QUESTION, read_question(QUESTION), [])).quotes == ()
