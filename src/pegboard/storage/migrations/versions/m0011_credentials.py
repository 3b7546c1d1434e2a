"""Credentials of callers, with their encrypted values."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "credentials",
        sa.Column("number", _NUMBER, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        *_texts("owner", "source", "name"),
        sa.Column("shared", sa.Boolean, nullable=False),
        sa.Column("version", _NUMBER, nullable=False),
        sa.Column("refreshed_until", _SECONDS, nullable=True),
        *_texts("sealed", "body"),
        sa.UniqueConstraint("owner", "source", "name", name="credentials_by_name"),
    )
    op.create_index("credentials_by_source", "credentials", ["source"])


def _texts(*names: str) -> "list[sa.Column[str]]":
    return [sa.Column(name, sa.Text, nullable=False) for name in names]
