"""Citations of answers as data."""

from pegboard.core.knowledge import Citation
from pegboard.features.conversations.citation_views import view_citation


def test_a_citation_without_its_quote_is_of_a_deleted_document() -> None:
    citation = Citation(number=1, piece="p", document="d", base="b", quote="q", start=0, end=1)

    assert not view_citation(citation)["is_deleted"]
    blank = Citation(number=1, piece="p", document="d", base="b", quote="", start=0, end=1)
    assert view_citation(blank)["is_deleted"]
