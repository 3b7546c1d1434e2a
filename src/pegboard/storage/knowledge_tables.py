"""The tables of knowledge bases: documents, their texts, their pieces, and what finds these.

`piece_terms` and `piece_vectors` have what the pieces of a document are found by, as arrays
(`knowledge/entry_codec.py`). Their rows are never changed, and no number is given twice, so that
what a process has loaded of them stays right; a new content has rows of new numbers.
"""

from sqlalchemy import Boolean, Column, Index, LargeBinary, Table, Text, UniqueConstraint, text

from pegboard.storage.columns import (
    NUMBER,
    index_rows_where,
    make_key,
    make_number,
    make_seconds,
    make_text,
)
from pegboard.storage.evidence_tables import METADATA  # with the tables that stand there

DOCUMENTS = Table(
    "documents",
    METADATA,
    make_key("id"),
    make_text("base"),
    make_text("source"),
    make_text("outer_id"),
    make_text("owner"),
    make_text("audience"),
    make_text("organisation"),
    make_text("state"),
    make_text("digest"),
    make_text("edition"),
    make_text("media_type"),
    make_text("replaced_by"),
    Column("priority", NUMBER, nullable=False),
    Column("answers", Boolean, nullable=False, server_default=text("false")),
    make_seconds("created_at"),
    Column("terms", NUMBER, nullable=False, server_default="0"),
    Column("pieces", NUMBER, nullable=False, server_default="0"),
    make_text("body"),
    UniqueConstraint("base", "source", "outer_id", name="documents_once"),
)
"""`terms` is the number of its row in `piece_terms`, 0 for none."""
Index("documents_by_base", DOCUMENTS.c.base, DOCUMENTS.c.id)
Index(
    "documents_by_scope",
    *(
        DOCUMENTS.c[name]
        for name in (
            *("base", "answers", "replaced_by", "audience", "organisation", "owner"),
            *("id", "terms", "pieces"),
        )
    ),
)
"""Has all that it takes to tell which documents a caller may see, without reading their rows."""
Index("documents_by_state", DOCUMENTS.c.base, DOCUMENTS.c.state, DOCUMENTS.c.id)
Index("documents_by_digest", DOCUMENTS.c.base, DOCUMENTS.c.digest)
Index(
    "documents_unfinished",
    DOCUMENTS.c.priority,
    DOCUMENTS.c.created_at,
    **index_rows_where(text("state NOT IN ('ready', 'held', 'failed')")),
)

DOCUMENT_TEXTS = Table(
    "document_texts",
    METADATA,
    make_key("document"),
    Column("revision", NUMBER, primary_key=True, autoincrement=False),
    make_text("body"),
)

PIECES = Table(
    "pieces",
    METADATA,
    make_key("id"),
    make_text("document"),
    make_text("base"),
    Column("terms", NUMBER, nullable=False),
    Column("number", NUMBER, nullable=False),
    Column("page", NUMBER, nullable=False),
    make_text("body"),
)
Index("pieces_in_order", PIECES.c.document, PIECES.c.number)
Index("pieces_by_terms", PIECES.c.terms, PIECES.c.number)
Index("pieces_by_base", PIECES.c.base)

PIECE_TERMS = Table(
    "piece_terms",
    METADATA,
    make_number("number"),
    make_text("document"),
    make_text("base"),
    Column("body", LargeBinary, nullable=False),
    sqlite_autoincrement=True,
)
Index("piece_terms_by_document", PIECE_TERMS.c.document)
Index("piece_terms_by_base", PIECE_TERMS.c.base)

PIECE_SEGMENTS = Table(
    "piece_segments",
    METADATA,
    make_number("number"),
    make_text("base"),
    Column("first", NUMBER, nullable=False),
    Column("last", NUMBER, nullable=False),
    Column("pieces", NUMBER, nullable=False),
    Column("body", LargeBinary, nullable=False),
    sqlite_autoincrement=True,
)
"""Rows of `piece_terms` from a first to a last number, ready to be searched
(`knowledge/segment_codec.py`). A row goes with any document that is in it."""
Index(
    "piece_segments_by_base", PIECE_SEGMENTS.c.base, PIECE_SEGMENTS.c.first, PIECE_SEGMENTS.c.last
)

PIECE_VECTORS = Table(
    "piece_vectors",
    METADATA,
    make_number("number"),
    make_text("document"),
    make_text("base"),
    make_text("embedder"),
    Column("pieces", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    sqlite_autoincrement=True,
)
"""`pieces` is a JSON array of the ids of the pieces that the vectors are of, one for each piece."""
Index("piece_vectors_by_document", PIECE_VECTORS.c.document, PIECE_VECTORS.c.embedder)
Index(
    "piece_vectors_by_base",
    PIECE_VECTORS.c.base,
    PIECE_VECTORS.c.embedder,
    PIECE_VECTORS.c.document,
    PIECE_VECTORS.c.number,
)

KNOWLEDGE_CHANGES = Table(
    "knowledge_changes",
    METADATA,
    Column("id", NUMBER, primary_key=True, autoincrement=False),
    Column("number", NUMBER, nullable=False),
)
"""One row, which grows whenever rows of `piece_terms` or `piece_vectors` are deleted."""
