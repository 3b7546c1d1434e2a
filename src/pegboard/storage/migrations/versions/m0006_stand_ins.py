"""In whose place a tool was called, and what tools were when they were seen last."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")


def upgrade() -> None:
    """Add both; what older servers write beside us says nothing of either."""
    column = sa.Column("instead_of", sa.Text, nullable=False, server_default=sa.text("''"))
    op.add_column("calls", column)
    stands_in = sa.text("instead_of <> ''")
    op.create_index(
        "calls_by_instead_of",
        "calls",
        ["instead_of", "started_at", "id"],
        sqlite_where=stands_in,
        postgresql_where=stands_in,
    )
    op.create_table(
        "seen_tools",
        sa.Column("id", sa.Text, primary_key=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("name", "digest", "definition")),
        sa.Column("seen_at", _SECONDS, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_index("seen_tools_by_age", "seen_tools", ["seen_at"])
