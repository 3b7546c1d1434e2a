"""When plans were made, so that old ones can go, and which runs are of a plan."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")
_PLANS = sa.table("plans", sa.column("id"), sa.column("body"), sa.column("created_at"))
_PAGE = 500


def upgrade() -> None:
    """Say of each plan what stood in its body alone."""
    # An older server may still write beside us; what it does not say is 0, and stays.
    made = sa.Column("created_at", _SECONDS, nullable=False, server_default=sa.text("0"))
    op.add_column("plans", made)
    _fill()
    op.create_index("plans_by_time", "plans", ["created_at", "id"])
    op.create_index("runs_by_plan", "runs", ["plan_id"])


def _fill() -> None:
    """Read each body here: PostgreSQL's JSON takes no escaped NUL, and texts may have one."""
    bind, after = op.get_bind(), ""
    wanted = sa.select(_PLANS.c.id, _PLANS.c.body).order_by(_PLANS.c.id).limit(_PAGE)
    change = (
        sa.update(_PLANS)
        .where(_PLANS.c.id == sa.bindparam("plan"))
        .values(created_at=sa.bindparam("made"))
    )
    while rows := bind.execute(wanted.where(_PLANS.c.id > after)).all():
        found = [
            {"plan": row.id, "made": json.loads(row.body).get("created_at", 0)} for row in rows
        ]
        bind.execute(change, found)
        after = rows[-1].id
