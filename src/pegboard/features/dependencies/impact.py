"""What no longer works when a tool fails, with what could stand in taken into account."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.core.tool import ToolSpec
from pegboard.registry.dependencies import DependencyGraph
from pegboard.registry.dependencies.graph import Broken

SubstitutesOf = Callable[[str], Sequence[ToolSpec]]
"""The tools that could take the place of this one without a doubt, the best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """What a failure leads to.

    Attributes:
        version: Of the graph.
        tool: What fails.
        broken: What no longer works, the nearest first.
        stand_ins: What would take the place of a tool that fails, by the id of that one.
    """

    version: int
    tool: str
    broken: tuple[Broken, ...]
    stand_ins: Mapping[str, ToolSpec]

    def to_dict(self, names: Mapping[str, str]) -> dict[str, Any]:
        """As JSON-compatible data.

        Args:
            names: Wire names by id; a node without one is no tool of the board now.
        """
        return {
            "version": self.version,
            "tool": self.tool,
            "breaks": [
                {"tool": item.tool, "name": names.get(item.tool, ""), "because": item.because}
                for item in self.broken
            ],
            "stand_ins": [
                {"tool": tool, "by": spec.id, "name": spec.name}
                for tool, spec in self.stand_ins.items()
            ],
        }


def find_impact(
    graph: DependencyGraph,
    tool: str,
    *,
    whole: DependencyGraph | None = None,
    stand_ins_of: SubstitutesOf | None = None,
) -> Impact:
    """What no longer works when this tool fails.

    Args:
        graph: As far as the caller may see it.
        tool: What fails, by id.
        whole: All of the graph: nothing stands in that would fail along. None when it is `graph`.
        stand_ins_of: Says what could stand in; None lets nothing stand in.

    Raises:
        DependencyNotFound: No such node; names the nearest.
    """
    graph.check_node(tool)
    doomed = {tool, *(whole or graph).dependants(tool, transitive=True)}
    found: dict[str, ToolSpec | None] = {}

    def has_alternative(gone: str, _other: str) -> bool:
        if stand_ins_of is None:
            return False
        if gone not in found:
            well = (spec for spec in stand_ins_of(gone) if spec.id not in doomed)
            found[gone] = next(well, None)
        return found[gone] is not None

    broken = graph.breaks(tool, has_alternative=has_alternative)
    used = {gone: spec for gone, spec in found.items() if spec is not None}
    return Impact(version=graph.version, tool=tool, broken=broken, stand_ins=used)
