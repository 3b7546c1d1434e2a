"""The `DependencyService`: the dependency graph of tools, the board file and the API."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from functools import partial

from pegboard.access import may_know
from pegboard.concurrency.cooperative import in_thread, iterate_cooperatively
from pegboard.core.event import BoardChanged
from pegboard.core.graph import LARGE
from pegboard.core.ports.audit_store import Prove, skip_proof
from pegboard.core.ports.catalogue_stores import DependencyStore
from pegboard.core.principal import Principal
from pegboard.core.tool import ToolSpec
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import DependencyCycle, Unavailable, VersionNotFound
from pegboard.execution.audit_first import record_in_audit
from pegboard.features.dependencies.audit_events import change_dict, graph_event
from pegboard.features.dependencies.recorded_graph import (
    KEEP_ENTRIES,
    RecordedGraph,
    take_snapshot,
)
from pegboard.features.permissions import check_may_change_graph
from pegboard.registry import ToolRegistry
from pegboard.registry.dependencies import (
    DependencyGraph,
    GraphChange,
    GraphDiff,
    check_declared,
    declare,
    resolve_id,
)

Edge = tuple[str, str]
_BOARD = "board"
_SPEC = "spec"
_TRIES = 8
KEEP_VERSIONS = 10_000
"""Versions of the graph that stay stored; it can be 10 % more before the oldest are folded."""
_LOST_RACE = "the same change was made by another request at the same time"


class DependencyService:
    """Reads and changes the dependency graph; every change is stored as a version.

    ```python
    graph = await board.dependencies.update(GraphChange(add_edges=(("fetch_v1", "clean_v1"),)))
    ```

    Args:
        registry: The tools of the board.
        store: Stores every change.
        prove: Writes each requested change to the audit trail before it is made.
        keep: Number of versions that stay stored; older changes are folded into one snapshot.
        keep_entries: Number of touched nodes and edges of old versions that are kept in memory.

    Attributes:
        cycles: Declared dependencies that would close a cycle; they are left out of the graph.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        store: DependencyStore,
        *,
        prove: Prove = skip_proof,
        keep: int = KEEP_VERSIONS,
        keep_entries: int = KEEP_ENTRIES,
    ) -> None:
        self._registry = registry
        self._store = store
        self._prove = prove
        self._keep = keep
        self._keep_entries = keep_entries
        self._graph = RecordedGraph(keep_entries=keep_entries)
        self._folded = 0  # the version whose changes are one snapshot, or none
        self._lock = asyncio.Lock()
        self.cycles: tuple[DependencyCycle, ...] = ()

    @property
    def current(self) -> DependencyGraph:
        """The newest version of the graph."""
        return self._graph.current

    def at(self, version: int) -> DependencyGraph:
        """Return an older version of the graph.

        Raises:
            VersionNotFound: There is no such version, or it is no longer stored.
        """
        return self._graph.at(version)

    def find_newest(self, principal: Principal) -> int:
        """The newest version that changed something that a caller may see."""
        if not principal.user:
            return self.current.version
        return self._graph.find_last_change(self.visibility_for(principal))

    async def show(self, version: int | None, *, principal: Principal) -> DependencyGraph:
        """Return the part of a version that a caller may see, with a number that tells no more.

        Other tasks run while a large graph is looked through.

        Args:
            version: None for the newest.
            principal: The caller.

        Raises:
            VersionNotFound: There is no such version for this caller, or it is no longer stored.
        """
        chosen = self.find_newest(principal) if version is None else version
        self.check_version(chosen, principal=principal)
        graph, may_see = self.at(chosen), self.visibility_for(principal)
        seen = [node async for node in iterate_cooperatively(graph.nodes) if may_see(node)]
        return await in_thread(partial(graph.only, seen), is_large=len(graph) >= LARGE)

    def check_version(self, version: int, *, principal: Principal) -> None:
        """Refuse a version that is not there for a caller.

        Raises:
            VersionNotFound: It is not; names those that are.
        """
        oldest, newest = self._graph.oldest, self.find_newest(principal)
        if not oldest <= version <= newest:
            raise VersionNotFound(
                f"The dependency graph has no version {version}; kept are {oldest} to {newest}."
            )

    def find_node(self, name: str, *, principal: Principal) -> str:
        """Return the id of a tool by id or name; of one that is hidden from the caller its name."""
        node = self.node(name)
        return node if self._is_visible(principal, node) else name

    def diff(self, old: int, new: int) -> GraphDiff:
        """Compare two versions of the graph.

        Raises:
            VersionNotFound: There is no such version, or it is no longer stored.
        """
        return self._graph.diff(old, new)

    def prerequisites(self, tool_id: str) -> tuple[str, ...]:
        """Return the ids of the tools that a tool needs; empty for an unknown tool."""
        graph = self.current
        return graph.prerequisites(tool_id) if tool_id in graph else ()

    def filter_visible(self, principal: Principal, graph: DependencyGraph) -> DependencyGraph:
        """Return the part of a graph that this caller may see; missing tools are visible."""
        return graph.only(filter(self.visibility_for(principal), graph.nodes))

    def visibility_for(self, principal: Principal) -> Callable[[str], bool]:
        """Return a predicate: whether this caller may see a node."""
        return partial(self._is_visible, principal)

    async def load(self) -> None:
        """Read the stored changes."""
        async with self._lock:
            await self._read()

    async def refresh(self) -> None:
        """Read the changes that other servers have made."""
        if await self._store.changes(after=self.current.version):
            await self.load()

    async def follow(self, edges: Sequence[Edge]) -> None:
        """Apply the edges of the board file.

        A tool that does not exist yet is known by its name until it does.

        Raises:
            DependencyCycle: The edges would close a cycle; nothing is changed.
        """

        def change(graph: RecordedGraph) -> None:
            known = graph.current
            wanted = tuple(
                dict.fromkeys(
                    (self._board_node(a, known), self._board_node(b, known)) for a, b in edges
                )
            )
            said = {
                (edge.prerequisite, edge.dependant)
                for edge in graph.current.edges
                if _BOARD in edge.origins
            }
            nodes = dict.fromkeys(node for edge in wanted for node in edge)
            graph.apply(
                GraphChange(
                    add_nodes=tuple(node for node in nodes if node not in graph.current),
                    add_edges=tuple(edge for edge in wanted if edge not in said),
                    retract_edges=tuple(sorted(said - set(wanted))),
                ),
                origin=_BOARD,
            )
            graph.apply(GraphChange(remove_nodes=self._find_outdated(graph.current)), origin=_BOARD)

        await self._change(change)

    async def declare(self) -> None:
        """Apply the dependencies that tools declare."""
        specs = [tool.spec for tool in self._registry]

        def change(graph: RecordedGraph) -> None:
            self.cycles = declare(graph, specs, is_away=self._is_away)

        await self._change(change)

    def check(self, specs: Sequence[ToolSpec]) -> None:
        """Refuse new tools that would depend on each other, or on themselves.

        Raises:
            DependencyCycle: They would close a cycle; names it.
        """
        if not any(spec.dependencies for spec in specs):
            return
        named = {tool.spec.name: tool.spec for tool in self._registry}
        named |= {spec.name: spec for spec in specs}
        ours = [named[spec.name] for spec in specs]
        edges = [
            (edge.prerequisite, edge.dependant)
            for edge in self.current.edges
            if edge.origins != (_SPEC,)
        ]
        check_declared(named.values(), ours=ours, edges=edges)

    async def update(
        self, change: GraphChange, *, principal: Principal, origin: str = "api"
    ) -> DependencyGraph:
        """Apply a change completely or not at all; tools are given by id or name.

        Raises:
            AccessDenied: The caller lacks the scope.
            DependencyCycle: The change would close a cycle; names it.
            DependencyNotFound: A node or an edge does not exist; names the nearest.
            AuditUnavailable: The audit trail is required and unavailable; nothing is changed.
            Unavailable: The change could not be stored; nothing is changed here.
        """
        check_may_change_graph(principal)
        named = GraphChange(
            add_nodes=self._nodes(change.add_nodes),
            remove_nodes=self._nodes(change.remove_nodes),
            add_edges=self._edges(change.add_edges),
            remove_edges=self._edges(change.remove_edges),
        )
        version = await self._update(named, origin, principal)
        if version:
            kit = self._registry.environment
            detail = {"version": version}
            kit.emitter.emit(graph_event("changed", principal, at=kit.now(), detail=detail))
        return self.current

    def node(self, name: str) -> str:
        """Return the id of a tool given by id or name; other text is returned as it is."""
        tool = self._registry.find(name)
        return name if tool is None else tool.spec.id

    def names(self, nodes: Iterable[str]) -> dict[str, str]:
        """Return the wire names of nodes, without those that are no tool of the board."""
        found = ((node, self._registry.find(node)) for node in nodes)
        return {node: tool.spec.name for node, tool in found if tool is not None}

    def board_node(self, name: str) -> str:
        """Return the id of a tool named in the board file, also while it is unavailable."""
        return self._board_node(name, self.current)

    def _board_node(self, name: str, graph: DependencyGraph) -> str:
        node = self.node(name)
        return resolve_id(name, graph.nodes) if node == name and self._is_away(name) else node

    def _find_outdated(self, graph: DependencyGraph) -> tuple[str, ...]:
        """Placeholder names that tools have replaced, and that nothing refers to."""
        ours = {_BOARD, _SPEC}
        return tuple(
            node
            for node in graph.nodes
            if self.node(node) != node
            and ours.issuperset(graph.origins_of_node(node))
            and not (graph.prerequisites(node) or graph.dependants(node))
        )

    def _is_away(self, name: str) -> bool:
        """Whether a tool is missing only while its source is."""
        return (
            bool(self._registry.environment.why_missing(name)) and self._registry.find(name) is None
        )

    def _nodes(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(self.node, names)))

    def _edges(self, edges: Sequence[Edge]) -> tuple[Edge, ...]:
        return tuple(dict.fromkeys((self.node(a), self.node(b)) for a, b in edges))

    def _is_visible(self, principal: Principal, node: str) -> bool:
        tool = self._registry.find(node)
        kit = self._registry.environment
        if tool is None:  # of a connector that is gone, or not there yet
            return not kit.resource_index.hides(principal, split_wire_name(node)[0])
        return may_know(principal, tool.spec, policy=kit.policy, switches=kit.switches)

    async def _read(self) -> None:
        """Build the graph from the stored changes."""
        changes = await self._store.changes()
        self._graph = RecordedGraph.replay(changes, keep_entries=self._keep_entries)
        has_snapshot = bool(changes) and changes[0].snapshot is not None
        self._folded = changes[0].version if has_snapshot else 0

    async def _fold_oldest(self) -> None:
        """Fold stored changes beyond the number to keep into a snapshot."""
        if self.current.version - self._folded <= self._keep * 1.1:
            return
        version = self.current.version - self._keep
        with suppress(Unavailable):  # the next change tries again
            graph = await self._read_back(version)
            snapshot = take_snapshot(graph, at=self._registry.environment.now())
            await self._store.fold(snapshot)
            self._folded = version

    async def _read_back(self, version: int) -> DependencyGraph:
        """An old version; from the store where large changes left too little room in memory."""
        if version >= self._graph.oldest:
            return self._graph.at(version)
        until = [change for change in await self._store.changes() if change.version <= version]
        return await asyncio.to_thread(lambda: RecordedGraph.replay(until).current)

    async def _change(self, do: Callable[[RecordedGraph], object]) -> None:
        """Make a change and store it, on top of what other servers have changed."""
        async with self._lock:
            for _ in range(_TRIES):
                graph = self._graph
                do(graph)
                if await store_changes(graph, self._store, at=self._registry.environment.now()):
                    await self._fold_oldest()
                    return
                await self._read()
        raise _too_busy()

    async def _update(self, change: GraphChange, origin: str, principal: Principal) -> int:
        """Make a requested change and store it; return its version, 0 for no change."""
        kit, by = self._registry.environment, principal.owner
        is_decided = self._prove is skip_proof
        async with self._lock, AsyncExitStack() as deciding:
            for _ in range(_TRIES):
                # store earlier changes of the board first: they are not this caller's
                if await store_changes(self._graph, self._store, at=kit.now()):
                    if not is_decided:
                        if not self._graph.would_change(change, origin=origin):
                            return 0
                        await deciding.enter_async_context(self._record_decision(change, principal))
                        is_decided = True
                    version = await apply_and_store(
                        change, self._graph, self._store, origin=origin, at=kit.now(), by=by
                    )
                    if version == 0 and self._prove is not skip_proof:
                        failure = {"action": "change", "reason": _LOST_RACE}
                        kit.emitter.emit(
                            graph_event("failed", principal, at=kit.now(), detail=failure)
                        )
                    if version is not None:
                        await self._fold_oldest()
                        return version
                await self._read()
            raise _too_busy()

    def _record_decision(
        self, change: GraphChange, principal: Principal
    ) -> AbstractAsyncContextManager[None]:
        """Write a change to the audit trail before it is made."""
        kit = self._registry.environment

        def about() -> BoardChanged:
            return graph_event("change", principal, at=kit.now(), detail=change_dict(change))

        return record_in_audit(self._prove, about, environment=kit)


