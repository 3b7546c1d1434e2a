"""What the services of knowledge bases share, and how they tell each other what has changed."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from pegboard.core.ports.accounts.blob_store import BlobStore
from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.knowledge.document_converter import DocumentConverter
from pegboard.core.ports.knowledge.document_store import DocumentStore
from pegboard.core.ports.knowledge.index import KnowledgeIndex
from pegboard.core.ports.knowledge.reranker import Reranker
from pegboard.execution.environment import CallEnvironment
from pegboard.features.knowledge.bases import Bases, WebPolicy
from pegboard.features.knowledge.schemas import BaseSettings

_MAX_WAITING = 10_000
"""Changes that a slow watcher has not read; of more, it looks at everything again."""


class DocumentChange(Struct, frozen=True):
    """A document was added, changed or deleted.

    Attributes:
        document: Its id; empty for the base itself.
    """

    base: str
    document: str = ""


class KnowledgeChanges:
    """Passes changes on to the watchers of this process."""

    def __init__(self) -> None:
        self._watchers: dict[str, set[asyncio.Queue[DocumentChange]]] = {}
        self._followers: list[Callable[[DocumentChange], None]] = []

    def notify(self, change: DocumentChange) -> None:
        """Pass a change on to the watchers of its base, and to those of all bases."""
        for follow in self._followers:
            follow(change)
        for queue in self._watchers.get(change.base, ()):
            if queue.qsize() < _MAX_WAITING:
                queue.put_nowait(change)

    def follow(self, receive: Callable[[DocumentChange], None]) -> None:
        """Call this at each change of any base from now on."""
        self._followers.append(receive)

    @contextmanager
    def watch(self, base: str) -> Generator[asyncio.Queue[DocumentChange]]:
        """The changes of a base from now on, in their order."""
        queue: asyncio.Queue[DocumentChange] = asyncio.Queue()
        self._watchers.setdefault(base, set()).add(queue)
        try:
            yield queue
        finally:
            self._watchers[base].discard(queue)
            if not self._watchers[base]:
                del self._watchers[base]


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeParts:
    """What the services of knowledge bases work with.

    Attributes:
        converter: Makes texts of files; None where this board cannot.
        embedder: The model that embeds the pieces of a base; None where it works by words only.
        find_embedder: The embedding model of a name; None where this board cannot reach it.
        find_reranker: The model that orders what was found; None where there is none.
        changes: Tells watchers what has changed.
        web: Who may add web addresses.
        working: The folder for copies of files while they are converted; None for that of the
            system.
        is_shared: Whether other servers change the same database.
    """

    bases: Bases
    documents: DocumentStore
    index: KnowledgeIndex
    blobs: BlobStore
    converter: DocumentConverter | None
    embedder: Callable[[BaseSettings], Embedder | None]
    find_embedder: Callable[[str], Embedder | None]
    find_reranker: Callable[[], Reranker | None]
    environment: Callable[[], CallEnvironment]
    changes: KnowledgeChanges
    web: WebPolicy
    working: Path | None
    is_shared: bool
