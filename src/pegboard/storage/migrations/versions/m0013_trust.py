"""Taints of runs, and roles of organisations."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")


def upgrade() -> None:
    """Make their tables."""
    op.create_table(
        "taints",
        _key("subject"),
        sa.Column("at", _SECONDS, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("taints_by_time", "taints", ["at"])
    op.create_table(
        "organisation_roles",
        _key("organisation"),
        _key("name"),
        sa.Column("body", sa.Text, nullable=False),
    )


def _key(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, primary_key=True)
