"""Documents of knowledge bases, their texts, their pieces, and what finds these."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_UNFINISHED = sa.text("state NOT IN ('ready', 'held', 'failed')")


def upgrade() -> None:
    """Make their tables."""
    _make_documents()
    _make_pieces()
    op.create_table(
        "knowledge_changes",
        sa.Column("id", _NUMBER, primary_key=True, autoincrement=False),
        _number("number"),
    )


def _make_documents() -> None:
    texts = ("base", "source", "outer_id", "owner", "audience", "organisation", "state", "digest")
    op.create_table(
        "documents",
        sa.Column("id", sa.Text, primary_key=True),
        *map(_text, (*texts, "edition", "media_type", "replaced_by")),
        _number("priority"),
        sa.Column("answers", sa.Boolean, nullable=False, server_default=sa.text("false")),
        sa.Column("created_at", _SECONDS, nullable=False),
        sa.Column("terms", _NUMBER, nullable=False, server_default="0"),
        sa.Column("pieces", _NUMBER, nullable=False, server_default="0"),
        _text("body"),
        sa.UniqueConstraint("base", "source", "outer_id", name="documents_once"),
    )
    op.create_index("documents_by_base", "documents", ["base", "id"])
    op.create_index("documents_by_digest", "documents", ["base", "digest"])
    op.create_index(
        "documents_unfinished",
        "documents",
        ["priority", "created_at"],
        sqlite_where=_UNFINISHED,
        postgresql_where=_UNFINISHED,
    )
    op.create_table(
        "document_texts",
        sa.Column("document", sa.Text, primary_key=True),
        sa.Column("revision", _NUMBER, primary_key=True, autoincrement=False),
        _text("body"),
    )


def _make_pieces() -> None:
    op.create_table(
        "pieces",
        sa.Column("id", sa.Text, primary_key=True),
        *map(_text, ("document", "base")),
        *map(_number, ("terms", "number", "page")),
        _text("body"),
    )
    op.create_index("pieces_in_order", "pieces", ["document", "number"])
    op.create_index("pieces_by_terms", "pieces", ["terms", "number"])
    op.create_index("pieces_by_base", "pieces", ["base"])
    _make_entries("piece_terms")
    op.create_index("piece_terms_by_document", "piece_terms", ["document"])
    op.create_index("piece_terms_by_base", "piece_terms", ["base"])
    _make_entries("piece_vectors", _text("embedder"), _text("pieces"))
    op.create_index("piece_vectors_by_document", "piece_vectors", ["document", "embedder"])
    op.create_index(
        "piece_vectors_by_base", "piece_vectors", ["base", "embedder", "document", "number"]
    )


def _make_entries(name: str, *columns: "sa.Column[str]") -> None:
    op.create_table(
        name,
        sa.Column("number", _NUMBER, primary_key=True),
        *map(_text, ("document", "base")),
        *columns,
        sa.Column("body", sa.LargeBinary, nullable=False),
        sqlite_autoincrement=True,
    )


def _text(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, nullable=False)


def _number(name: str) -> "sa.Column[int]":
    return sa.Column(name, _NUMBER, nullable=False)
