"""What was found for questions to knowledge bases."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "evidence",
        _key("call"),
        _text("subject"),
        _text("owner"),
        _text("asked_of"),
        sa.Column("at", _SECONDS, nullable=False),
        sa.Column("last", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        _text("body"),
    )
    op.create_index("evidence_by_subject", "evidence", ["subject"])
    op.create_index("evidence_asked", "evidence", ["owner", "asked_of", "at"])
    op.create_index("evidence_by_time", "evidence", ["at"])
    op.create_table("evidence_documents", _key("document"), _key("call"))
    op.create_index("evidence_documents_by_call", "evidence_documents", ["call"])


def _key(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, primary_key=True)


def _text(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, nullable=False)
