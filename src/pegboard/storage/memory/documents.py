"""Documents of knowledge bases in memory."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from pegboard.access.document_visibility import is_in_scope
from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.knowledge import ConvertedDocument, DocumentState, Piece
from pegboard.core.ports.knowledge.document_store import DocumentScope, ReadyCount, StoredDocument
from pegboard.errors import DocumentNotFound
from pegboard.storage.document_changes import change_document

_ENDED = ("ready", "held", "failed")


class MemoryDocuments:
    """A `DocumentStore` in memory, with the pieces of its documents. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._documents: dict[str, StoredDocument] = {}
        self._texts: dict[str, dict[int, ConvertedDocument]] = {}
        self._pieces: dict[str, Sequence[Piece]] = {}

    async def add(self, document: StoredDocument) -> StoredDocument:
        key = (document.base, document.source, document.outer_id)
        with self._gate:
            for known in self._documents.values():
                if (known.base, known.source, known.outer_id) == key:
                    return known
            return self._documents.setdefault(document.id, document)

    async def change(
        self,
        id: str,  # noqa: A002 - it is known by its id
        changes: Mapping[str, Any],
        *,
        attempt: int | None = None,
        run: str | None = None,
        defaults: Mapping[str, Any] = {},
    ) -> StoredDocument | None:
        with self._gate:
            found = self._documents.get(id)
            if found is None or attempt not in {None, found.attempt}:
                return None
            if run not in {None, found.run}:
                return None
            changed = change_document(found, changes, defaults)
            self._documents[id] = changed
            return changed

    async def get(self, id: str) -> StoredDocument | None:  # noqa: A002 - it is known by its id
        with self._gate:
            return self._documents.get(id)

    async def get_all(self, ids: Collection[str]) -> Mapping[str, StoredDocument]:
        with self._gate:
            return {id_: self._documents[id_] for id_ in ids if id_ in self._documents}

    async def list_digest(self, scope: DocumentScope, digest: str) -> Sequence[StoredDocument]:
        return self._list(lambda item: item.digest == digest and is_in_scope(scope, item))

    async def list_visible(
        self,
        scope: DocumentScope,
        *,
        states: Sequence[DocumentState] = (),
        after: str = "",
        limit: int = 100,
    ) -> Sequence[StoredDocument]:
        return self._list(
            lambda item: (
                item.id > after
                and (not states or item.state in states)
                and is_in_scope(scope, item)
            )
        )[:limit]

    async def count_ready(self, scope: DocumentScope) -> Mapping[str, ReadyCount]:
        counts: dict[str, ReadyCount] = {}
        for document in self.list_answering(scope):
            count = len(self.list_between(document.id, scope))
            if not count and (scope.first_page or scope.last_page):
                continue
            known = counts.get(document.base, ReadyCount())
            counts[document.base] = ReadyCount(known.documents + 1, known.pieces + count)
        return counts

    async def list_bases(self) -> Sequence[str]:
        with self._gate:
            return sorted({item.base for item in self._documents.values()})

    async def list_unfinished(self) -> Sequence[StoredDocument]:
        found = self._list(lambda item: item.state not in _ENDED)
        return sorted(found, key=lambda item: (-item.priority, item.created_at, item.id))

    async def put_text(self, document: str, revision: int, text: ConvertedDocument) -> None:
        with self._gate:
            if document not in self._documents:
                raise DocumentNotFound(f"The document '{document}' was deleted.")
            self._texts.setdefault(document, {})[revision] = text

    async def get_text(self, document: str, revision: int) -> ConvertedDocument | None:
        with self._gate:
            return self._texts.get(document, {}).get(revision)

    async def get_texts(self, revisions: Mapping[str, int]) -> Mapping[str, ConvertedDocument]:
        with self._gate:
            found = {it: self._texts.get(it, {}).get(number) for it, number in revisions.items()}
            return {document: text for document, text in found.items() if text is not None}

    async def delete(self, id: str) -> bool:  # noqa: A002 - as above
        with self._gate:
            self._texts.pop(id, None)
            self._pieces.pop(id, None)
            return self._documents.pop(id, None) is not None

    def put_pieces(self, document: str, pieces: Sequence[Piece]) -> bool:
        """Store the pieces of a document; False when it is gone."""
        with self._gate:
            if document not in self._documents:
                return False
            self._pieces[document] = tuple(pieces)
            return True

    def list_all(self) -> Mapping[str, Sequence[Piece]]:
        """The pieces of every document that has some."""
        with self._gate:
            return dict(self._pieces)

    def list_between(self, document: str, scope: DocumentScope) -> Sequence[Piece]:
        """The pieces of a document that are between the pages of a scope."""
        with self._gate:
            pieces = self._pieces.get(document, ())
        last = scope.last_page or float("inf")
        return [piece for piece in pieces if scope.first_page <= piece.page <= last]

    def list_answering(self, scope: DocumentScope) -> Sequence[StoredDocument]:
        """The documents in a scope that answer."""
        return self._list(lambda item: item.answers and is_in_scope(scope, item))

    def _list(self, keep: Callable[[StoredDocument], bool]) -> Sequence[StoredDocument]:
        with self._gate:
            return _sort(filter(keep, self._documents.values()))


def _sort(documents: Iterable[StoredDocument]) -> list[StoredDocument]:
    return sorted(documents, key=lambda item: item.id)
