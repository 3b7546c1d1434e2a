"""Who may see a document of a base that they may see.

`storage/sql/knowledge/document_scope.py` has it in SQL.
"""

from pegboard.core.ports.knowledge.document_store import DocumentScope, StoredDocument
from pegboard.core.principal import Principal


def is_document_visible(principal: Principal, document: StoredDocument) -> bool:
    """Whether a caller who may see its base may see a document."""
    if not principal.user or document.audience == "base" or document.owner == principal.owner:
        return True
    return document.audience == "organisation" and document.organisation in principal.organisations


def is_in_scope(scope: DocumentScope, document: StoredDocument) -> bool:
    """Whether a document is in a scope, pages aside."""
    return (
        document.base in scope.bases
        and is_document_visible(scope.principal, document)
        and (scope.include_replaced or not document.replaced_by)
        and (not scope.documents or document.id in scope.documents)
        and (not scope.editions or document.edition in scope.editions)
        and (not scope.media_types or document.media_type in scope.media_types)
    )
