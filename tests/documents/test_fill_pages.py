"""Pages that a vision model read are put where they belong."""

from pegboard.core.knowledge import (
    ConvertedDocument,
    DocumentFinding,
    Gap,
    PageSpan,
    Receipt,
    TextBlock,
)
from pegboard.documents.fill_pages import fill_pages, find_empty_pages

_DOCUMENT = ConvertedDocument(
    text="one\n\nthree",
    media_type="application/pdf",
    pages=(PageSpan(1, 0, 0), PageSpan(2, 0, 3), PageSpan(3, 5, 5), PageSpan(4, 5, 10)),
    blocks=(TextBlock("paragraph", 0, 3), TextBlock("heading", 5, 10, 2)),
    findings=(DocumentFinding(kind="hidden", start=5, end=10, page=4),),
    receipt=Receipt(pages_in=4, pages_out=4, gaps=(Gap(1, "A picture."), Gap(3, "A picture."))),
)


def test_pages_without_text_that_are_gaps_are_found() -> None:
    assert find_empty_pages(_DOCUMENT) == [1, 3]


def test_a_page_is_filled_and_all_that_follows_moves() -> None:
    filled = fill_pages(_DOCUMENT, {1: "zero ", 3: ""})

    assert filled.text == "zero\n\none\n\n\n\nthree"
    assert [filled.text[page.start : page.end] for page in filled.pages] == [
        "zero",
        "one",
        "",
        "three",
    ]
    assert [(block.kind, filled.text[block.start : block.end]) for block in filled.blocks] == [
        ("picture", "zero"),
        ("paragraph", "one"),
        ("heading", "three"),
    ]
    assert filled.text[filled.findings[0].start : filled.findings[0].end] == "three"
    assert [gap.page for gap in filled.receipt.gaps] == [3]
    assert filled.receipt.characters == len(filled.text)
