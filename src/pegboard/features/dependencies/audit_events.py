"""Changes of the dependency graph as events of the audit trail."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pegboard.core.event import BoardChanged, digest_of
from pegboard.core.principal import Principal
from pegboard.registry.dependencies import GraphChange

_MAX_LISTED = 500


def graph_event(
    action: str, principal: Principal, *, at: float, detail: Mapping[str, Any]
) -> BoardChanged:
    """Return an event of a change before it is made (`change`) or after (`changed`)."""
    return BoardChanged(
        kind="graph",
        action=action,
        at=at,
        by=principal.id,
        tenant=principal.tenant,
        detail=detail,
    )


def change_dict(change: GraphChange) -> dict[str, Any]:
    """Return a change for the audit trail: the beginning of each list, and a digest of all."""
    whole = {name: items for name, items in asdict(change).items() if items}
    return {
        "digest": digest_of(whole),
        **{name: list(items[:_MAX_LISTED]) for name, items in whole.items()},
    }
