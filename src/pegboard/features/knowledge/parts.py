"""What the services of knowledge bases share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pegboard.core.ports.accounts.blob_store import BlobStore
from pegboard.core.ports.embedder import Embedder
from pegboard.core.ports.knowledge.document_converter import DocumentConverter
from pegboard.core.ports.knowledge.document_store import DocumentStore
from pegboard.core.ports.knowledge.index import KnowledgeIndex
from pegboard.core.ports.knowledge.reranker import Reranker
from pegboard.execution.environment import CallEnvironment
from pegboard.features.knowledge.bases import Bases, WebPolicy
from pegboard.features.knowledge.changes import KnowledgeChanges
from pegboard.features.knowledge.schemas import BaseSettings


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
