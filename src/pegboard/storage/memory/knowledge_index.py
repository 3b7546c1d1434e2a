"""The pieces of documents in memory, found by words and by vectors."""

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np

from pegboard.core.knowledge import Piece
from pegboard.core.ports.knowledge.document_store import DocumentScope
from pegboard.core.ports.knowledge.index import (
    IndexedPiece,
    ScoredPiece,
    VectorMatches,
    WordMatches,
)
from pegboard.errors import DocumentNotFound
from pegboard.storage.knowledge.entry_codec import (
    TermEntry,
    VectorEntry,
    decode_terms,
    decode_vectors,
    encode_terms,
    encode_vectors,
)
from pegboard.storage.knowledge.search import search_vectors, search_words
from pegboard.storage.knowledge.segment_cache import Found
from pegboard.storage.knowledge.vector_segment import VectorSegment, build_matrix
from pegboard.storage.knowledge.word_segment import WordSegment, build_segment
from pegboard.storage.memory.documents import MemoryDocuments

Vectors = Mapping[str, Sequence[Sequence[float]]]


class MemoryKnowledgeIndex:
    """A `KnowledgeIndex` in memory, which compares each question with every visible piece."""

    def __init__(self, documents: MemoryDocuments) -> None:
        """Find the pieces of these documents."""
        self._documents = documents
        self._number = 0
        self._terms: dict[str, tuple[int, TermEntry]] = {}
        self._vectors: dict[tuple[str, str], dict[str, Sequence[Sequence[float]]]] = {}

    async def put(
        self,
        document: str,
        revision: int,  # noqa: ARG002 - only the last content is kept
        pieces: Sequence[IndexedPiece],
        *,
        embedder: str = "",
    ) -> None:
        entry = decode_terms(await asyncio.to_thread(encode_terms, pieces))
        sources = {item.piece.id: item.same_as or item.piece.id for item in pieces}
        given = {item.piece.id: item.vectors for item in pieces if item.vectors}
        _check(given, {item.piece.id: item.piece for item in pieces})
        if not self._documents.put_pieces(document, [item.piece for item in pieces]):
            raise DocumentNotFound(f"The document '{document}' was deleted.")
        self._number += 1
        self._terms[document] = (self._number, entry)
        for (owner, model), known in self._vectors.items():
            if owner == document:
                self._vectors[owner, model] = {
                    key: known[source] for key, source in sources.items() if source in known
                }
        if given and embedder:
            self._vectors.setdefault((document, embedder), {}).update(given)
        await self.drop_deleted()

    async def put_vectors(self, embedder: str, vectors: Vectors) -> None:
        for document, pieces in self._documents.list_all().items():
            known = self._vectors.setdefault((document, embedder), {})
            new = {
                piece.id: vectors[piece.id]
                for piece in pieces
                if piece.id not in known and vectors.get(piece.id)
            }
            _check(new, {piece.id: piece for piece in pieces})
            known.update(new)

    async def delete_vectors(self, base: str, embedder: str) -> None:
        for document, pieces in self._documents.list_all().items():
            if pieces and pieces[0].base == base:
                self._vectors.pop((document, embedder), None)

    async def search_words(
        self, terms: Mapping[str, float], scope: DocumentScope, *, limit: int
    ) -> WordMatches:
        entries: dict[str, list[tuple[int, TermEntry]]] = {}
        owners: dict[int, str] = {}
        for document in self._documents.list_answering(scope):
            if document.id in self._terms:
                number, entry = self._terms[document.id]
                owners[number] = document.id
                entries.setdefault(document.base, []).append((number, entry))
        segments: dict[str, list[WordSegment]] = {
            base: [build_segment(those)] for base, those in entries.items()
        }
        wanted = {base: np.sort([it for it, _ in those]) for base, those in entries.items()}
        pages = (scope.first_page, scope.last_page)
        found, rarities = search_words(terms, segments, wanted, pages, limit)
        return WordMatches(self._fetch(found, owners, scope), rarities)

    async def search_vectors(
        self, vector: Sequence[float], scope: DocumentScope, *, embedder: str, limit: int
    ) -> VectorMatches:
        entries: dict[str, list[tuple[int, VectorEntry]]] = {}
        owners: dict[int, str] = {}
        for document in self._documents.list_answering(scope):
            known = self._vectors.get((document.id, embedder))
            if known:
                number, _ = self._terms[document.id]
                owners[number] = document.id
                pieces = self._documents.list_between(document.id, scope)
                entry = _to_entry(known, {piece.id: piece for piece in pieces})
                if entry is not None:
                    entries.setdefault(document.base, []).append((number, entry))
        segments: dict[str, list[VectorSegment]] = {
            base: [build_matrix(those)] for base, those in entries.items()
        }
        wanted = {base: np.sort([it for it, _ in those]) for base, those in entries.items()}
        pages = (scope.first_page, scope.last_page)
        found, passages, mean = search_vectors(vector, segments, wanted, pages, limit)
        return VectorMatches(self._fetch(found, owners, scope), passages, mean)

    async def list_pieces(
        self, document: str, *, start: int = 1, limit: int = 100
    ) -> Sequence[Piece]:
        pieces = self._documents.list_all().get(document, ())
        ordered = sorted(pieces, key=lambda piece: piece.number)
        return [piece for piece in ordered if piece.number >= start][:limit]

    async def get_pieces(self, ids: Sequence[str], scope: DocumentScope) -> Sequence[Piece]:
        known = {
            piece.id: piece
            for document in self._documents.list_answering(scope)
            for piece in self._documents.list_between(document.id, scope)
        }
        return [known[key] for key in ids if key in known]

    async def list_with_vectors(self, document: str, embedder: str) -> Sequence[str]:
        return sorted(self._vectors.get((document, embedder), ()))

    async def list_without_vectors(
        self, base: str, embedder: str, *, limit: int = 100
    ) -> Sequence[Piece]:
        found = [
            piece
            for document, pieces in self._documents.list_all().items()
            for piece in pieces
            if piece.base == base and piece.id not in self._vectors.get((document, embedder), {})
        ]
        return sorted(found, key=lambda piece: piece.id)[:limit]

    async def count_without_vectors(self, base: str, embedder: str) -> int:
        return len(await self.list_without_vectors(base, embedder, limit=2**62))

    async def count_vectors(self, base: str) -> Mapping[str, int]:
        counts: dict[str, int] = {}
        for (document, embedder), vectors in self._vectors.items():
            pieces = self._documents.list_all().get(document, ())
            count = sum(piece.base == base and piece.id in vectors for piece in pieces)
            if count:
                counts[embedder] = counts.get(embedder, 0) + count
        return counts

    async def preload(self, base: str, *, embedder: str = "") -> None:
        """Do nothing: all of it is in memory."""

    async def pack(self, base: str) -> None:
        """There is nothing to load."""

    async def drop_deleted(self) -> None:
        known = self._documents.list_all()
        self._terms = {key: value for key, value in self._terms.items() if key in known}
        self._vectors = {key: value for key, value in self._vectors.items() if key[0] in known}

    def _fetch(
        self, found: Sequence[Found], owners: Mapping[int, str], scope: DocumentScope
    ) -> list[ScoredPiece]:
        pieces = {
            (number, piece.number): piece
            for number, document in owners.items()
            for piece in self._documents.list_between(document, scope)
        }
        return [
            ScoredPiece(pieces[entry, number], score)
            for _, entry, number, score in found
            if (entry, number) in pieces
        ]


def _check(vectors: Vectors, pieces: Mapping[str, Piece]) -> None:
    """Refuse what no database would store."""
    _to_entry(vectors, pieces)


def _to_entry(vectors: Vectors, pieces: Mapping[str, Piece]) -> VectorEntry | None:
    places = {key: (pieces[key].number, pieces[key].page) for key in vectors if key in pieces}
    ordered = {key: vectors[key] for key in sorted(places, key=lambda key: places[key])}
    return decode_vectors(encode_vectors(ordered, places)[1]) if ordered else None
