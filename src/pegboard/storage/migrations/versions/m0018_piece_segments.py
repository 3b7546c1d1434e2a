"""What knowledge bases are loaded from at once, and an index that has what a scope asks for."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table, and the index."""
    op.create_table(
        "piece_segments",
        sa.Column("number", _NUMBER, primary_key=True),
        sa.Column("base", sa.Text, nullable=False),
        *(sa.Column(name, _NUMBER, nullable=False) for name in ("first", "last", "pieces")),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("piece_segments_by_base", "piece_segments", ["base", "first", "last"])
    columns = ("base", "answers", "replaced_by", "audience", "organisation", "owner", "id", "terms")
    op.create_index("documents_by_scope", "documents", [*columns, "pieces"])
    op.create_index("documents_by_state", "documents", ["base", "state", "id"])
