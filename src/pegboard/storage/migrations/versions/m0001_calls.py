"""Calls, error details, results, outcomes."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the first tables."""
    op.create_table(
        "calls",
        sa.Column("id", _NUMBER, primary_key=True),
        sa.Column("call_id", sa.Text, nullable=False, unique=True),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("principal", sa.Text, nullable=False),
        sa.Column("tenant", sa.Text, nullable=False),
        sa.Column("run_id", sa.Text, nullable=False),
        sa.Column("started_at", _SECONDS, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_index("calls_by_time", "calls", ["started_at", "id"])
    op.create_index("calls_by_tool", "calls", ["tool", "started_at", "id"])
    _partial("calls_by_run", ["run_id", "started_at", "id"], "run_id <> ''")
    _partial("calls_unknown", ["started_at", "id"], "status = 'unknown'")
    op.create_table(
        "error_details",
        sa.Column("error_id", sa.Text, primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "results",
        sa.Column("handle", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("created_at", _SECONDS, nullable=False),
        sa.Column("expires_at", _SECONDS, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_index("results_by_expiry", "results", ["expires_at"])
    op.create_table(
        "outcomes",
        sa.Column("owner", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("created_at", _SECONDS, nullable=False),
        sa.Column("result", sa.Text),
        sqlite_with_rowid=False,
    )
    op.create_index("outcomes_by_age", "outcomes", ["created_at"])


def _partial(name: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, "calls", columns, sqlite_where=condition, postgresql_where=condition)
