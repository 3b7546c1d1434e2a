"""Impact analysis: what no longer works when a tool fails, considering substitutes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pegboard.core.tool import ToolSpec
from pegboard.registry.dependencies import DependencyGraph
from pegboard.registry.dependencies.graph import ImpactedTool

SubstitutesOf = Callable[[str], Sequence[ToolSpec]]
"""Returns the tools that can certainly replace this one, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impact:
    """The impact of a failure.

    Attributes:
        version: Version of the graph.
        tool: The tool that fails.
        broken: What no longer works, nearest first.
        substitutes: Substitutes for tools that fail, by the id of the failed tool.
    """

    version: int
    tool: str
    broken: tuple[ImpactedTool, ...]
    substitutes: Mapping[str, ToolSpec]

    def to_dict(self, names: Mapping[str, str]) -> dict[str, Any]:
        """Return JSON-compatible data.

        Args:
            names: Wire names by id; a node without one is no tool of the board.
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
                for tool, spec in self.substitutes.items()
            ],
        }


def find_impact(
    graph: DependencyGraph,
    tool: str,
    *,
    whole: DependencyGraph | None = None,
    substitutes_of: SubstitutesOf | None = None,
) -> Impact:
    """Find out what no longer works when a tool fails.

    Args:
        graph: The part that the caller may see.
        tool: Id of the tool that fails.
        whole: The whole graph: a tool that would fail too is no substitute. None when it is
            `graph`.
        substitutes_of: Returns the substitutes of a tool; None for none.

    Raises:
        DependencyNotFound: There is no such node; names the nearest.
    """
    graph.check_node(tool)
    doomed = {tool, *(whole or graph).dependants(tool, transitive=True)}
    found: dict[str, ToolSpec | None] = {}

    def has_alternative(gone: str, _other: str) -> bool:
        if substitutes_of is None:
            return False
        if gone not in found:
            well = (spec for spec in substitutes_of(gone) if spec.id not in doomed)
            found[gone] = next(well, None)
        return found[gone] is not None

    broken = graph.breaks(tool, has_alternative=has_alternative)
    used = {gone: spec for gone, spec in found.items() if spec is not None}
    return Impact(version=graph.version, tool=tool, broken=broken, substitutes=used)
