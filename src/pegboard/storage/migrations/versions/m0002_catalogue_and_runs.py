"""The catalogue, pins, dependencies, approvals, plans, runs and the audit trail."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables of everything that is not a call."""
    _catalogue()
    _approvals()
    _runs()
    _within_runs()
    _audit()


def _text(*names: str) -> list["sa.Column[str]"]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _keys(*names: str) -> list["sa.Column[str]"]:
    return [sa.Column(name, sa.Text, primary_key=True) for name in names]


def _seconds(*names: str) -> list["sa.Column[float]"]:
    return [sa.Column(name, _SECONDS, nullable=False) for name in names]


def _maybe(*names: str) -> list["sa.Column[float]"]:
    return [sa.Column(name, _SECONDS, nullable=True) for name in names]


def _numbered(name: str) -> "sa.Column[int]":
    return sa.Column(name, _NUMBER, primary_key=True, autoincrement=False)


def _unique(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, nullable=False, unique=True)


def _catalogue() -> None:
    op.create_table(
        "tool_versions",
        sa.Column("number", _NUMBER, primary_key=True),
        *_text("name", "version", "digest", "definition"),
        *_seconds("created_at"),
        *_text("created_by", "origin", "status"),
        *_maybe("deprecated_at", "deprecated_until"),
        sa.UniqueConstraint("name", "version", name="tool_versions_once"),
    )
    op.create_table("active_tools", *_keys("name"), *_text("version"), sqlite_with_rowid=False)
    op.create_table(
        "revisions",
        *_keys("name"),
        sa.Column("number", _NUMBER, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "pins",
        *_keys("source", "name"),
        *_text("digest", "definition"),
        *_seconds("approved_at"),
        *_text("approved_by"),
    )
    op.create_table(
        "held_definitions",
        *_keys("source", "name"),
        *_text("digest", "definition"),
        *_seconds("held_at"),
        *_text("diff"),
    )
    op.create_table("dependency_changes", _numbered("version"), *_text("body"))


def _approvals() -> None:
    op.create_table(
        "approvals",
        sa.Column("number", _NUMBER, primary_key=True),
        _unique("id"),
        *_text("state", "principal", "tenant", "tool", "run_id", "digest"),
        *_seconds("created_at"),
        *_maybe("expires_at"),
        *_text("body"),
    )
    op.create_index("approvals_by_time", "approvals", ["created_at", "number"])
    op.create_index("approvals_by_digest", "approvals", ["digest"])
    op.create_index("approvals_by_expiry", "approvals", ["state", "expires_at"])


def _runs() -> None:
    op.create_table("plans", *_keys("id"), *_text("body"))
    op.create_table(
        "runs",
        sa.Column("number", _NUMBER, primary_key=True),
        _unique("id"),
        *_text("plan_id", "state", "principal", "tenant"),
        *_seconds("created_at"),
        *_maybe("finished_at", "wake_at"),
        *_text("lease_owner"),
        *_maybe("lease_until"),
        sa.Column("last_event", _NUMBER, nullable=False),
        *_text("body"),
        sa.Column("result", sa.Text),
    )
    op.create_index("runs_by_time", "runs", ["created_at", "number"])
    op.create_index("runs_by_end", "runs", ["finished_at"])
    unfinished = sa.text("finished_at IS NULL")
    op.create_index(
        "runs_unfinished",
        "runs",
        ["number"],
        sqlite_where=unfinished,
        postgresql_where=unfinished,
    )


def _within_runs() -> None:
    op.create_table(
        "run_steps",
        *_keys("run_id", "path"),
        *_seconds("started_at"),
        *_maybe("finished_at"),
        *_text("value"),
    )
    op.create_table("run_events", *_keys("run_id"), _numbered("sequence"), *_text("body"))
    op.create_table(
        "run_signals",
        sa.Column("number", _NUMBER, primary_key=True),
        *_text("run_id", "id", "taken_by", "body"),
        sa.UniqueConstraint("run_id", "id", name="run_signals_once"),
    )
    op.create_index("run_signals_in_order", "run_signals", ["run_id", "number"])


def _audit() -> None:
    op.create_table(
        "audit",
        _numbered("sequence"),
        *_seconds("at"),
        *_text("kind", "tenant", "body", "previous", "hash"),
    )
    op.create_index("audit_by_time", "audit", ["at"])
    op.create_table(
        "audit_head",
        _numbered("id"),
        sa.Column("sequence", _NUMBER, nullable=False),
        *_text("hash"),
    )
    op.execute(
        sa.text("INSERT INTO audit_head (id, sequence, hash) VALUES (1, 0, :zeros)").bindparams(
            zeros="0" * 64
        )
    )
