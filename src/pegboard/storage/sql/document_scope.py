"""The SQL face of `access/document_visibility.py`: which documents are in the scope of a caller."""

from typing import Any

from sqlalchemy import ColumnElement, and_, or_

from pegboard.core.ports.document_store import DocumentScope
from pegboard.core.record_snapshot import clean_text
from pegboard.storage.knowledge_tables import DOCUMENTS, PIECES


def where_in_scope(scope: DocumentScope, *, by_id: bool = False) -> "ColumnElement[bool]":
    """The condition that a row of `documents` is in a scope, pages aside.

    Args:
        scope: Whose documents.
        by_id: Whether few documents are looked up by their ids: SQLite, which does not know how
            many a base has, would go through all of the base instead.
    """
    table: Any = DOCUMENTS.c
    base = table.base.concat("") if by_id else table.base
    wanted: list[ColumnElement[bool]] = [base.in_(_clean(scope.bases))]
    principal = scope.principal
    if principal.user:
        wanted.append(
            or_(
                table.audience == "base",
                table.owner == clean_text(principal.owner),
                (table.audience == "organisation")
                & table.organisation.in_(_clean(sorted(principal.organisations))),
            )
        )
    if not scope.include_replaced:
        wanted.append(table.replaced_by == "")
    if scope.documents:
        wanted.append(table.id.in_(_clean(scope.documents)))
    if scope.editions:
        wanted.append(table.edition.in_(_clean(scope.editions)))
    if scope.media_types:
        wanted.append(table.media_type.in_(_clean(scope.media_types)))
    return and_(*wanted)


def where_answers(scope: DocumentScope, *, by_id: bool = False) -> "ColumnElement[bool]":
    """The same for documents that answer."""
    return where_in_scope(scope, by_id=by_id) & DOCUMENTS.c.answers


def where_between_pages(scope: DocumentScope) -> "ColumnElement[bool]":
    """The condition that a row of `pieces` is between the pages of a scope."""
    wanted: list[ColumnElement[bool]] = [PIECES.c.page >= scope.first_page]
    if scope.last_page:
        wanted.append(PIECES.c.page <= scope.last_page)
    return and_(*wanted)


def _clean(values: "tuple[str, ...] | list[str]") -> list[str]:
    return [clean_text(value) for value in values]
