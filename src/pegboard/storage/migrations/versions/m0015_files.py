"""Files of people, and uploads that become files."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")


def upgrade() -> None:
    """Make their table."""
    op.create_table(
        "files",
        sa.Column("number", _NUMBER, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        *_texts("owner", "organisation", "state", "purpose", "digest"),
        sa.Column("size", _NUMBER, nullable=False),
        sa.Column("revision", _NUMBER, nullable=False),
        sa.Column("created_at", _SECONDS, nullable=False),
        sa.Column("updated_at", _SECONDS, nullable=False),
        *_texts("body"),
    )
    op.create_index("files_by_owner", "files", ["owner", "created_at", "number"])
    op.create_index(
        "files_by_organisation",
        "files",
        ["organisation", "created_at", "number"],
        **_where("organisation <> ''"),
    )
    op.create_index("files_idle", "files", ["updated_at", "number"], **_where("state <> 'ready'"))


def _texts(*names: str) -> list["sa.Column[str]"]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}
