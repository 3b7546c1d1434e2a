"""Knowledge bases: documents that are taken in, and questions that they answer."""

from pegboard.features.knowledge.bases import DocumentSource, KnowledgeBase, NewBase
from pegboard.features.knowledge.document_sources import read_chunks
from pegboard.features.knowledge.documents import DocumentEdit, DocumentQuery, NewDocument
from pegboard.features.knowledge.service import Knowledge

__all__ = [
    "DocumentEdit",
    "DocumentQuery",
    "DocumentSource",
    "Knowledge",
    "KnowledgeBase",
    "NewBase",
    "NewDocument",
    "read_chunks",
]
