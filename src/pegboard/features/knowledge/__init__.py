"""Knowledge bases: documents that are taken in, and questions that they answer."""

from pegboard.features.knowledge.bases import DocumentSource
from pegboard.features.knowledge.documents import DocumentEdit, DocumentQuery, NewDocument
from pegboard.features.knowledge.service import Knowledge, NewBase

__all__ = [
    "DocumentEdit",
    "DocumentQuery",
    "DocumentSource",
    "Knowledge",
    "NewBase",
    "NewDocument",
]
