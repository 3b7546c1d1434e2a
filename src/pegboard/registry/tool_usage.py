"""`ToolUsage`: which tools a tenant has called; search prefers them where others are close."""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pegboard.core.event import CallRecord, Event
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool

_FULL = 15
"""Calls from which on a tool is preferred as much as it can be."""
_MAX_TENANTS, _MAX_TOOLS = 1_000, 2_000

Prefer = Callable[[Tool], float]


class ToolUsage:
    """Counts the successful calls of each tool, apart for each tenant; a listener.

    A caller without a tenant is one of its own, so that nobody's searches tell what others call.
    """

    def __init__(self) -> None:
        self._tenants: OrderedDict[str, dict[str, int]] = OrderedDict()

    def on_event(self, event: Event) -> None:
        """Count a call that has succeeded."""
        if isinstance(event, CallRecord) and event.status == "completed" and not event.replayed:
            principal = event.principal
            self._count(principal.tenant or principal.id, event.tool)

    def load(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Count calls of a stored history, which were made before."""
        for row in rows:
            self._count(row["tenant"] or row["principal"], row["tool"])

    def prefer(self, principal: Principal) -> Prefer | None:
        """How much a tool is preferred for a caller, from 0 to 1; None for one without calls."""
        counts = self._tenants.get(principal.tenant or principal.id)
        if not counts:
            return None
        full = math.log(1 + _FULL)
        return lambda tool: min(1.0, math.log(1 + counts.get(tool.spec.name, 0)) / full)

    def _count(self, tenant: str, tool: str) -> None:
        counts = self._tenants.setdefault(tenant, {})
        self._tenants.move_to_end(tenant)
        if len(self._tenants) > _MAX_TENANTS:
            self._tenants.popitem(last=False)
        if tool in counts or len(counts) < _MAX_TOOLS:
            counts[tool] = counts.get(tool, 0) + 1
