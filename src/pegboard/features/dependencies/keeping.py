"""Storing what was done to a dependency graph."""

from pegboard.core.ports.catalogue_stores import DependencyStore
from pegboard.features.dependencies.recorded_graph import Recorded
from pegboard.registry.dependencies import GraphChange


async def to_stored_change(
    graph: Recorded, store: DependencyStore, *, at: float, by: str = ""
) -> bool:
    """Store what nobody has kept yet; False when another server was first with a version."""
    while graph.made:
        if not await store.append(graph.made[0].kept(at, by)):
            return False
        del graph.made[0]
    return True


async def kept_whole(
    change: GraphChange,
    graph: Recorded,
    store: DependencyStore,
    *,
    origin: str,
    at: float,
    by: str,
) -> int | None:
    """Do a change and store it, or do nothing.

    Returns:
        The version that it made, 0 when it changes nothing, None when another server was first.

    Raises:
        DependencyCycle: It would close a cycle; names it in order.
        DependencyNotFound: A node or an edge is not there; names the nearest.
        Unavailable: It could not be stored, and is not in the graph.
    """
    before = graph.current
    after = graph.apply(change, origin=origin)
    try:
        is_kept = await to_stored_change(graph, store, at=at, by=by)
    except BaseException:  # whoever asked hears that it is not done
        graph.take_back(before)
        raise
    if not is_kept:
        return None
    return 0 if after is before else after.version
