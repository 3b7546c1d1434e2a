"""The SQL face of `access/visibility.py`: which rows a caller may see."""

from typing import Any

from sqlalchemy import ColumnElement, exists, or_, true

from pegboard.access.visibility import SHARED_STATUSES
from pegboard.core.principal import Principal
from pegboard.core.record_snapshot import clean_text
from pegboard.storage.tables import RESOURCES, SUBSCRIPTIONS


def where_visible(principal: Principal) -> "ColumnElement[bool]":
    """The condition that a row of `resources` is visible to a caller."""
    if not principal.user:
        return true()
    table: Any = RESOURCES.c
    user = clean_text(principal.user)
    is_shared = table.visibility != "private"
    organisations = sorted(map(clean_text, principal.organisations))
    is_of_organisation = (
        is_shared
        & table.organisation.in_(organisations)
        & table.publish_status.in_(SHARED_STATUSES)
    )
    is_subscribed = (
        is_shared
        & (table.publish_status == "approved")
        & exists().where(SUBSCRIPTIONS.c.resource == table.id, SUBSCRIPTIONS.c.user_id == user)
    )
    return or_(table.owner == user, table.visibility == "global", is_of_organisation, is_subscribed)
