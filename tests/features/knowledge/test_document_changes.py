"""What changed between two texts is counted by pages, and named by the page of each side."""

from pegboard.core.knowledge import ConvertedDocument, PageSpan
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.features.knowledge.document_changes import DocumentChanges, find_page_at
from pegboard.knowledge.text_changes import find_changes


def make(*pages: str) -> ConvertedDocument:
    """A text with pages."""
    spans: list[PageSpan] = []
    text = ""
    for number, page in enumerate(pages, 1):
        spans.append(PageSpan(number=number, start=len(text), end=len(text) + len(page) + 1))
        text += f"{page}\n"
    return ConvertedDocument(text=text, media_type="application/pdf", pages=tuple(spans))


def test_pages_with_a_changed_passage_are_counted_once() -> None:
    before = make("One.", "Two is short.\nIt stays.\nSo it is.", "Three.")
    after = make("One.", "Two is long.\nIt stays.\nSo it was.", "Three.")
    changes = DocumentChanges(
        since=1, until=2, before=before, after=after, changes=find_changes(before.text, after.text)
    )
    row = StoredDocument(id="d", base="b", name="n", owner="/a", created_at=0, updated_at=0)

    shown = changes.to_dict(row, start=0, limit=50)

    assert (shown["changed_pages"], shown["pages"], shown["changed"]) == (1, 3, 2)
    assert [it["after"]["page"] for it in shown["passages"]] == [2, 2]


def test_an_offset_behind_the_end_is_on_the_last_page() -> None:
    pages = make("One.", "Two.").pages

    assert [find_page_at(pages, offset) for offset in (0, 4, 5, 999)] == [1, 1, 2, 2]
    assert find_page_at((), 7) == 0
