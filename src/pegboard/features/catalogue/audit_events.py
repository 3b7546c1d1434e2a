"""Audit events of changes of registered tools."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pegboard.core.event import BoardChanged
from pegboard.core.principal import Principal
from pegboard.execution.audit_first import summarize_names

_AT_ONCE = 500
"""Number of tools in one event."""


def changes(
    action: str,
    before: Mapping[str, str],
    after: Mapping[str, str],
    *,
    principal: Principal,
    at: float,
    **detail: Any,
) -> Iterator[BoardChanged]:
    """Yield events of a finished change, with the versions of each tool before and after it.

    Args:
        action: `registered`, `removed`, `rolled_back` or `deprecated`.
        before: Versions by name; empty for a name without one.
        after: The same after the change.
        principal: The caller.
        at: Unix seconds.
        detail: Further details.
    """
    names = list(before)
    for first in range(0, len(names), _AT_ONCE):
        some = names[first : first + _AT_ONCE]
        versions = {name: {"before": before[name], "after": after[name]} for name in some}
        yield BoardChanged(
            kind="catalogue",
            action=action,
            at=at,
            subject=names[0] if len(names) == 1 else "",
            by=principal.id,
            tenant=principal.tenant,
            detail={**detail, "versions": versions},
        )


def about_to(
    action: str,
    items: Iterable[tuple[str, str]],
    *,
    principal: Principal,
    at: float,
    **detail: Any,
) -> BoardChanged:
    """Return the event of a change before it is made: one event for all tools.

    Args:
        action: `register`, `remove`, `roll_back` or `deprecate`.
        items: The name of each tool, and the digest of its definition, if it has one.
        principal: The caller.
        at: Unix seconds.
        detail: Further details.
    """
    affected = summarize_names(items)
    return BoardChanged(
        kind="catalogue",
        action=action,
        at=at,
        subject=affected["names"][0] if affected["count"] == 1 else "",
        by=principal.id,
        tenant=principal.tenant,
        detail={**detail, **affected},
    )
