"""Who may see a document of a base that they may see.

`storage/sql/knowledge/document_scope.py` has it in SQL.
"""

from pegboard.core.ports.knowledge.document_store import Audience, DocumentScope, StoredDocument
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest


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


def find_audience(document: StoredDocument) -> tuple[Audience, str]:
    """Who may see a document of those who may see its base, and the organisation if it is one."""
    return document.audience, document.organisation


def may_take_place(new: StoredDocument, principal: Principal, *, of: StoredDocument) -> bool:
    """Whether a new file of a caller may become the content of a document of the same path.

    It may if both come from one source that was added for the same people, also where the document
    is for fewer by now. Otherwise only if the caller sees the document, and not if the file is for
    fewer people than a document of another owner, who would see it whatever its audience.
    """
    if new.source_audience is not None and _is_of_same_source(new, of):
        return True
    if not is_document_visible(principal, of):
        return False
    is_shared = new.audience != "private" and find_audience(new) == find_audience(of)
    return new.audience == "base" or is_shared or new.owner == of.owner


def find_source_audience(document: StoredDocument) -> tuple[Audience, str]:
    """The audience with which the source of a document was added."""
    if document.source_audience is None:  # it was stored before that was recorded
        return find_audience(document)
    return document.source_audience, document.source_organisation


def narrow_audience(document: StoredDocument, *, to: StoredDocument) -> tuple[Audience, str]:
    """The audience of a document that takes the file of another one; it is never a larger one.

    Raises:
        InvalidRequest: Each of the two is for an organisation of its own.
    """
    if to.audience == "base" or document.audience == "private":
        return find_audience(document)
    if document.audience == to.audience == "organisation" and find_audience(document) != (
        find_audience(to)
    ):
        raise InvalidRequest(
            f"The document '{document.name[:100]}' is there already, for the organisation "
            f"'{document.organisation}': change who sees it first."
        )
    return find_audience(to)


def check_reach(row: StoredDocument, *, instead_of: StoredDocument) -> None:
    """Refuse that a document replaces one for people who may not see it.

    Raises:
        InvalidRequest: There would be some: they would have neither, and learn of the other.
    """
    is_same = find_audience(row) == find_audience(instead_of) and row.audience != "private"
    is_own = instead_of.audience == "private" and row.owner == instead_of.owner
    if row.audience != "base" and not is_same and not is_own:
        raise InvalidRequest("A document that fewer people see cannot replace one that more see.")


def _is_of_same_source(new: StoredDocument, other: StoredDocument) -> bool:
    is_same = find_source_audience(new) == find_source_audience(other)
    is_one = is_same or other.source_audience is None
    return is_one and (new.source_audience != "private" or new.owner == other.owner)
