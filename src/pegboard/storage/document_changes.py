"""Changes of documents, the same in all stores."""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from pegboard.core.ports.knowledge.document_store import StoredDocument


def change_document(
    document: StoredDocument, changes: Mapping[str, Any], defaults: Mapping[str, Any]
) -> StoredDocument:
    """A document with new values, and with the defaults of those that are empty."""
    missing = {name: value for name, value in defaults.items() if not getattr(document, name)}
    return structs.replace(document, **missing, **changes)
