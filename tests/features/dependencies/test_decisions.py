"""A required trail has each change of the graph first (`telling`); it is kept whole (`keeping`)."""

from typing import Any

import pytest
from tests.features.trail import Trail

from pegboard import ToolRegistry
from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.catalogue_stores import DependencyChange
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    AuditUnavailable,
    DependencyCycle,
    DependencyNotFound,
    StoreUnavailable,
    Unavailable,
)
from pegboard.features.dependencies import DependencyService
from pegboard.features.dependencies.audit_events import change_dict
from pegboard.features.dependencies.recorded_graph import RecordedGraph
from pegboard.features.dependencies.service import apply_and_store
from pegboard.registry.dependencies import GraphChange
from pegboard.storage import MemoryStorage
from pegboard.storage.memory.dependencies import MemoryDependencies

ANN = Principal(id="ann", tenant="acme", scopes=frozenset({"graph:write"}))
EDGE = GraphChange(add_nodes=("a", "b"), add_edges=(("a", "b"),))


class Failing(MemoryDependencies):
    """A store that can be read, and cannot keep what is new while it is away."""

    is_away = False

    async def append(self, change: DependencyChange) -> bool:
        if self.is_away:
            raise StoreUnavailable("it went")
        return await super().append(change)


def a_graph(store: Any = None) -> tuple[DependencyService, Trail]:
    trail, registry = Trail(), ToolRegistry()
    registry.environment.emitter.add(trail)
    store = store or MemoryStorage().dependencies
    return DependencyService(registry, store, prove=trail.prove), trail


async def test_no_change_is_made_that_the_trail_cannot_take() -> None:
    store = MemoryDependencies(ClosableLock())
    graph, trail = a_graph(store)
    trail.is_away = True
    with pytest.raises(AuditUnavailable):
        await graph.update(EDGE, principal=ANN)
    refused = (graph.current.version, graph.current.nodes, list(await store.changes()))
    trail.is_away = False
    await graph.update(EDGE, principal=ANN)

    assert (refused, trail.events[0].action) == ((0, (), []), "changed")
    [decision], [event] = trail.decisions, trail.events
    assert (decision.kind, decision.tenant) == ("decision", "acme")
    assert decision.body == {
        "about": "graph",
        "action": "change",
        "subject": "",
        "by": "ann",
        "add_nodes": ["a", "b"],
        "add_edges": [("a", "b")],
        "digest": change_dict(EDGE)["digest"],
    }
    assert (event.by, event.detail, graph.current.version) == ("ann", {"version": 1}, 1)


async def test_what_changes_nothing_or_cannot_be_is_no_decision() -> None:
    graph, trail = a_graph()
    await graph.update(EDGE, principal=ANN)
    trail.is_away = True
    await graph.update(EDGE, principal=ANN)
    with pytest.raises(DependencyCycle):
        await graph.update(GraphChange(add_edges=(("b", "a"),)), principal=ANN)
    with pytest.raises(DependencyNotFound):
        await graph.update(GraphChange(remove_nodes=("z",)), principal=ANN)

    assert (len(trail.decisions), len(trail.events)) == (1, 1)
    assert graph.current.prerequisites("b") == ("a",)


async def test_what_cannot_be_kept_is_not_in_the_graph_and_is_told() -> None:
    store = Failing(ClosableLock())
    graph, trail = a_graph(store)
    await graph.update(EDGE, principal=ANN)
    store.is_away = True
    for change in (GraphChange(remove_nodes=("a",)), GraphChange(add_nodes=("c",))):
        with pytest.raises(StoreUnavailable):
            await graph.update(change, principal=ANN)
    meanwhile = graph.current
    store.is_away = False
    with pytest.raises(DependencyCycle):  # the order of what is back is known again
        await graph.update(GraphChange(add_edges=(("b", "a"),)), principal=ANN)
    await graph.update(GraphChange(add_nodes=("d",)), principal=ANN)

    assert (meanwhile.version, meanwhile.nodes, meanwhile.prerequisites("b")) == (
        1,
        ("a", "b"),
        ("a",),
    )
    assert [event.action for event in trail.events] == ["changed", "unknown", "unknown", "changed"]
    played = RecordedGraph.replay(await store.changes())
    assert played.current == graph.current
    assert graph.diff(1, 2).added_nodes == ("d",)


async def test_what_the_board_says_and_could_not_be_kept_is_nobody_s_change() -> None:
    store = Failing(ClosableLock())
    graph, trail = a_graph(store)
    store.is_away = True
    with pytest.raises(StoreUnavailable):
        await graph.follow([("x", "y")])
    with pytest.raises(StoreUnavailable):
        await graph.update(EDGE, principal=ANN)
    store.is_away = False
    await graph.update(EDGE, principal=ANN)

    assert [(change.by, change.origin) for change in await store.changes()] == [
        ("", "board"),
        ("acme/ann", "api"),
    ]
    assert len(trail.decisions) == 1


async def test_a_version_that_another_server_took_is_no_second_decision() -> None:
    store = MemoryDependencies(ClosableLock())
    graph, trail = a_graph(store)
    other = DependencyService(ToolRegistry(), store)
    await other.update(GraphChange(add_nodes=("z",)), principal=LOCAL)
    await graph.update(EDGE, principal=ANN)

    assert (len(trail.decisions), graph.current.nodes) == (1, ("a", "b", "z"))
    assert [event.detail["version"] for event in trail.events] == [2]


async def test_of_a_change_that_another_server_makes_meanwhile_the_trail_hears() -> None:
    class Slower(MemoryDependencies):
        async def append(self, change: DependencyChange) -> bool:
            if change.by:
                await super().append(change)  # another server is asked for the same
            return await super().append(change)

    graph, trail = a_graph(Slower(ClosableLock()))
    await graph.update(EDGE, principal=ANN)

    assert (len(trail.decisions), graph.current.version) == (1, 1)
    [event] = trail.events
    assert (event.action, event.detail["action"]) == ("failed", "change")
    assert "another request" in event.detail["reason"]


async def test_a_change_that_never_comes_first_is_refused() -> None:
    class Busy(MemoryDependencies):
        async def append(self, change: DependencyChange) -> bool:
            return False

    graph, trail = a_graph(Busy(ClosableLock()))
    with pytest.raises(Unavailable, match="too many requests at once"):
        await graph.update(EDGE, principal=ANN)
    with pytest.raises(Unavailable, match="too many requests at once"):
        await graph.follow([("x", "y")])

    assert [event.action for event in trail.events] == ["failed"]


async def test_a_change_is_kept_whole_or_not_at_all() -> None:
    graph, store = RecordedGraph(), Failing(ClosableLock())
    asked: dict[str, Any] = {"origin": "api", "at": 1.0, "by": "ann"}
    made = await apply_and_store(EDGE, graph, store, **asked)
    again = await apply_and_store(EDGE, graph, store, **asked)
    behind = await apply_and_store(EDGE, RecordedGraph(), store, **asked)

    assert (made, again, behind) == (1, 0, None)


def test_of_a_change_of_very_many_the_first_are_told_and_the_digest_of_all() -> None:
    nodes = tuple(map(str, range(501)))
    told = change_dict(GraphChange(add_nodes=nodes))

    assert told.keys() == {"digest", "add_nodes"}
    assert told["add_nodes"] == list(nodes[:500])
    assert told["digest"] != change_dict(GraphChange(add_nodes=nodes[:500]))["digest"]
