"""What somebody has done to registered tools, for whoever has to prove it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pegboard.core.event import BoardChanged
from pegboard.core.principal import Principal
from pegboard.execution.audit_first import named

_AT_ONCE = 500
"""So many tools are told of in one event."""


def changes(
    action: str,
    before: Mapping[str, str],
    after: Mapping[str, str],
    *,
    principal: Principal,
    at: float,
    **detail: Any,
) -> Iterator[BoardChanged]:
    """What was done to which tools, with the version that each meant before, and means now.

    Args:
        action: `registered`, `removed`, `rolled_back` or `deprecated`.
        before: Versions by name; empty for a name that meant nothing.
        after: The same, now.
        principal: Who did it.
        at: Unix seconds.
        detail: What else is told.
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
    """What somebody is about to do to tools: one event, however many they are.

    Args:
        action: `register`, `remove`, `roll_back` or `deprecate`.
        items: The name of each, and the digest of what it is registered as, if it is.
        principal: Who does it.
        at: Unix seconds.
        detail: What else is told.
    """
    told = named(items)
    return BoardChanged(
        kind="catalogue",
        action=action,
        at=at,
        subject=told["names"][0] if told["count"] == 1 else "",
        by=principal.id,
        tenant=principal.tenant,
        detail={**detail, **told},
    )
