"""Vectors of the texts of tools, so that a start embeds none again."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "tool_vectors",
        sa.Column("number", _NUMBER, primary_key=True),
        sa.Column("embedder", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("embedder", "digest"),
        sqlite_autoincrement=True,
    )
