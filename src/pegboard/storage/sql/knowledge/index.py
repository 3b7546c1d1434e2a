"""The pieces of documents in a database, found by words and by vectors.

Rows are the truth. What is searched are segments (`knowledge/segment_cache.py`), which a process
loads when a base is first asked; each search reads which documents the caller may see now, loads
what is new, and drops what was deleted.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from random import randrange
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Text, bindparam, cast, delete, func, select, update

from pegboard.core.knowledge import Piece
from pegboard.core.ports.knowledge.document_store import DocumentScope
from pegboard.core.ports.knowledge.index import (
    IndexedPiece,
    ScoredPiece,
    VectorMatches,
    WordMatches,
)
from pegboard.core.principal import LOCAL
from pegboard.core.record_snapshot import clean_text
from pegboard.errors import DocumentNotFound
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.json_text import dump, load
from pegboard.storage.knowledge.entry_codec import (
    Array,
    decode_terms,
    decode_vectors,
    encode_terms,
    list_ids,
    split_vectors,
)
from pegboard.storage.knowledge.search import Wanted, search_vectors, search_words
from pegboard.storage.knowledge.segment_cache import Found, Key, Kind, SegmentCache
from pegboard.storage.knowledge.vector_segment import (
    VectorSegment,
    build_matrix,
    merge_matrices,
)
from pegboard.storage.knowledge.word_segment import WordSegment, build_segment, merge_segments
from pegboard.storage.knowledge_tables import DOCUMENTS, PIECE_TERMS, PIECE_VECTORS, PIECES
from pegboard.storage.sql.knowledge.changes import count_change, drop_segments, read_changes
from pegboard.storage.sql.knowledge.document_scope import (
    ScopeShape,
    bind_scope,
    find_shape,
    in_bases,
    where_answers,
    where_between_pages,
)
from pegboard.storage.sql.knowledge.entry_bodies import read_bodies
from pegboard.storage.sql.knowledge.segments import (
    SegmentPacker,
    list_segments,
    read_segment,
)
from pegboard.storage.sql.knowledge.vector_rows import (
    Vectors,
    insert_vectors,
    list_bare,
    list_known,
)
from pegboard.storage.sql.knowledge.wanted_pairs import bind_pairs, select_pairs

Entry = TypeVar("Entry")

MAX_PRELOADED = 2**29
"""Bytes in memory from which on nothing more is loaded before it is asked for."""
_LOADED_AT_ONCE = 200
_ATTEMPTS = 2
_IDS_AT_ONCE = 500


class SqlKnowledgeIndex:
    """The `KnowledgeIndex` of a database."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep everything there."""
        self._database = database
        self._words = SegmentCache(build_segment, merge_segments)
        self._vectors = SegmentCache(build_matrix, merge_matrices)
        self._packer = SegmentPacker(database)
        self._changes = 0

    async def put(
        self,
        document: str,
        revision: int,  # noqa: ARG002 - only the last content is kept
        pieces: Sequence[IndexedPiece],
        *,
        embedder: str = "",
    ) -> None:
        body = await asyncio.to_thread(encode_terms, pieces)
        new = _Content(document, pieces, body, embedder)
        await self._database.run(new.put)

    async def put_vectors(self, embedder: str, vectors: Vectors) -> None:
        def put(transaction: Transaction) -> None:
            by_document: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}
            columns = (
                PIECES.c.id,
                PIECES.c.document,
                PIECES.c.base,
                PIECES.c.number,
                PIECES.c.page,
            )
            for ids in _split([clean_text(key) for key in vectors]):
                wanted = select(*columns).where(PIECES.c.id.in_(ids))
                for row in transaction.all(wanted):
                    places = by_document.setdefault((row.document, row.base), {})
                    places[row.id] = (row.number, row.page)
            for (document, base), places in by_document.items():
                known = list_known(transaction, document, embedder)
                those = {key: vectors[key] for key in places if vectors[key] and key not in known}
                insert_vectors(transaction, document, base, embedder, those, places)

        await self._database.run(put)

    async def delete_vectors(self, base: str, embedder: str) -> None:
        table = PIECE_VECTORS.c
        wanted = (table.base == clean_text(base), table.embedder == clean_text(embedder))

        def remove(transaction: Transaction) -> None:
            transaction.execute(delete(PIECE_VECTORS).where(*wanted))
            count_change(transaction)

        await self._database.run(remove)
        await self.drop_deleted()

    async def search_words(
        self, terms: Mapping[str, float], scope: DocumentScope, *, limit: int
    ) -> WordMatches:
        wanted, segments = await self._load_words(scope)
        pages = (scope.first_page, scope.last_page)
        found, rarities = await asyncio.to_thread(
            search_words, terms, segments, wanted, pages, limit
        )
        return WordMatches(await self._fetch(found, scope), rarities)

    async def search_vectors(
        self, vector: Sequence[float], scope: DocumentScope, *, embedder: str, limit: int
    ) -> VectorMatches:
        wanted, segments = await self._load_vectors(scope, embedder)
        pages = (scope.first_page, scope.last_page)
        found, passages, mean = await asyncio.to_thread(
            search_vectors, vector, segments, wanted, pages, limit
        )
        return VectorMatches(await self._fetch(found, scope, by_vectors=True), passages, mean)

    async def list_pieces(
        self, document: str, *, start: int = 1, limit: int = 100
    ) -> Sequence[Piece]:
        wanted = (PIECES.c.document == clean_text(document)) & (PIECES.c.number >= start)
        statement = select(PIECES.c.body).where(wanted).order_by(PIECES.c.number).limit(limit)
        rows = await self._database.read(lambda transaction: transaction.all(statement))
        return [load(row.body, Piece) for row in rows]

    async def get_pieces(self, ids: Sequence[str], scope: DocumentScope) -> Sequence[Piece]:
        shape, values = find_shape(scope), bind_scope(scope)
        statement = (
            select(PIECES.c.id, PIECES.c.body)
            .join_from(PIECES, DOCUMENTS, DOCUMENTS.c.id == PIECES.c.document)
            .where(where_answers(shape), where_between_pages(shape))
        )

        def read(transaction: Transaction) -> dict[str, str]:
            return {
                row.id: row.body
                for those in _split([clean_text(key) for key in ids])
                for row in transaction.all(statement.where(PIECES.c.id.in_(those)), values)
            }

        bodies = await self._database.read(read)
        return [load(bodies[key], Piece) for key in map(clean_text, ids) if key in bodies]

    async def list_with_vectors(self, document: str, embedder: str) -> Sequence[str]:
        key = clean_text(document)
        return sorted(await self._database.read(lambda it: list_known(it, key, embedder)))

    async def list_without_vectors(
        self, base: str, embedder: str, *, limit: int = 100
    ) -> Sequence[Piece]:
        def read(transaction: Transaction) -> list[Piece]:
            ids = sorted(list_bare(transaction, base, embedder))[:limit]
            return [
                load(row.body, Piece)
                for those in _split(ids)
                for row in transaction.all(select(PIECES.c.body).where(PIECES.c.id.in_(those)))
            ]

        return await self._database.read(read)

    async def count_without_vectors(self, base: str, embedder: str) -> int:
        return await self._database.read(lambda it: len(list_bare(it, base, embedder)))

    async def count_vectors(self, base: str) -> Mapping[str, int]:
        table: Any = PIECE_VECTORS.c
        statement = select(table.embedder, table.pieces).where(table.base == clean_text(base))
        counts: dict[str, int] = {}
        for row in await self._database.read(lambda it: it.all(statement)):
            counts[row.embedder] = counts.get(row.embedder, 0) + len(list_ids(row.pieces))
        return counts

    async def pack(self, base: str) -> None:
        await self._packer.pack(base)

    async def preload(self, base: str, *, embedder: str = "") -> None:
        if self._words.size + self._vectors.size > MAX_PRELOADED:
            return
        scope = DocumentScope(bases=(base,), principal=LOCAL)
        await self._load_words(scope)
        if embedder:
            await self._load_vectors(scope, embedder)

    async def drop_deleted(self) -> None:
        changes = await self._database.read(read_changes)
        if changes != self._changes:
            await self._forget(changes)

    async def _list_wanted(self, statement: Any, values: Mapping[str, Any]) -> Wanted:
        def read(transaction: Transaction) -> tuple[Sequence[Any], int]:
            return transaction.all(statement, values), read_changes(transaction)

        rows, changes = await self._database.read(read)
        if changes != self._changes:
            await self._forget(changes)
        return {base: np.sort(np.fromstring(numbers, "i8", sep=",")) for base, numbers in rows}

    async def _load_words(
        self, scope: DocumentScope
    ) -> tuple[Wanted, Mapping[str, Sequence[WordSegment]]]:
        """The entries of the scope, by base, and the segments that they are in."""
        wanted = await self._list_wanted(_select_entries(find_shape(scope)), bind_scope(scope))
        keys = {base: (base, "") for base in wanted}
        await self._load_stored(keys, wanted)
        return wanted, await self._load(self._words, keys, wanted, PIECE_TERMS, decode_terms)

    async def _load_vectors(
        self, scope: DocumentScope, embedder: str
    ) -> tuple[Wanted, Mapping[str, Sequence[VectorSegment]]]:
        """The same for the vectors of a model."""
        values = bind_scope(scope) | {"embedder": clean_text(embedder)}
        wanted = await self._list_wanted(_select_vector_entries(find_shape(scope)), values)
        keys = {base: (base, embedder) for base in wanted}
        segments = await self._load(self._vectors, keys, wanted, PIECE_VECTORS, decode_vectors)
        return wanted, segments

    async def _forget(self, changes: int) -> None:
        bases = sorted({*self._words.bases, *self._vectors.bases})

        def read(transaction: Transaction) -> list[Array]:
            return [
                np.array(
                    [
                        row.number
                        for those in _split(bases)
                        for row in transaction.all(
                            select(table.c.number).where(table.c.base.in_(those))
                        )
                    ],
                    "i8",
                )
                for table in (PIECE_TERMS, PIECE_VECTORS)
            ]

        # First, so that what is loaded meanwhile is looked at once more (`_drop_newer`).
        before, self._changes = self._changes, changes
        try:
            if bases:
                terms, vectors = await self._database.read(read)
                await asyncio.to_thread(self._words.retain, np.sort(terms))
                await asyncio.to_thread(self._vectors.retain, np.sort(vectors))
        except BaseException:
            self._changes = before
            raise

    async def _load(
        self,
        cache: SegmentCache[Entry, Kind],
        keys: Mapping[str, Key],
        wanted: Wanted,
        table: Any,
        decode: Callable[[bytes], Entry],
    ) -> dict[str, Sequence[Kind]]:
        """The segments of each base, with all entries that are wanted."""
        segments: dict[str, Sequence[Kind]] = {}
        for base, key in keys.items():
            for _ in range(_ATTEMPTS):  # another search may drop what it did not know yet
                missing = cache.list_missing(key, wanted[base])
                if not missing:
                    break
                batches = _split(missing, _LOADED_AT_ONCE)
                first = randrange(len(batches))  # noqa: S311 - searches at once share the work
                for batch in (*batches[first:], *batches[:first]):
                    those = cache.list_missing(key, np.array(batch, "i8"))
                    if those:
                        await self._load_batch(cache, key, those, table, decode)
            segments[base] = cache.get(key)
        cache.shrink()
        return segments

    async def _load_batch(
        self,
        cache: SegmentCache[Entry, Kind],
        key: Key,
        numbers: Sequence[int],
        table: Any,
        decode: Callable[[bytes], Entry],
    ) -> None:
        def read(transaction: Transaction) -> tuple[int, list[tuple[int, bytes]]]:
            return read_changes(transaction), read_bodies(transaction, table, numbers)

        def add() -> None:
            cache.add(key, {number: decode(body) for number, body in rows})

        changes, rows = await self._database.read(read)
        await asyncio.to_thread(add)
        await self._drop_newer(changes)

    async def _load_stored(self, keys: Mapping[str, Key], wanted: Wanted) -> None:
        """Load stored segments of words with entries that are wanted and not loaded."""
        for base, key in keys.items():
            missing = self._words.list_missing(key, wanted[base])
            if not missing:
                continue
            for item in await self._database.read(lambda it, base=base: list_segments(it, base)):
                if any(item.first <= number <= item.last for number in missing):
                    await self._load_segment(key, item.number)
                    missing = self._words.list_missing(key, wanted[base])

    async def _load_segment(self, key: Key, number: int) -> None:
        def read(transaction: Transaction) -> tuple[int, WordSegment | None]:
            return read_changes(transaction), read_segment(transaction, number)

        changes, segment = await self._database.read(read)
        if segment is not None:
            await asyncio.to_thread(self._words.add_segment, key, segment)
            await self._drop_newer(changes)

    async def _drop_newer(self, changes: int) -> None:
        """Drop what was deleted since something was read that is loaded now."""
        if changes < self._changes:
            await self._forget(self._changes)

    async def _fetch(
        self, found: Sequence[Found], scope: DocumentScope, *, by_vectors: bool = False
    ) -> list[ScoredPiece]:
        """The pieces that were found, as far as the caller may still see them."""
        if not found:
            return []
        values = bind_scope(scope) | bind_pairs([(entry, piece) for _, entry, piece, _ in found])

        def read(transaction: Transaction) -> dict[tuple[int, int], str]:
            statement = _select_found(
                find_shape(scope), transaction.database, by_vectors=by_vectors
            )
            rows: Any = transaction.all(statement, values)
            return {(entry, piece): body for entry, piece, body in rows}

        bodies = await self._database.read(read)
        return [
            ScoredPiece(load(bodies[entry, number], Piece), score)
            for _, entry, number, score in found
            if (entry, number) in bodies
        ]


