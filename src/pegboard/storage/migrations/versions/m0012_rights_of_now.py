"""What servers share of sign-in: a revision of rights, tickets, codes, and attempts."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make their tables."""
    op.create_table(
        "identity_revision",
        sa.Column("id", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("revision", _NUMBER, nullable=False),
    )
    op.create_table(
        "linked_identities", _key("issuer"), _key("subject"), _text("user_id"), _text("body")
    )
    op.create_table(
        "temporary_records",
        _key("kind"),
        _key("id"),
        sa.Column("expires_at", _SECONDS, nullable=False),
        _text("body"),
    )
    op.create_index("temporary_records_by_expiry", "temporary_records", ["expires_at"])
    op.create_table(
        "sign_in_attempts",
        sa.Column("number", _NUMBER, primary_key=True),
        _text("name"),
        sa.Column("expires_at", _SECONDS, nullable=False),
    )
    op.create_index("sign_in_attempts_by_name", "sign_in_attempts", ["name", "expires_at"])
    op.create_index("sign_in_attempts_by_expiry", "sign_in_attempts", ["expires_at"])


def _key(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, primary_key=True)


def _text(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, nullable=False)
