"""What a graph is checked against."""

from collections.abc import Callable, Collection, Mapping

from msgspec import Struct

from pegboard.core.health import Health
from pegboard.core.principal import Principal
from pegboard.graphs.failover import Substitute
from pegboard.graphs.node_kind import NodeKind
from pegboard.graphs.tool_host import CallerTools, ToolHost

HealthOf = Callable[[str], Health | None]
StandInOf = Callable[[str], str]
"""The name of the best replacement for a tool; empty when there is none."""

WasThere = Callable[[str, Principal], bool]
"""Whether there was a tool of this name, as far as this caller may know."""


class CheckContext(Struct, frozen=True, kw_only=True):
    """What a graph is checked against.

    Attributes:
        env: The names that `$.env` may read, or what it reads by name; None when that is not known.
        health: The health of a tool, by name; None when unknown.
        stand_in: The tool that could replace a tool, by name; None when unknown.
        heal: The substitute that a run would use for these unavailable tools; None for none.
        was_there: Whether a missing tool existed before, as far as the caller may know.
    """

    board: ToolHost
    principal: Principal
    kinds: Mapping[str, NodeKind]
    env: Collection[str] | None = None
    health: HealthOf | None = None
    stand_in: StandInOf | None = None
    heal: Callable[[tuple[str, ...]], Substitute | None] | None = None
    was_there: WasThere | None = None

    @property
    def tools(self) -> CallerTools:
        """The tools of the board that the caller may know of."""
        return CallerTools(self.board, self.principal)
