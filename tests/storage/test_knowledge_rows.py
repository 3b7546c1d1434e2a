"""What a database keeps of documents and pieces, and what a process keeps of it."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select
from tests.storage.made import a_storage
from tests.storage.test_documents import a_document, a_scope
from tests.storage.test_knowledge_index import EAST, MODEL, a_piece, find, indexed, near, put

from pegboard.core.knowledge import ConvertedDocument
from pegboard.storage.columns import METADATA
from pegboard.storage.knowledge_tables import DOCUMENTS, PIECE_TERMS, PIECES
from pegboard.storage.sql.knowledge.changes import read_changes
from pegboard.storage.sql.knowledge.document_scope import (
    bind_scope,
    find_shape,
    where_answers,
    where_between_pages,
)
from pegboard.storage.sql.knowledge.index import SqlKnowledgeIndex
from pegboard.testing import FakeClock

TABLES = ("documents", "document_texts", "pieces", "piece_terms", "piece_vectors")


@pytest.fixture
async def storage(tmp_path: Path, clock: FakeClock) -> Any:
    async with a_storage("sqlite", tmp_path, clock) as opened:
        yield opened


async def read(storage: Any, statement: Any, values: Any = None) -> Any:
    return await storage._database.read(lambda transaction: transaction.all(statement, values))


async def count(storage: Any) -> dict[str, int]:
    return {
        name: (await read(storage, select(func.count()).select_from(METADATA.tables[name])))[0][0]
        for name in TABLES
    }


async def test_no_row_of_a_deleted_document_is_left(storage: Any) -> None:
    pieces = await put(storage, "d1", "one", "two")
    await storage.documents.put_text("d1", 1, ConvertedDocument(text="x", media_type="text/plain"))
    await storage.knowledge_index.put(
        "d1", 2, [indexed(piece, EAST) for piece in pieces], embedder=MODEL
    )
    assert list((await count(storage)).values()) == [1, 1, 2, 1, 1]

    await storage.documents.delete("d1")

    assert list((await count(storage)).values()) == [0, 0, 0, 0, 0]


async def test_a_number_of_an_entry_is_never_given_again(storage: Any) -> None:
    await put(storage, "d1", "one")
    before = await read(storage, select(PIECE_TERMS.c.number))
    await storage.documents.delete("d1")
    await put(storage, "d2", "one")

    assert (await read(storage, select(PIECE_TERMS.c.number)))[0] > before[0]


async def test_what_is_deleted_leaves_the_memory_of_the_process(storage: Any) -> None:
    await put(storage, "d1", "secret")
    await storage.knowledge_index.put_vectors(MODEL, {"d1.1": [EAST]})
    await put(storage, "d2", "plain")
    index = SqlKnowledgeIndex(storage._database)
    storage.knowledge_index = index
    await find(storage, "secret plain")
    await near(storage, EAST)
    assert index._words.get(("b1", ""))[0].entries.size == 2
    assert index._vectors.size > 0

    await storage.documents.delete("d1")
    await index.drop_deleted()

    assert index._words.get(("b1", ""))[0].entries.size == 1
    assert index._vectors.size == 0
    assert await find(storage, "secret plain") == ["d2.1"]


async def test_only_what_takes_rows_away_is_counted(storage: Any) -> None:
    changes = [await storage._database.read(read_changes)]
    await put(storage, "d1", "one")
    changes.append(await storage._database.read(read_changes))
    await storage.knowledge_index.put("d1", 2, [indexed(a_piece("d1", 1, "two"))])
    changes.append(await storage._database.read(read_changes))
    await storage.documents.delete("d1")
    changes.append(await storage._database.read(read_changes))

    assert changes == [0, 0, 1, 2]


async def test_conditions_are_of_rows_that_answer(storage: Any) -> None:
    await put(storage, "d1", "one", "two")
    await storage.documents.add(a_document("d2", state="held", answers=False))
    scope = a_scope(first_page=2)

    ready = await read(
        storage, select(DOCUMENTS.c.id).where(where_answers(find_shape(scope))), bind_scope(scope)
    )
    paged = await read(
        storage,
        select(PIECES.c.id).where(where_between_pages(find_shape(scope))),
        bind_scope(scope),
    )
    assert ([row.id for row in ready], [row.id for row in paged]) == (["d1"], ["d1.2"])
