"""Passages: what of a whole piece a question, or a sentence of an answer, rests on."""

from hypothesis import given
from msgspec import structs
from tests.knowledge.grounding.made import make_hit, make_retrieval
from tests.knowledge.grounding.test_citations import TEXTS

from pegboard.core.knowledge import Citation, Evidence, Hit
from pegboard.knowledge.grounding.citations import verify_citation
from pegboard.knowledge.grounding.passages import cite_passages, narrow_citation, widen_citations

RETURNS = (
    "# Returns\n\nThe shop is open on Sundays. Records can be returned within 30 days of purchase. "
    "The receipt is needed. Gift cards are never paid out. A refund takes 5 working days."
)


def cite(hit: Hit, number: int = 1) -> Citation:
    """A citation of a whole piece."""
    piece = hit.piece
    return Citation(
        number=number,
        piece=piece.id,
        document=piece.document,
        base=piece.base,
        quote=piece.text,
        start=piece.start,
        end=piece.end,
    )


def find(question: str, *texts: str | Hit) -> Evidence:
    """Evidence that cites whole pieces."""
    retrieval = make_retrieval(question, *texts)
    citations = tuple(cite(hit, number) for number, hit in enumerate(retrieval.hits, 1))
    return Evidence(question=question, enough=True, citations=citations, retrieval=retrieval)


def quotes_of(evidence: Evidence) -> list[str]:
    """The quotes of its citations."""
    return [it.quote for it in evidence.citations]


def test_a_question_is_answered_by_sentences_of_a_piece() -> None:
    evidence = find("Within how many days can records be returned?", RETURNS)

    narrowed = cite_passages(evidence)

    assert quotes_of(narrowed) == ["Records can be returned within 30 days of purchase."]
    assert verify_citation(narrowed.citations[0], RETURNS)
    assert (narrowed.citations[0].alignment or 0) > 0.5


def test_parts_of_a_question_are_cited_together_where_they_stand_near() -> None:
    question = "Within how many days can records be returned, and is the receipt needed?"

    narrowed = cite_passages(find(question, RETURNS))

    assert quotes_of(narrowed) == [
        "Records can be returned within 30 days of purchase. The receipt is needed."
    ]


def test_pieces_that_overlap_are_each_cited_by_the_sentence_they_share() -> None:
    hits = [make_hit(RETURNS, document="d"), make_hit(RETURNS[11:], document="d", start=11)]

    narrowed = cite_passages(find("How long does a refund take?", *hits))

    assert quotes_of(narrowed) == ["A refund takes 5 working days."] * 2


def test_a_piece_without_a_word_of_the_question_is_cited_as_a_whole() -> None:
    evidence = find("Wie lange kann man umtauschen?", RETURNS)

    assert cite_passages(evidence) == evidence


def test_a_model_is_shown_the_whole_pieces() -> None:
    evidence = find("How long does a refund take?", RETURNS, "A refund is paid in cash. Always.")

    assert widen_citations(structs.replace(cite_passages(evidence))) == tuple(
        structs.replace(it, alignment=narrowed.alignment)
        for it, narrowed in zip(evidence.citations, cite_passages(evidence).citations, strict=True)
    )


def test_an_answer_rests_on_the_sentences_that_carry_its_own() -> None:
    citation = cite(make_hit(f"Before. {RETURNS}", document="d", start=40))

    one = narrow_citation(citation, ["Refunds take 5 days."])
    two = narrow_citation(citation, ["Records come back within 30 days with the receipt."])
    both = narrow_citation(citation, ["You need the receipt.", "Refunds take 5 days."])

    assert one.quote == "A refund takes 5 working days."
    assert two.quote == "Records can be returned within 30 days of purchase. The receipt is needed."
    assert both.quote.startswith("The receipt is needed.")
    assert both.quote.endswith("A refund takes 5 working days.")
    assert all(verify_citation(it, f"{' ' * 40}Before. {RETURNS}") for it in (one, two, both))


def test_a_sentence_of_another_language_rests_on_the_whole_piece() -> None:
    citation = cite(make_hit(RETURNS, document="d"))

    assert narrow_citation(citation, ["Umtausch nur mit Beleg."]) == citation


@given(before=TEXTS, text=TEXTS, sentence=TEXTS)
def test_a_passage_is_the_text_of_its_document_at_its_offsets(
    before: str, text: str, sentence: str
) -> None:
    hit = make_hit(text, document="d", start=len(before))
    evidence = find("When may a record be returned within 30 days?", hit)

    asked = cite_passages(evidence).citations[0]
    said = narrow_citation(evidence.citations[0], [sentence])

    for citation in (asked, said):
        assert verify_citation(citation, before + text) or not text
        assert len(before) <= citation.start <= citation.end <= len(before + text)
