"""`LazyKnowledgeIndex`: an index that is opened by its first use, as it needs numpy."""

from collections.abc import Callable, Mapping, Sequence

from pegboard.core.knowledge import Piece
from pegboard.core.ports.knowledge.document_store import DocumentScope
from pegboard.core.ports.knowledge.index import (
    IndexedPiece,
    KnowledgeIndex,
    VectorMatches,
    WordMatches,
)
from pegboard.errors import ConfigError


class LazyKnowledgeIndex:
    """The index that a function opens; a board without a base does not pay for it."""

    def __init__(self, open_index: Callable[[], KnowledgeIndex]) -> None:
        """Open it at the first use; then `ConfigError` where the extra is missing."""
        self._open = open_index
        self._index: KnowledgeIndex | None = None

    async def put(
        self, document: str, revision: int, pieces: Sequence[IndexedPiece], *, embedder: str = ""
    ) -> None:
        await self._get().put(document, revision, pieces, embedder=embedder)

    async def put_vectors(
        self, embedder: str, vectors: Mapping[str, Sequence[Sequence[float]]]
    ) -> None:
        await self._get().put_vectors(embedder, vectors)

    async def delete_vectors(self, base: str, embedder: str) -> None:
        await self._get().delete_vectors(base, embedder)

    async def search_words(
        self, terms: Mapping[str, float], scope: DocumentScope, *, limit: int
    ) -> WordMatches:
        return await self._get().search_words(terms, scope, limit=limit)

    async def search_vectors(
        self, vector: Sequence[float], scope: DocumentScope, *, embedder: str, limit: int
    ) -> VectorMatches:
        return await self._get().search_vectors(vector, scope, embedder=embedder, limit=limit)

    async def list_pieces(
        self, document: str, *, start: int = 1, limit: int = 100
    ) -> Sequence[Piece]:
        return await self._get().list_pieces(document, start=start, limit=limit)

    async def get_pieces(self, ids: Sequence[str], scope: DocumentScope) -> Sequence[Piece]:
        return await self._get().get_pieces(ids, scope)

    async def list_with_vectors(self, document: str, embedder: str) -> Sequence[str]:
        return await self._get().list_with_vectors(document, embedder)

    async def list_without_vectors(
        self, base: str, embedder: str, *, limit: int = 100
    ) -> Sequence[Piece]:
        return await self._get().list_without_vectors(base, embedder, limit=limit)

    async def count_without_vectors(self, base: str, embedder: str) -> int:
        return await self._get().count_without_vectors(base, embedder)

    async def count_vectors(self, base: str) -> Mapping[str, int]:
        return await self._get().count_vectors(base)

    async def pack(self, base: str) -> None:
        await self._get().pack(base)

    async def preload(self, base: str, *, embedder: str = "") -> None:
        await self._get().preload(base, embedder=embedder)

    async def drop_deleted(self) -> None:
        if self._index is not None:
            await self._index.drop_deleted()

    def _get(self) -> KnowledgeIndex:
        if self._index is None:
            try:
                self._index = self._open()
            except ModuleNotFoundError as error:
                if error.name != "numpy":
                    raise
                raise ConfigError(
                    "Knowledge bases need an extra: pip install 'pegboard[knowledge]'"
                ) from error
        return self._index
