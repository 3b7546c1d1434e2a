"""Indexes for the filters of the history, and the size of each stored result."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_NUMBER: "sa.types.TypeEngine[int]" = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    """Add the indexes and the column, and fill it."""
    for name in ("source", "principal"):
        op.create_index(f"calls_by_{name}", "calls", [name, "started_at", "id"])
    not_completed = sa.text("status <> 'completed'")
    op.create_index(
        "calls_by_status",
        "calls",
        ["status", "started_at", "id"],
        sqlite_where=not_completed,
        postgresql_where=not_completed,
    )
    size = sa.Column("size", _NUMBER, nullable=False, server_default=sa.text("0"))
    op.add_column("results", size)
    op.execute("UPDATE results SET size = length(body)")
    op.create_index("results_by_owner", "results", ["owner", "created_at", "size"])