async def store_changes(
    graph: RecordedGraph, store: DependencyStore, *, at: float, by: str = ""
) -> bool:
    """Store the changes not stored yet; False if another server was first with a version."""
    while graph.made:
        if not await store.append(graph.made[0].to_stored(at, by)):
            return False
        del graph.made[0]
    return True


async def apply_and_store(
    change: GraphChange,
    graph: RecordedGraph,
    store: DependencyStore,
    *,
    origin: str,
    at: float,
    by: str,
) -> int | None:
    """Apply a change and store it, or do neither.

    Returns:
        The version of the change, 0 if it changes nothing, None if another server was first.

    Raises:
        DependencyCycle: The change would close a cycle; names it in order.
        DependencyNotFound: A node or an edge does not exist; names the nearest.
        Unavailable: The change could not be stored, and is not in the graph.
    """
    before = graph.current
    after = graph.apply(change, origin=origin)
    try:
        is_kept = await store_changes(graph, store, at=at, by=by)
    except BaseException:  # the caller learns that nothing was done
        graph.take_back(before)
        raise
    if not is_kept:
        return None
    return 0 if after is before else after.version


def _too_busy() -> Unavailable:
    said = "The dependency graph is being changed by too many requests at once."
    return Unavailable(said, retry_after=1.0, nothing_done=True)
