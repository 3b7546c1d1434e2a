"""What a file would change is told by its pages, before it is taken in."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.documents.files import make_pdf, paragraph
from tests.features.knowledge.test_vectors import ConceptEmbedder, EmbeddingChoice, chosen

from pegboard import Pegboard
from pegboard.core.knowledge import ConvertedDocument, PageSpan
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied
from pegboard.features.knowledge import NewBase, NewDocument
from pegboard.features.knowledge.document_check import PageDifference, compare_pages

__all__ = ["chosen"]


def make_text(*pages: str) -> ConvertedDocument:
    """A text with pages."""
    spans: list[PageSpan] = []
    whole = ""
    for number, page in enumerate(pages, 1):
        spans.append(PageSpan(number=number, start=len(whole), end=len(whole) + len(page)))
        whole += page
    return ConvertedDocument(text=whole, media_type="application/pdf", pages=tuple(spans))


@pytest.mark.parametrize(
    ("after", "difference"),
    [
        (("one ", "two ", "three "), PageDifference(total=3, unchanged=3)),
        (("one  ", "TWO ", "three "), PageDifference(total=3, unchanged=2, changed=(2,))),
        (("one ", "new ", "two ", "three "), PageDifference(total=4, unchanged=3, new=(2,))),
        (("one ", "three "), PageDifference(total=2, unchanged=2, vanished=(2,))),
        (("one ", "one ", "two "), PageDifference(total=3, unchanged=2, new=(2,), vanished=(3,))),
    ],
    ids=["same", "changed", "inserted", "gone", "twice"],
)
def test_pages_are_compared_by_what_stands_on_them(
    after: tuple[str, ...], difference: PageDifference
) -> None:
    assert compare_pages(make_text("one ", "two ", "three "), make_text(*after)) == difference


def write_pdf(folder: Path, *pages: str) -> bytes:
    """A PDF with these pages."""
    file = make_pdf(folder / "handbook.pdf", *([paragraph(page)] for page in pages))
    return file.read_bytes()


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


@pytest.mark.slow
async def test_a_new_version_is_checked_and_not_taken_in(
    tmp_path: Path, chosen: EmbeddingChoice
) -> None:
    chosen.model = embedder = ConceptEmbedder("one")
    old = write_pdf(tmp_path, "The hound sleeps.", "Salaries arrive early.", "The end of it.")
    new = write_pdf(tmp_path, "The hound sleeps.", "Salaries arrive late.", "The end of it.")
    async with Pegboard() as board:
        knowledge = board.knowledge
        base = await knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        first = await knowledge.checker.check(
            base, NewDocument(name="handbook.pdf", chunks=_once(old)), principal=LOCAL
        )
        given = NewDocument(name="handbook.pdf", chunks=_once(old))
        row, _ = await knowledge.documents.add(base, given, principal=LOCAL)
        while row.state != "ready":
            assert row.state != "failed", row.reason
            await asyncio.sleep(0.02)
            row = await knowledge.documents.get(base, row.id, principal=LOCAL)
        sent = len(embedder.texts)

        again = await knowledge.checker.check(
            base, NewDocument(name="copy.pdf", chunks=_once(old)), principal=LOCAL
        )
        checked = await knowledge.checker.check(
            base, NewDocument(name="handbook.pdf", chunks=_once(new)), principal=LOCAL
        )
        after = await knowledge.documents.get(base, row.id, principal=LOCAL)

    assert (first.outcome, first.pages.new, first.embedded) == ("new", (1, 2, 3), 3)
    assert (again.outcome, again.document) == ("already_here", row)
    assert checked.outcome == "changed"
    assert checked.pages == PageDifference(total=3, unchanged=2, changed=(2,))
    assert (checked.passages, checked.pieces, checked.embedded) == ({"changed": 1}, 3, 1)
    assert (after, len(embedder.texts)) == (row, sent)


async def test_a_reader_checks_nothing() -> None:
    async with Pegboard() as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        new = NewDocument(name="a.md", chunks=_once(b"Text."))
        with pytest.raises(AccessDenied):
            await board.knowledge.checker.check(base, new, principal=Principal(id="ada"))
