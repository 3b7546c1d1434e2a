"""Conversations and their exchanges."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make their tables."""
    op.create_table(
        "conversations",
        sa.Column("number", _NUMBER, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("principal", "tenant", "title")),
        sa.Column("updated_at", _SECONDS, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("conversations_by_time", "conversations", ["updated_at", "number"])
    op.create_index(
        "conversations_by_principal", "conversations", ["principal", "updated_at", "number"]
    )
    op.create_table(
        "exchanges",
        sa.Column("number", _NUMBER, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in ("conversation", "run_id", "state", "text", "answer", "body")
        ),
    )
    op.create_index("exchanges_in_order", "exchanges", ["conversation", "number"])
    op.create_index("exchanges_by_run", "exchanges", ["run_id"])
    working = sa.text("state = 'working'")
    op.create_index(
        "exchanges_working",
        "exchanges",
        ["number"],
        sqlite_where=working,
        postgresql_where=working,
    )
