"""One version of the dependency graph, and all queries about it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pegboard.core.text.suggestions import nearest_names
from pegboard.errors import DependencyNotFound
from pegboard.registry.dependencies.changes import Delta, Dependency, Edge, Origins

Direction = Literal["both", "prerequisites", "dependants"]
Rows = Mapping[str, Mapping[str, Origins]]
"""For each node its neighbours in one direction, with the origins of the edges."""

_NONE: Mapping[str, Origins] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class ImpactedTool:
    """A tool that no longer works when another fails.

    Attributes:
        because: Which of its prerequisites is missing or impacted.
    """

    tool: str
    because: str


class DependencyGraph:
    """The dependencies of one version; immutable.

    Args:
        version: Its number; 0 is the empty graph.
        nodes: All nodes with their origins.
        dependants: For each node its dependants, with the origins of the edges.
        prerequisites: For each node its prerequisites, likewise.
    """

    __slots__ = ("_dependants", "_nodes", "_prerequisites", "version")

    def __init__(
        self,
        *,
        version: int = 0,
        nodes: Mapping[str, Origins] | None = None,
        dependants: Rows | None = None,
        prerequisites: Rows | None = None,
    ) -> None:
        self.version = version
        self._nodes = nodes or _NONE
        self._dependants: Rows = dependants or {}
        self._prerequisites: Rows = prerequisites or {}

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, node: object) -> bool:
        return node in self._nodes

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DependencyGraph):
            return NotImplemented
        mine, others = (self._nodes, self._dependants), (other._nodes, other._dependants)
        return mine == others

    def __hash__(self) -> int:
        return hash((self.version, len(self)))

    def __repr__(self) -> str:
        return f"DependencyGraph(version={self.version}, {len(self)} tools)"

    @property
    def nodes(self) -> tuple[str, ...]:
        """All ids, sorted."""
        return tuple(sorted(self._nodes))

    @property
    def edges(self) -> tuple[Dependency, ...]:
        """All edges, sorted."""
        return tuple(
            Dependency(prerequisite=node, dependant=other, origins=origins)
            for node in sorted(self._dependants)
            for other, origins in sorted(self._dependants[node].items())
        )

    def origins_of_node(self, node: str) -> Origins:
        """The origins of a node; empty when there is none."""
        return self._nodes.get(node, ())

    def origins(self, edge: Edge) -> Origins:
        """The origins of an edge; empty when there is none."""
        return self._dependants.get(edge[0], _NONE).get(edge[1], ())

    def prerequisites(self, node: str, *, transitive: bool = False) -> tuple[str, ...]:
        """The prerequisites of a tool, the nearest first; with `transitive` also theirs.

        Raises:
            DependencyNotFound: No such node; suggests similar names.
        """
        return self._from(node, self._prerequisites, transitive)

    def dependants(self, node: str, *, transitive: bool = False) -> tuple[str, ...]:
        """The dependants of a tool, the nearest first; with `transitive` also theirs.

        Raises:
            DependencyNotFound: No such node; suggests similar names.
        """
        return self._from(node, self._dependants, transitive)

    def around(
        self, node: str, *, depth: int = 1, direction: Direction = "both"
    ) -> "DependencyGraph":
        """The sub-graph within a number of edges, in one direction or both.

        Raises:
            DependencyNotFound: No such node; suggests similar names.
        """
        self.check_node(node)
        sides = {"prerequisites": self._prerequisites, "dependants": self._dependants}
        ways = sides.values() if direction == "both" else (sides[direction],)
        inside, frontier = {node}, [node]
        for _ in range(depth):
            frontier = sorted(
                {other for item in frontier for side in ways for other in side[item]} - inside
            )
            inside.update(frontier)
        return self.only(inside)

    def only(self, nodes: Iterable[str]) -> "DependencyGraph":
        """The sub-graph of these nodes."""
        kept = [node for node in dict.fromkeys(nodes) if node in self]
        inside = set(kept)
        return DependencyGraph(
            version=self.version,
            nodes={node: self._nodes[node] for node in kept},
            dependants=select_rows(self._dependants, kept, inside),
            prerequisites=select_rows(self._prerequisites, kept, inside),
        )

    def layers(self) -> tuple[tuple[str, ...], ...]:
        """All tools in layers: each in the first layer after all its prerequisites; sorted within.

        Tools of one layer do not need each other and can run concurrently.
        """
        left = {node: len(needs) for node, needs in self._prerequisites.items()}
        layer = sorted(node for node, count in left.items() if not count)
        found: list[tuple[str, ...]] = []
        while layer:
            found.append(tuple(layer))
            following: list[str] = []
            for node in layer:
                for other in self._dependants[node]:
                    left[other] -= 1
                    if not left[other]:
                        following.append(other)
            layer = sorted(following)
        return tuple(found)

    def order(self) -> tuple[str, ...]:
        """All tools in a stable order, each after its prerequisites."""
        return tuple(node for layer in self.layers() for node in layer)

    def breaks(
        self, node: str, *, has_alternative: Callable[[str, str], bool] | None = None
    ) -> tuple[ImpactedTool, ...]:
        """The tools that no longer work when a tool fails, the nearest first.

        Args:
            node: The tool that fails.
            has_alternative: Given a missing tool and a dependant: whether the dependant has an
                alternative.

        Raises:
            DependencyNotFound: No such node; suggests similar names.
        """
        self.check_node(node)
        broken: dict[str, str] = {node: ""}
        frontier = [node]
        while frontier:
            found: dict[str, str] = {}
            for gone in frontier:
                for other in sorted(self._dependants[gone]):
                    is_served = has_alternative is not None and has_alternative(gone, other)
                    if not (other in broken or other in found or is_served):
                        found[other] = gone
            broken |= found
            frontier = sorted(found)
        del broken[node]
        return tuple(ImpactedTool(tool=tool, because=gone) for tool, gone in broken.items())

    def check_node(self, node: str) -> None:
        """Check that a node exists.

        Raises:
            DependencyNotFound: No such node; suggests similar names.
        """
        if node not in self:
            raise DependencyNotFound(f"tool '{node[:100]}'", nearest_names(node, self._nodes))

    def check_edge(self, edge: Edge) -> None:
        """Check that an edge exists.

        Raises:
            DependencyNotFound: No such node or edge; suggests similar ones.
        """
        for node in edge:
            self.check_node(node)
        if not self.origins(edge):
            before, after = edge
            near = [f"{before} -> {other}" for other in sorted(self._dependants[before])]
            near += [f"{other} -> {after}" for other in sorted(self._prerequisites[after])]
            raise DependencyNotFound(f"dependency '{before} -> {after}'", tuple(near[:3]))

    def neighbours(self, node: str) -> Iterator[str]:
        """The direct dependants, unsorted; nothing for an unknown node."""
        return iter(self._dependants.get(node, _NONE))

    def needs(self, node: str) -> Iterator[str]:
        """The direct prerequisites, unsorted; nothing for an unknown node."""
        return iter(self._prerequisites.get(node, _NONE))

    def apply(self, delta: Delta, *, version: int) -> "DependencyGraph":
        """The version after a delta, which shares everything that the delta does not touch."""
        forward = [
            (before, after, is_said) for (before, after), (_, is_said) in delta.edges.items()
        ]
        backward = [(after, before, is_said) for before, after, is_said in forward]
        return DependencyGraph(
            version=version,
            nodes=apply_to_nodes(self._nodes, delta),
            dependants=apply_to_rows(self._dependants, delta, forward),
            prerequisites=apply_to_rows(self._prerequisites, delta, backward),
        )

    def _from(self, node: str, side: Rows, transitive: bool) -> tuple[str, ...]:  # noqa: FBT001 - passed on
        self.check_node(node)
        if not transitive:
            return tuple(sorted(side[node]))
        found: dict[str, None] = {node: None}
        frontier = [node]
        while frontier:
            frontier = sorted({other for item in frontier for other in side[item]} - found.keys())
            found.update(dict.fromkeys(frontier))
        del found[node]
        return tuple(found)


def select_rows(rows: Rows, kept: Iterable[str], inside: Collection[str]) -> Rows:
    """The rows of these nodes, with the neighbours among them.

    Args:
        rows: The rows of all nodes.
        kept: The nodes, in this order.
        inside: The same nodes, for lookups.
    """
    return {
        node: {other: origins for other, origins in rows[node].items() if other in inside}
        for node in kept
    }


def apply_to_rows(rows: Rows, delta: Delta, edges: Iterable[tuple[str, str, Origins]]) -> Rows:
    """The rows after a delta; rows that it does not touch are shared.

    Args:
        rows: The rows of one direction.
        delta: The changed nodes.
        edges: The changed edges: a node, its neighbour in this direction, and the new origins.
    """
    result = dict(rows)
    touched: dict[str, dict[str, Origins]] = {}
    for node, other, origins in edges:
        row = touched.get(node)
        if row is None:  # the old row is shared with other versions
            row = touched[node] = dict(rows.get(node, _NONE))
        if origins:
            row[other] = origins
        else:
            row.pop(other, None)
    for node, (before, _) in delta.nodes.items():
        if not before:
            result[node] = {}
    result.update(touched)
    for node, (_, after) in delta.nodes.items():
        if not after:
            result.pop(node, None)
    return result


def apply_to_nodes(nodes: Mapping[str, Origins], delta: Delta) -> Mapping[str, Origins]:
    """The nodes after a delta; shared where it touches none."""
    if not delta.nodes:
        return nodes
    result = dict(nodes)
    for node, (_, origins) in delta.nodes.items():
        if origins:
            result[node] = origins
        else:
            result.pop(node, None)
    return result
