from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from tests.knowledge.grounding.made import make_hit

from pegboard.knowledge.grounding.citations import (
    extract_citations,
    find_quote,
    verify_citation,
)

WORDS = st.sampled_from(
    ["record", "Records", "30 days", "receipt", "return.", "When?", "\n", "| a | 12 |", "- ",
     "客户。",
     "## Head\n", "```", "Dr.", "not", "…", "“money”", "\u200b", "e.g.", "1.", "> "]
)  # fmt: skip
TEXTS = st.lists(WORDS, max_size=60).map(" ".join)


@given(before=TEXTS, text=TEXTS)
def test_every_quote_is_the_text_of_its_document_at_its_offsets(before: str, text: str) -> None:
    document = before + text
    hit = make_hit(text, document="d", start=len(before))

    citations = extract_citations("When may a record be returned, and who has the receipt?", [hit])

    assert all(verify_citation(citation, document) for citation in citations)
    spans = sorted((citation.start, citation.end) for citation in citations)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))


def test_a_piece_whose_text_is_not_its_documents_is_not_quoted() -> None:
    hit = make_hit("The record comes back within 30 days.", document="d")
    shifted = structs.replace(hit, piece=structs.replace(hit.piece, end=5))

    assert extract_citations("When does the record come back?", [shifted]) == []


def test_two_pieces_that_overlap_are_quoted_once() -> None:
    text = "Every record has a price. The record comes back within 30 days."
    hits = [make_hit(text, document="d"), make_hit(text[26:], document="d", start=26)]

    citations = extract_citations("Within how many days does the record come back?", hits)

    assert [citation.quote for citation in citations] == ["The record comes back within 30 days."]


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("within 30 days", "within 30 days"),
        ("“within  30\ndays”", "within 30 days"),
        ("the shop's rule – always", "the shop’s rule - always"),
        ("within 31 days", None),
        ("30 within days", None),
        ("…", None),
        ("", None),
        ("x" * 5000, None),
    ],
)
def test_a_quote_is_found_only_where_it_stands(quote: str, found: str | None) -> None:
    text = "Back within 30 days: the shop’s rule - always."

    place = find_quote(quote, text)

    assert (text[place[0] : place[1]] if place else None) == found
