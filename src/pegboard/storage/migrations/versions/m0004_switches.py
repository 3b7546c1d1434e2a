"""Kill switches that all servers know."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "switches",
        *(sa.Column(name, sa.Text, primary_key=True) for name in ("kind", "name")),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("thrown_at", _SECONDS, nullable=False),
        sa.Column("thrown_by", sa.Text, nullable=False),
    )
