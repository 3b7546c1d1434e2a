"""Indexes for the filters of lists, and what a list has of runs with large values."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_PAGE = ("created_at", "number")


def upgrade() -> None:
    """Add them. A partial index leaves out what most rows have."""
    for name in ("brief_body", "brief_result", "brief_state"):
        op.add_column("runs", sa.Column(name, sa.Text))
    _add("calls_by_tenant", "calls", "tenant", "started_at", "id", where="tenant <> ''")
    _add("runs_by_principal", "runs", "principal", *_PAGE)
    _add("runs_by_state", "runs", "state", *_PAGE, where="state <> 'completed'")
    _add("runs_by_tenant", "runs", "tenant", *_PAGE, where="tenant <> ''")
    # of two that fit as well, SQLite takes the one that was made last
    _add("approvals_by_state", "approvals", "state", *_PAGE)
    _add("approvals_by_tool", "approvals", "tool", *_PAGE)
    _add("approvals_by_run", "approvals", "run_id", *_PAGE)
    _add("approvals_by_principal", "approvals", "principal", *_PAGE)
    _add("approvals_by_tenant", "approvals", "tenant", *_PAGE, where="tenant <> ''")
    _add("audit_by_kind", "audit", "kind", "sequence")
    _add("audit_by_tenant", "audit", "tenant", "sequence", where="tenant <> ''")


def _add(name: str, table: str, *columns: str, where: str = "") -> None:
    part = sa.text(where) if where else None
    op.create_index(name, table, columns, sqlite_where=part, postgresql_where=part)
