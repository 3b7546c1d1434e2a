"""A new version of a document pays only for the pieces whose text is new."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from tests.documents.files import make_pdf, paragraph
from tests.features.knowledge.test_vectors import ConceptEmbedder, EmbeddingChoice, chosen

from pegboard import Pegboard
from pegboard.core.principal import LOCAL
from pegboard.features.knowledge import NewBase, NewDocument
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.runtime import Settings

__all__ = ["chosen"]

PAGES = tuple(
    f"The hound of page {number} sleeps in kennel {number}. It is fed at {number} minutes past six."
    for number in range(1, 201)
)
CHANGED = "Salaries arrive on the last day of the month."


async def _once(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def take_in(
    board: Pegboard, base: KnowledgeBase, folder: Path, pages: Sequence[str], *, is_new: bool = True
) -> int:
    """Take a PDF in, and check it first; how many pieces the check says would be embedded."""
    body = make_pdf(folder / "made.pdf", *([paragraph(page)] for page in pages)).read_bytes()
    knowledge, name = board.knowledge, "handbook.pdf"
    check = await knowledge.checker.check(
        base, NewDocument(name=name, chunks=_once(body)), principal=LOCAL
    )
    given = NewDocument(name=name, chunks=_once(body))
    row, _ = await knowledge.documents.add(base, given, principal=LOCAL)
    while row.state != "ready":
        assert row.state != "failed", row.reason
        await asyncio.sleep(0.05)
        row = await knowledge.documents.get(base, row.id, principal=LOCAL)
    assert row.pages == len(pages)
    return check.embedded


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "pages",
    [
        (*PAGES[:99], CHANGED, *PAGES[100:]),
        (*PAGES[100:], CHANGED, *PAGES[:100]),
    ],
    ids=["changed", "inserted"],
)
async def test_only_the_new_page_of_200_is_embedded(
    tmp_path: Path, chosen: EmbeddingChoice, pages: Sequence[str]
) -> None:
    chosen.model = embedder = ConceptEmbedder("one")
    async with Pegboard(settings=Settings(data=tmp_path / "data")) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        await take_in(board, base, tmp_path, PAGES)
        first, embedder.texts = embedder.texts, []

        told = await take_in(board, base, tmp_path, pages)
        sent, embedder.texts = embedder.texts, []
        found = await board.knowledge.ask(
            base, "When do wages arrive?", mode="simple", limit=1, principal=LOCAL
        )

    assert len(first) == 200
    assert (sent, told) == ([CHANGED], 1)
    assert [hit.piece.text for hit in found.evidence.retrieval.hits] == [CHANGED]
