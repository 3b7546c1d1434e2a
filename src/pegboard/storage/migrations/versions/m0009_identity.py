"""Accounts, organisations, and what people sign in with."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_SECONDS: "sa.types.TypeEngine[float]" = sa.REAL[float]().with_variant(sa.Double(), "postgresql")
_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make their tables."""
    op.create_table("claimed_names", _key("name"), sqlite_with_rowid=False)
    op.create_table(
        "users",
        _key("id"),
        sa.Column("handle", sa.Text, nullable=False, unique=True),
        *_texts("email", "body"),
    )
    op.create_index("users_by_email", "users", ["email"])
    op.create_table("organisations", _key("handle"), *_texts("body"))
    op.create_table("memberships", _key("organisation"), _key("user_id"), *_texts("body"))
    op.create_index("memberships_by_user", "memberships", ["user_id"])
    op.create_table(
        "api_keys",
        sa.Column("number", _NUMBER, primary_key=True),
        sa.Column("id", sa.Text, nullable=False, unique=True),
        sa.Column("digest", sa.Text, nullable=False, unique=True),
        *_texts("user_id", "body"),
    )
    op.create_index("api_keys_by_user", "api_keys", ["user_id", "number"])
    op.create_table(
        "user_sessions",
        _key("digest"),
        *_texts("user_id"),
        sa.Column("expires_at", _SECONDS, nullable=False),
        *_texts("body"),
    )
    op.create_index("user_sessions_by_user", "user_sessions", ["user_id"])
    op.create_index("user_sessions_by_expiry", "user_sessions", ["expires_at"])
    op.create_table(
        "links",
        _key("digest"),
        sa.Column("expires_at", _SECONDS, nullable=False),
        sa.Column("used_at", _SECONDS, nullable=True),
        *_texts("body"),
    )
    op.create_index("links_by_expiry", "links", ["expires_at"])


def _key(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, primary_key=True)


def _texts(*names: str) -> "list[sa.Column[str]]":
    return [sa.Column(name, sa.Text, nullable=False) for name in names]
