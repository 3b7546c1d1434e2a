"""What a graph is checked against."""

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct

from pegboard.core.health import Health
from pegboard.core.principal import Principal
from pegboard.graphs.failover import Substitute
from pegboard.graphs.node_kind import NodeKind
from pegboard.graphs.tool_host import ToolHost

HealthOf = Callable[[str], Health | None]
StandInOf = Callable[[str], str]
"""The name of the tool that could best stand in for this one; empty when there is none."""

WasThere = Callable[[str, Principal], bool]
"""Whether there was a tool of this name, as far as this caller may know."""


class CheckContext(Struct, frozen=True, kw_only=True):
    """What a graph is checked against.

    Attributes:
        env: The names that `$.env` may read, or what it reads by name; None when that is not known.
        health: How a tool is doing, by name; None when nobody knows.
        stand_in: What could stand in for a tool, by name; None when nobody knows.
        heal: What a run would take for these tools, when none of them is there; None for nothing.
        was_there: Whether a tool that is not there was, as far as the caller may know.
    """

    board: ToolHost
    principal: Principal
    kinds: Mapping[str, NodeKind]
    env: Collection[str] | None = None
    health: HealthOf | None = None
    stand_in: StandInOf | None = None
    heal: Callable[[tuple[str, ...]], Substitute | None] | None = None
    was_there: WasThere | None = None
