"""What a caller may not see changes nothing of what they find: no result, count, score or rank."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some
from tests.storage.made import a_storage
from tests.storage.test_documents import BOB, a_document, a_scope
from tests.storage.test_knowledge_index import MODEL, a_piece, indexed

from pegboard.core.ports.knowledge.document_store import DocumentScope
from pegboard.core.principal import LOCAL
from pegboard.storage import MemoryStorage, Storage
from pegboard.storage.knowledge.lazy_index import LazyKnowledgeIndex
from pegboard.storage.sql.knowledge import segments as knowledge_segments
from pegboard.storage.sql.knowledge.index import SqlKnowledgeIndex
from pegboard.testing import FakeClock

WORDS = ("red", "green", "blue", "cat", "dog")
TEXTS = some.lists(some.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
VECTORS = some.tuples(*[some.floats(-1, 1, width=16)] * 3).filter(any)
PIECES = some.lists(some.tuples(TEXTS, VECTORS), min_size=1, max_size=3)
DOCUMENTS = some.lists(PIECES, min_size=1, max_size=3)
HIDDEN: Sequence[dict[str, Any]] = (
    {"audience": "private"},
    {"audience": "organisation", "organisation": "acme"},
    {"state": "storing", "answers": False},
    {"state": "failed", "answers": False},
    {"replaced_by": "another"},
)
NUMBERS = iter(range(10**9))


@pytest.fixture(scope="module", params=["memory", "sqlite", "postgres"])
def shared(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    """A storage in which each example has bases of its own."""
    kind = request.param
    if kind == "postgres":
        kind = request.getfixturevalue("postgres_server")
    storage = a_storage(kind, tmp_path_factory.mktemp("hidden"), FakeClock())
    with pytest.MonkeyPatch.context() as patch:
        for name, count in {"_MIN_PIECES": 1, "_MIN_SEGMENT": 1, "_MAX_PIECES": 3}.items():
            patch.setattr(knowledge_segments, name, count)
        yield storage
    asyncio.run(storage.close())


def forget_loaded(storage: Any) -> None:
    """Let the next search load everything anew, from segments."""
    if not isinstance(storage, MemoryStorage):
        storage.knowledge_index = LazyKnowledgeIndex(lambda: SqlKnowledgeIndex(storage._database))


async def put(storage: Storage, base: str, name: str, pieces: Any, **changes: Any) -> str:
    key = f"{base}.{name}"
    await storage.documents.add(a_document(key, base=base, **changes))
    items = [
        indexed(a_piece(key, number, text, base=base), vector)
        for number, (text, vector) in enumerate(pieces, 1)
    ]
    await storage.knowledge_index.put(key, 1, items, embedder=MODEL)
    return key


async def look(storage: Storage, base: str, question: str, vector: Any, limit: int) -> Any:
    """Everything that a caller learns from a base, without its name.

    The operator asks first, so that what others may not see is loaded, too.
    """
    await ask(storage, a_scope(LOCAL, base, include_replaced=True), question, vector, limit)
    return await ask(storage, a_scope(BOB, base), question, vector, limit)


async def ask(
    storage: Storage, scope: DocumentScope, question: str, vector: Any, limit: int
) -> Any:
    (base,) = scope.bases
    terms = dict.fromkeys(question.split(), 1.0)
    words = await storage.knowledge_index.search_words(terms, scope, limit=limit)
    ready = await storage.documents.list_visible(scope, states=["ready"])
    near = await storage.knowledge_index.search_vectors(vector, scope, embedder=MODEL, limit=limit)
    return (
        [(it.piece.id.removeprefix(base), it.score) for it in words.pieces],
        words.rarities,
        [(it.piece.id.removeprefix(base), round(it.score, 4)) for it in near.pieces],
        near.passages,
        round(near.mean, 4),
        list((await storage.documents.count_ready(scope)).values()),
        [document.id.removeprefix(base) for document in ready],
    )


@given(
    visible=DOCUMENTS,
    hidden=some.lists(some.tuples(some.sampled_from(HIDDEN), PIECES), max_size=4),
    deleted=DOCUMENTS,
    question=TEXTS,
    vector=VECTORS,
    limit=some.sampled_from([1, 2, 10]),
    packs=some.booleans(),
)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_hidden_or_deleted_changes_nothing_of_what_is_found(
    shared: Storage,
    visible: Any,
    hidden: Any,
    deleted: Any,
    question: str,
    vector: Any,
    limit: int,
    packs: bool,
) -> None:
    async def compare() -> tuple[Any, Any]:
        number = next(NUMBERS)
        alone, among = f"alone{number}", f"among{number}"
        gone = [
            await put(shared, among, f"gone{index}", pieces) for index, pieces in enumerate(deleted)
        ]
        await look(shared, among, question, vector, limit)  # now it is loaded
        for index, pieces in enumerate(visible):
            await put(shared, alone, f"seen{index}", pieces)
            await put(shared, among, f"seen{index}", pieces)
            for offset, (changes, others) in enumerate(hidden[index::3]):
                await put(shared, among, f"hidden{index}.{offset}", others, **changes)
        if packs:
            await shared.knowledge_index.pack(among)
            forget_loaded(shared)
            await look(shared, among, question, vector, limit)
        for key in gone:
            await shared.documents.delete(key)
        if packs:
            await shared.knowledge_index.pack(among)
        return (
            await look(shared, alone, question, vector, limit),
            await look(shared, among, question, vector, limit),
        )

    expected, found = asyncio.run(compare())
    assert found == expected
