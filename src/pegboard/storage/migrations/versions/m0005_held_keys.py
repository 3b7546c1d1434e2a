"""Until when the call that has an idempotency key is known to run."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")


def upgrade() -> None:
    """Add who holds a key; what older servers write beside us says nothing of it."""
    holder = sa.Column("holder", sa.Text, nullable=False, server_default=sa.text("''"))
    op.add_column("outcomes", holder)
    op.add_column("outcomes", sa.Column("held_until", _SECONDS, nullable=True))