@cache
def _select_entries(shape: ScopeShape) -> Any:
    """By base, the numbers of the rows of `piece_terms` of documents that answer."""
    numbers = func.aggregate_strings(cast(DOCUMENTS.c.terms, Text), ",")
    wanted = (where_answers(shape), DOCUMENTS.c.terms > 0)
    return select(DOCUMENTS.c.base, numbers).where(*wanted).group_by(DOCUMENTS.c.base)


@cache
def _select_vector_entries(shape: ScopeShape) -> Any:
    """By base, the numbers of their rows of `piece_vectors` of an `embedder`."""
    table: Any = PIECE_VECTORS.c
    wanted = (
        in_bases(table.base),
        table.embedder == bindparam("embedder"),
        table.document.in_(select(DOCUMENTS.c.id).where(where_answers(shape))),
    )
    numbers = func.aggregate_strings(cast(table.number, Text), ",")
    return select(table.base, numbers).where(*wanted).group_by(table.base)


@cache
def _select_found(shape: ScopeShape, database: str, *, by_vectors: bool) -> Any:
    """Pieces by the number of an entry and their own, as far as their documents answer."""
    pairs = select_pairs(database)
    columns = (PIECES.c.number, PIECES.c.body)
    is_piece = PIECES.c.number == pairs.second
    if by_vectors:
        entry = PIECE_VECTORS.c.number
        of_entry = PIECES.c.document == PIECE_VECTORS.c.document
        rows = select(entry, *columns).join_from(pairs.rows, PIECE_VECTORS, entry == pairs.first)
    else:
        entry, of_entry = PIECES.c.terms, PIECES.c.terms == pairs.first
        rows = select(entry, *columns).select_from(pairs.rows)
    return (
        rows.join(PIECES, of_entry & is_piece)
        .join(DOCUMENTS, DOCUMENTS.c.id == PIECES.c.document)
        .where(where_answers(shape, by_id=True))
    )


