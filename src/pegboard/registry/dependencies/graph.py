"""One version of the dependency graph: frozen, and asked for everything."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from pegboard.core.suggestions import nearest_names
from pegboard.errors import DependencyNotFound
from pegboard.registry.dependencies.changes import Delta, Dependency, Edge, Origins

Direction = Literal["both", "prerequisites", "dependants"]
Rows = Mapping[str, Mapping[str, Origins]]
"""For each node its neighbours on one side, and who says so."""

_NONE: Mapping[str, Origins] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A tool that no longer works when another fails.

    Attributes:
        because: Which of its own prerequisites is gone or broken.
    """

    tool: str
    because: str


class DependencyGraph:
    """Which tools need which, as of one version; never changes.

    Args:
        version: Its number; 0 is the empty graph.
        nodes: All nodes, and who says that they are there.
        dependants: For each node those that need it, and who says so.
        prerequisites: The same the other way round.
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
        """Who says that there is this node; empty when there is none."""
        return self._nodes.get(node, ())

    def origins(self, edge: Edge) -> Origins:
        """Who says that there is this edge; empty when there is none."""
        return self._dependants.get(edge[0], _NONE).get(edge[1], ())

    def prerequisites(self, node: str, *, transitive: bool = False) -> tuple[str, ...]:
        """What a tool needs, the nearest first; `transitive` for what those need too.

        Raises:
            DependencyNotFound: No such node; names the nearest.
        """
        return self._from(node, self._prerequisites, transitive)

    def dependants(self, node: str, *, transitive: bool = False) -> tuple[str, ...]:
        """What needs a tool, the nearest first; `transitive` for what needs those too.

        Raises:
            DependencyNotFound: No such node; names the nearest.
        """
        return self._from(node, self._dependants, transitive)

    def around(
        self, node: str, *, depth: int = 1, direction: Direction = "both"
    ) -> "DependencyGraph":
        """The part of the graph at most so many edges away, in one direction or either.

        Raises:
            DependencyNotFound: No such node; names the nearest.
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
        """The part with these nodes and the edges between them."""
        kept = [node for node in dict.fromkeys(nodes) if node in self]
        inside = set(kept)
        return DependencyGraph(
            version=self.version,
            nodes={node: self._nodes[node] for node in kept},
            dependants=cut(self._dependants, kept, inside),
            prerequisites=cut(self._prerequisites, kept, inside),
        )

    def layers(self) -> tuple[tuple[str, ...], ...]:
        """All tools, each in the first layer after all that it needs; sorted within.

        Tools of one layer do not need each other, so that they can run side by side.
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
        """All tools, each after what it needs; the same order each time."""
        return tuple(node for layer in self.layers() for node in layer)

    def breaks(
        self, node: str, *, has_alternative: Callable[[str, str], bool] | None = None
    ) -> tuple[Broken, ...]:
        """What no longer works when a tool fails, the nearest first, without itself.

        Args:
            node: What fails.
            has_alternative: Given a tool that is gone and one that needs it: whether something
                else serves the latter instead.

        Raises:
            DependencyNotFound: No such node; names the nearest.
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
        return tuple(Broken(tool=tool, because=gone) for tool, gone in broken.items())

    def check_node(self, node: str) -> None:
        """Refuse what is not there.

        Raises:
            DependencyNotFound: No such node; names the nearest.
        """
        if node not in self:
            raise DependencyNotFound(f"tool '{node[:100]}'", nearest_names(node, self._nodes))

    def check_edge(self, edge: Edge) -> None:
        """Refuse what is not there.

        Raises:
            DependencyNotFound: No such node or edge; names the nearest.
        """
        for node in edge:
            self.check_node(node)
        if not self.origins(edge):
            before, after = edge
            near = [f"{before} -> {other}" for other in sorted(self._dependants[before])]
            near += [f"{other} -> {after}" for other in sorted(self._prerequisites[after])]
            raise DependencyNotFound(f"dependency '{before} -> {after}'", tuple(near[:3]))

    def neighbours(self, node: str) -> Iterator[str]:
        """The direct dependants, unsorted; nothing for a node that is not there."""
        return iter(self._dependants.get(node, _NONE))

    def needs(self, node: str) -> Iterator[str]:
        """The direct prerequisites, unsorted; nothing for a node that is not there."""
        return iter(self._prerequisites.get(node, _NONE))

    def changed(self, delta: Delta, *, version: int) -> "DependencyGraph":
        """Another version, which shares with this one whatever the delta does not touch."""
        forward = [
            (before, after, is_said) for (before, after), (_, is_said) in delta.edges.items()
        ]
        backward = [(after, before, is_said) for before, after, is_said in forward]
        return DependencyGraph(
            version=version,
            nodes=changed_nodes(self._nodes, delta),
            dependants=changed_rows(self._dependants, delta, forward),
            prerequisites=changed_rows(self._prerequisites, delta, backward),
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


def cut(rows: Rows, kept: Iterable[str], inside: Collection[str]) -> Rows:
    """The rows of these nodes, with the neighbours that are among them.

    Args:
        rows: Of all nodes.
        kept: Of which nodes, in this order.
        inside: The same, to look them up in.
    """
    return {
        node: {other: origins for other, origins in rows[node].items() if other in inside}
        for node in kept
    }


def changed_rows(rows: Rows, delta: Delta, edges: Iterable[tuple[str, str, Origins]]) -> Rows:
    """The rows after a change; those that it does not touch are the same objects.

    Args:
        rows: Of one side, before.
        delta: What changes of the nodes.
        edges: What changes of the edges: a node of this side, its neighbour, and who says so now.
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


def changed_nodes(nodes: Mapping[str, Origins], delta: Delta) -> Mapping[str, Origins]:
    """The nodes after a change; the same object where it touches none."""
    if not delta.nodes:
        return nodes
    result = dict(nodes)
    for node, (_, origins) in delta.nodes.items():
        if origins:
            result[node] = origins
        else:
            result.pop(node, None)
    return result
