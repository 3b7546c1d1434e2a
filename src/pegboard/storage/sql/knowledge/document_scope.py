"""The SQL face of `access/document_visibility.py`: which documents are in the scope of a caller.

The values of a scope are parameters, so that scopes of one shape share their statements: to build
one takes longer than to run it.
"""

from typing import Any

from msgspec import Struct
from sqlalchemy import BindParameter, ColumnElement, and_, bindparam, or_

from pegboard.core.ports.knowledge.document_store import DocumentScope
from pegboard.core.record_snapshot import clean_text
from pegboard.storage.knowledge_tables import DOCUMENTS, PIECES


class ScopeShape(Struct, frozen=True, kw_only=True):
    """Which conditions a scope has, whatever their values."""

    has_user: bool
    include_replaced: bool
    has_documents: bool
    has_editions: bool
    has_media_types: bool
    has_pages: bool
    has_last_page: bool


def find_shape(scope: DocumentScope) -> ScopeShape:
    """The shape of a scope."""
    return ScopeShape(
        has_user=bool(scope.principal.user),
        include_replaced=scope.include_replaced,
        has_documents=bool(scope.documents),
        has_editions=bool(scope.editions),
        has_media_types=bool(scope.media_types),
        has_pages=bool(scope.first_page or scope.last_page),
        has_last_page=bool(scope.last_page),
    )


def bind_scope(scope: DocumentScope) -> dict[str, Any]:
    """The values of a scope for a statement of its shape."""
    principal = scope.principal
    return {
        "scope_bases": _clean(scope.bases),
        "scope_owner": clean_text(principal.owner),
        "scope_organisations": _clean(sorted(principal.organisations)),
        "scope_documents": _clean(scope.documents),
        "scope_editions": _clean(scope.editions),
        "scope_media_types": _clean(scope.media_types),
        "scope_first_page": scope.first_page,
        "scope_last_page": scope.last_page,
    }


def where_in_scope(shape: ScopeShape, *, by_id: bool = False) -> "ColumnElement[bool]":
    """The condition that a row of `documents` is in a scope of this shape, pages aside.

    A statement with it is run with the values of `bind_scope`.

    Args:
        shape: Of the scope.
        by_id: Whether few documents are looked up by their ids: SQLite, which does not know how
            many a base has, would go through all of the base instead.
    """
    table: Any = DOCUMENTS.c
    base = table.base.concat("") if by_id else table.base
    wanted: list[ColumnElement[bool]] = [base.in_(_many("scope_bases"))]
    if shape.has_user:
        wanted.append(
            or_(
                table.audience == "base",
                table.owner == bindparam("scope_owner"),
                (table.audience == "organisation")
                & table.organisation.in_(_many("scope_organisations")),
            )
        )
    if not shape.include_replaced:
        wanted.append(table.replaced_by == "")
    if shape.has_documents:
        wanted.append(table.id.in_(_many("scope_documents")))
    if shape.has_editions:
        wanted.append(table.edition.in_(_many("scope_editions")))
    if shape.has_media_types:
        wanted.append(table.media_type.in_(_many("scope_media_types")))
    return and_(*wanted)


def where_answers(shape: ScopeShape, *, by_id: bool = False) -> "ColumnElement[bool]":
    """The same for documents that answer."""
    return where_in_scope(shape, by_id=by_id) & DOCUMENTS.c.answers


def where_between_pages(shape: ScopeShape) -> "ColumnElement[bool]":
    """The condition that a row of `pieces` is between the pages of a scope."""
    wanted: list[ColumnElement[bool]] = [PIECES.c.page >= bindparam("scope_first_page")]
    if shape.has_last_page:
        wanted.append(PIECES.c.page <= bindparam("scope_last_page"))
    return and_(*wanted)


def in_bases(column: "ColumnElement[str]") -> "ColumnElement[bool]":
    """The condition that a column has one of the bases of a scope."""
    return column.in_(_many("scope_bases"))


def _many(name: str) -> "BindParameter[Any]":
    return bindparam(name, expanding=True)


def _clean(values: "tuple[str, ...] | list[str]") -> list[str]:
    return [clean_text(value) for value in values]
