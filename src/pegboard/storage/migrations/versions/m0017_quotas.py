"""Quotas, and what was used of them."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0013"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")


def upgrade() -> None:
    """Make their tables."""
    op.create_table(
        "quotas",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("changed_at", _SECONDS, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "quota_usage",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("used", _SECONDS, nullable=False),
        sa.Column("ends_at", _SECONDS, nullable=False),
    )
    op.create_index("quota_usage_by_end", "quota_usage", ["ends_at"])