class _Content:
    """The new content of a document, put in place of the old."""

    def __init__(
        self,
        document: str,
        pieces: Sequence[IndexedPiece],
        body: bytes,
        embedder: str,
    ) -> None:
        self._document = clean_text(document)
        self._pieces = pieces
        self._body = body
        self._embedder = embedder

    def put(self, transaction: Transaction) -> None:
        document = self._document
        found = select(DOCUMENTS.c.base, DOCUMENTS.c.terms).where(DOCUMENTS.c.id == document)
        row = transaction.first(found.with_for_update())
        if row is None:
            raise DocumentNotFound(f"The document '{document}' was deleted.")
        kept = self._keep_vectors(transaction)
        for table in (PIECES, PIECE_TERMS, PIECE_VECTORS):
            transaction.execute(delete(table).where(table.c.document == document))
        insert = transaction.insert(PIECE_TERMS).values(
            document=document, base=row.base, body=self._body
        )
        number = transaction.core.execute(insert.returning(PIECE_TERMS.c.number)).scalar_one()
        places: dict[str, tuple[int, int]] = {}
        rows: list[dict[str, Any]] = []
        for item in self._pieces:
            piece = item.piece
            places[piece.id] = (piece.number, piece.page)
            rows.append(
                {
                    "id": clean_text(piece.id),
                    "document": document,
                    "base": row.base,
                    "terms": number,
                    "number": piece.number,
                    "page": piece.page,
                    "body": dump(piece),
                }
            )
        if rows:
            transaction.execute(transaction.insert(PIECES), rows)
        for embedder, vectors in kept.items():
            insert_vectors(transaction, document, row.base, embedder, vectors, places)
        values = {"terms": number, "pieces": len(rows)}
        transaction.execute(update(DOCUMENTS).where(DOCUMENTS.c.id == document).values(values))
        if row.terms:
            count_change(transaction)  # last: another content is stored at the same time
            drop_segments(transaction, row.base, row.terms)

    def _keep_vectors(self, transaction: Transaction) -> dict[str, dict[str, Any]]:
        """The vectors of the new pieces by embedder: the given ones, and those of before."""
        table = PIECE_VECTORS.c
        columns = (table.embedder, table.pieces, table.body)
        rows = transaction.all(select(*columns).where(table.document == self._document))
        sources = {item.piece.id: item.same_as or item.piece.id for item in self._pieces}
        kept: dict[str, dict[str, Any]] = {}
        for row in rows:
            before = split_vectors(row.pieces, row.body)
            those = {key: before[source] for key, source in sources.items() if source in before}
            if those:
                kept.setdefault(row.embedder, {}).update(those)
        given = {item.piece.id: item.vectors for item in self._pieces if item.vectors}
        if given and self._embedder:
            kept.setdefault(clean_text(self._embedder), {}).update(given)
        return kept


def _split(items: Sequence[Any], size: int = _IDS_AT_ONCE) -> list[Sequence[Any]]:
    return [items[at : at + size] for at in range(0, len(items), size)]
