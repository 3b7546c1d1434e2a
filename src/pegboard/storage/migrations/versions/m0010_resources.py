"""Connectors, agents and skills that people add, and who has subscribed to them."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make their tables."""
    op.create_table(
        "resources",
        _key("id"),
        *_texts("kind", "name", "owner", "organisation", "visibility", "publish_status"),
        sa.Column("revision", _NUMBER, nullable=False),
        sa.Column("version", _NUMBER, nullable=False),
        *_texts("body"),
        sa.UniqueConstraint("kind", "name"),
    )
    op.create_index("resources_by_owner", "resources", ["owner"])
    op.create_index("resources_by_organisation", "resources", ["organisation"])
    op.create_index("resources_by_status", "resources", ["publish_status"])
    op.create_index("resources_by_version", "resources", ["version"])
    op.create_table("subscriptions", _key("resource"), _key("user_id"))
    op.create_index("subscriptions_by_user", "subscriptions", ["user_id"])
    op.create_table(
        "resource_definitions",
        _key("resource"),
        sa.Column("version", _NUMBER, nullable=False),
        *_texts("body"),
    )
    op.create_index("resource_definitions_by_version", "resource_definitions", ["version"])
    op.create_table(
        "resource_version",
        sa.Column("id", _NUMBER, primary_key=True, autoincrement=False),
        sa.Column("version", _NUMBER, nullable=False),
    )


def _key(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, primary_key=True)


def _texts(*names: str) -> "list[sa.Column[str]]":
    return [sa.Column(name, sa.Text, nullable=False) for name in names]
