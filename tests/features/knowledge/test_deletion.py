"""A deleted document is in no file of the server any more."""

import asyncio
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Any, cast

import pytest

from pegboard import Pegboard
from pegboard.core.ports.chat_model import ChatModel
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import LOCAL
from pegboard.features.knowledge import DocumentQuery, NewBase, NewDocument
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.features.knowledge.deletion import Deletion

TEXT = "# Salaries\n\nThe zanzibar bonus of the director is 90 thousand in a year.\n"


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def put(board: Pegboard, base: KnowledgeBase) -> str:
    """The id of the document, once it answers."""
    new = NewDocument(name="salaries.md", chunks=_once(TEXT))
    await board.knowledge.documents.add(base, new, principal=LOCAL)
    while True:
        rows, _ = await board.knowledge.documents.list_page(base, DocumentQuery(), principal=LOCAL)
        if rows[0].answers:
            return rows[0].id
        await asyncio.sleep(0.02)


def find_traces(folder: Path) -> list[str]:
    """The files in which a word of the document stands."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path.name for path in files if b"zanzibar" in path.read_bytes()]


async def test_no_file_of_the_server_has_the_text_of_a_deleted_document(tmp_path: Path) -> None:
    async with Pegboard(data=tmp_path) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        document = await put(board, base)
        for mode in ("simple", "grounding"):
            found = await board.knowledge.ask(
                base, "What is the bonus of the director?", mode=mode, principal=LOCAL
            )
            assert found.evidence.citations
        for tool, given in (
            ("kb_open", {"document": document}),
            ("kb_grep", {"document": document, "pattern": "director"}),
        ):
            assert (await board.call(tool, given)).error is None
    assert find_traces(tmp_path)

    async with Pegboard(data=tmp_path) as board:
        (base,) = board.knowledge.bases.list_visible(LOCAL)
        await board.knowledge.documents.delete(base, document, principal=LOCAL)
        assert find_traces(tmp_path) == []

    assert find_traces(tmp_path) == []


async def test_a_question_that_waits_during_the_deletion_keeps_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Pegboard(data=tmp_path) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        document = await put(board, base)

        async def find_model() -> ChatModel | None:
            await board.knowledge.documents.delete(base, document, principal=LOCAL)
            return None

        monkeypatch.setattr(board.knowledge.answers, "_model", find_model)
        found = await board.knowledge.ask(
            base, "What is the bonus of the director?", principal=LOCAL
        )

    assert found.evidence.retrieval.hits == ()
    assert find_traces(tmp_path) == []


async def test_what_goes_with_a_base_is_counted_at_once() -> None:
    asked: list[tuple[str, int]] = []

    class Evidence:
        async def find_calls(self, owner: str, documents: Collection[str]) -> dict[str, str]:
            asked.append((owner, len(documents)))
            return {"k1": "", "k2": "c1", "k3": "c1"}

    rows = [
        StoredDocument(
            id=f"d{number}",
            base="b",
            name="a",
            owner="/ada",
            created_at=1.0,
            updated_at=1.0,
            size=10,
            pieces=2,
        )
        for number in range(300)
    ]
    unused = cast("Any", None)
    counted = await Deletion(cast("Any", Evidence()), unused, unused, unused).count(rows, LOCAL)

    assert asked == [(LOCAL.owner, 300)]
    assert counted == {
        "documents": 300,
        "bytes": 3_000,
        "pieces": 600,
        "results": 3,
        "answers": 1,
    }
