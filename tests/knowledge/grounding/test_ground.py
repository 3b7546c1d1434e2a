import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.knowledge.grounding.made import make_hit, make_retrieval

from pegboard.core.knowledge import BaseLook
from pegboard.errors import Unavailable
from pegboard.knowledge.grounding.check_answer import check_answer
from pegboard.knowledge.grounding.citations import verify_citation
from pegboard.knowledge.grounding.evidence_frame import render_evidence
from pegboard.knowledge.grounding.ground import ground
from pegboard.testing import ScriptedModel, Turn

RETURNS = "How long may a customer bring a record back?"
NEW = make_hit(
    "Every record leaves with its receipt in the bag. Customers may bring back any record within "
    "30 days of purchase, with the receipt.",
    document="handbook-2026",
    title="Shop handbook",
    edition="2026",
    start=120,
    page=17,
)
OLD = make_hit(
    "Customers may bring back any record within 14 days of purchase, with the receipt.",
    document="handbook-2023",
    title="Shop handbook",
    edition="2023",
    page=12,
)


async def test_an_answered_question_has_quotes_with_their_place() -> None:
    evidence = await ground(RETURNS, make_retrieval(RETURNS, NEW))

    first = evidence.citations[0]
    assert evidence.enough
    assert evidence.reason == ""
    assert first.quote.startswith("Customers may bring back any record within 30 days")
    assert (first.document, first.page, first.edition) == ("handbook-2026", 17, "2026")
    assert NEW.piece.text[first.start - 120 : first.end - 120] == first.quote


async def test_editions_that_disagree_are_shown_both() -> None:
    evidence = await ground(RETURNS, make_retrieval(RETURNS, NEW, OLD))

    quotes = {citation.number: citation for citation in evidence.citations}
    (conflict,) = evidence.conflicts
    assert {quotes[conflict.first].edition, quotes[conflict.second].edition} == {"2026", "2023"}
    assert conflict.judge == "figures"
    assert "30" in conflict.about
    assert "14" in conflict.about


async def test_a_passage_on_the_topic_without_the_answer_is_not_enough() -> None:
    question = "Who signs for a delivery?"
    retrieval = structs.replace(
        make_retrieval(
            question, make_hit("A delivery is unpacked on the day it comes.", score=0.5)
        ),
        looks=(BaseLook(base="b", name="Shop", documents=3, pieces=571, not_ready=("Prices",)),),
    )

    evidence = await ground(question, retrieval)

    assert not evidence.enough
    assert "571 pieces of 3 documents" in evidence.reason
    assert "1 document is not ready" in evidence.reason


async def test_what_is_not_enough_has_its_quotes_but_claims_no_conflict() -> None:
    found = make_retrieval(RETURNS, NEW, OLD)

    evidence = await ground(RETURNS, found, threshold=1.0)

    assert not evidence.enough
    assert {citation.edition for citation in evidence.citations} == {"2026", "2023"}
    assert evidence.conflicts == ()


async def test_nothing_found_is_not_enough() -> None:
    evidence = await ground(RETURNS, make_retrieval(RETURNS))

    assert not evidence.enough
    assert evidence.citations == ()
    assert evidence.confidence is not None
    assert evidence.confidence.value == 0


async def test_a_quote_that_a_model_makes_up_is_left_out() -> None:
    picked = {
        "quotes": [
            {"piece": 1, "quote": "any record within\n30 days of purchase", "supports": [0.9]},
            {"piece": 1, "quote": "any record within 90 days of purchase", "supports": [1.0]},
        ]
    }
    model = ScriptedModel(Turn(text=json.dumps(picked)), supports_tools=False)

    evidence = await ground(RETURNS, make_retrieval(RETURNS, NEW), model=model)

    assert [citation.quote for citation in evidence.citations] == [
        "any record within 30 days of purchase"
    ]
    assert evidence.citations[0].alignment == 0.9
    assert evidence.left_out == 1


async def test_a_model_judges_which_quotes_contradict() -> None:
    picked = {
        "quotes": [
            {"piece": 1, "quote": "within 30 days of purchase", "supports": [0.9]},
            {"piece": 2, "quote": "within 14 days of purchase", "supports": [0.9]},
        ]
    }
    judged = {"contradictions": [{"first": 2, "second": 1, "about": "days a customer has"}]}
    model = ScriptedModel(
        Turn(text=json.dumps(picked)), Turn(text=json.dumps(judged)), supports_tools=False
    )

    evidence = await ground(RETURNS, make_retrieval(RETURNS, NEW, OLD), model=model)

    (conflict,) = evidence.conflicts
    assert (conflict.judge, conflict.about) == ("model", "days a customer has")


async def test_rules_do_what_a_model_that_fails_does_not() -> None:
    model = ScriptedModel(Turn(error=Unavailable("later")), supports_tools=False)

    evidence = await ground(RETURNS, make_retrieval(RETURNS, NEW, OLD), model=model)

    assert [conflict.judge for conflict in evidence.conflicts] == ["figures"]


@settings(max_examples=40)
@given(
    question=st.text(max_size=80), texts=st.lists(st.text(max_size=120), max_size=3), data=st.data()
)
async def test_whatever_documents_say_is_grounded_and_rendered(
    question: str, texts: list[str], data: st.DataObject
) -> None:
    evidence = await ground(question, make_retrieval(question, *texts))
    answer = data.draw(st.text(max_size=60)) + "[1] " + render_evidence(evidence)
    checked = check_answer(answer, evidence.citations, question=question)

    assert {citation.number for citation in checked.citations} <= {
        citation.number for citation in evidence.citations
    }
    for citation in evidence.citations:
        assert verify_citation(citation, texts[int(citation.document.removeprefix("doc-")) - 1])


async def test_many_sentences_that_are_alike_cost_little() -> None:
    texts = [
        " ".join(f"The record number {number} costs {price} euro." for number in range(800))
        for price in (10, 11)
    ]

    evidence = await ground("What do records cost?", make_retrieval("?", *texts))

    assert len(evidence.citations) <= 24


@pytest.mark.parametrize(
    ("header", "row", "score", "enough"),
    [
        ("Zone | Price | Days", "Iceland | 19.00 | 7", 0.2, True),
        ("Zone | Days", "Iceland | 7", 0.3, False),
        ("Zone | Price | Days", "Iceland | on request | 7", 0.3, False),
    ],
    ids=["price", "no price", "price elsewhere"],
)
async def test_a_row_of_a_table_answers_where_a_price_stands_in_its_column(
    header: str, row: str, score: float, enough: bool
) -> None:
    question = "What does shipping to Iceland cost?"
    table = f"# Shipping\n\n| {header} |\n|{'---|' * (header.count('|') + 1)}\n| {row} |\n"

    evidence = await ground(question, make_retrieval(question, make_hit(table, score=score)))

    assert evidence.enough is enough


async def test_a_time_in_words_answers_when() -> None:
    question = "When does the archive in Kraków close?"
    text = "The archive in Kraków closes at seven."

    evidence = await ground(question, make_retrieval(question, make_hit(text, score=0.3)))

    assert evidence.enough
