"""`DependencyService`, and its recorded graph, over a real store."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from pegboard import ToolRegistry
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import AccessDenied, DependencyCycle, VersionNotFound
from pegboard.execution import CallEnvironment
from pegboard.features.dependencies import DependencyService
from pegboard.features.dependencies.recorded_graph import RecordedGraph
from pegboard.planning import PlanRequest
from pegboard.registry.dependencies import GraphChange
from pegboard.runtime import Pegboard
from pegboard.storage import MemoryStorage
from pegboard.tools import SchemaTool


def a_tool(name: str, *needs: str) -> Tool:
    async def run(arguments: Any, ctx: Any) -> str:
        return name

    spec = ToolSpec(name=name, input_schema={"type": "object"}, dependencies=needs)
    return SchemaTool(spec=spec, run=run)


@pytest.fixture
async def storage() -> AsyncGenerator[MemoryStorage]:
    async with MemoryStorage() as opened:
        yield opened


async def test_other_tasks_run_while_a_large_graph_is_shown(
    storage: MemoryStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.concurrency.cooperative._SLICE_SECONDS", 0.0)
    service = DependencyService(ToolRegistry(), storage.dependencies)
    nodes = tuple(f"n{number}" for number in range(300))
    await service.update(GraphChange(add_nodes=nodes), principal=LOCAL)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    shown = await service.show(None, principal=LOCAL)
    counting.cancel()

    assert shown == service.current
    assert turns > 100


async def test_the_log_makes_the_same_graph_again(storage: MemoryStorage) -> None:
    registry = ToolRegistry([a_tool("a"), a_tool("b", "a_v1"), a_tool("c", "b_v1")])
    service = DependencyService(registry, storage.dependencies)
    await service.declare()
    await service.update(
        GraphChange(add_nodes=("d", "c"), add_edges=(("c", "d"),)), principal=LOCAL
    )
    await service.follow([("a", "d")])
    registry.remove("b")
    registry.remove("c")
    await service.declare()
    await service.follow([])

    played = RecordedGraph.replay(await storage.dependencies.changes())

    assert played.current == service.current
    assert [played.at(n) for n in range(played.version + 1)] == [
        service.at(n) for n in range(service.current.version + 1)
    ]
    before = service.current.version
    await service.declare()
    assert service.current.version == before


async def test_two_servers_change_one_graph(storage: MemoryStorage) -> None:
    one = DependencyService(ToolRegistry(), storage.dependencies)
    two = DependencyService(ToolRegistry(), storage.dependencies)
    await one.update(GraphChange(add_nodes=("a", "b"), add_edges=(("a", "b"),)), principal=LOCAL)
    await two.update(GraphChange(add_nodes=("b", "c"), add_edges=(("b", "c"),)), principal=LOCAL)
    with pytest.raises(DependencyCycle):
        await two.update(GraphChange(add_edges=(("c", "a"),)), principal=LOCAL)
    await one.refresh()

    assert one.current == two.current
    assert one.prerequisites("c") == ("b",)
    assert one.prerequisites("nobody") == ()


async def test_tools_that_need_each_other_are_told_and_the_rest_holds(
    storage: MemoryStorage,
) -> None:
    registry = ToolRegistry([a_tool("a", "b_v1"), a_tool("b", "a_v1"), a_tool("c", "a_v1")])
    service = DependencyService(registry, storage.dependencies)

    await service.declare()

    assert [error.cycle for error in service.cycles] == [("a_v1", "b_v1")]
    assert service.prerequisites("c_v1") == ("a_v1",)


async def test_only_who_may_changes_the_graph(storage: MemoryStorage) -> None:
    service = DependencyService(ToolRegistry(), storage.dependencies)
    with pytest.raises(AccessDenied, match="graph:write"):
        await service.update(GraphChange(add_nodes=("a",)), principal=Principal(id="n"))

    await service.update(GraphChange(add_nodes=("a",)), principal=LOCAL)
    [change] = await storage.dependencies.changes()
    assert (change.by, change.origin) == ("/local", "api")


async def test_the_board_s_edges_follow_a_tool_that_comes_late(storage: MemoryStorage) -> None:
    away = {"late__find": "its source 'late' is pending"}
    registry = ToolRegistry(
        [a_tool("use")], environment=CallEnvironment(why_missing=lambda name: away.get(name, ""))
    )
    service = DependencyService(registry, storage.dependencies)
    await service.follow([("late__find", "use")])
    early = service.current
    registry.add(a_tool("late__find"))
    await service.follow([("late__find", "use")])
    late = service.current

    # after a restart, before it has come again, nothing changes
    again = DependencyService(
        ToolRegistry([a_tool("use")], environment=registry.environment), storage.dependencies
    )
    await again.load()
    await again.follow([("late__find", "use")])

    assert (early.nodes, early.prerequisites("use_v1")) == (
        ("late__find", "use_v1"),
        ("late__find",),
    )
    assert (late.nodes, late.prerequisites("use_v1")) == (
        ("late__find_v1", "use_v1"),
        ("late__find_v1",),
    )
    assert again.current == late
    assert again.board_node("late__find") == "late__find_v1"


@pytest.mark.parametrize(
    ("known", "new", "says"),
    [
        ([], [a_tool("a", "a_v1")], "a_v1 -> a_v1"),
        ([], [a_tool("a", "a")], "a_v1 -> a_v1"),
        ([], [a_tool("a", "b"), a_tool("b", "a_v1")], "a_v1 -> b_v1 -> a_v1"),
        ([a_tool("a", "b")], [a_tool("b", "a")], "a_v1 -> b_v1 -> a_v1"),
        ([a_tool("a")], [a_tool("b", "a"), a_tool("a", "b")], "a_v1 -> b_v1 -> a_v1"),
    ],
    ids=["itself", "its own name", "each other", "one that waits", "a new version"],
)
async def test_tools_that_would_need_each_other_are_refused(
    storage: MemoryStorage, known: list[Tool], new: list[Tool], says: str
) -> None:
    service = DependencyService(ToolRegistry(known), storage.dependencies)
    await service.declare()

    with pytest.raises(DependencyCycle, match=says):
        service.check([tool.spec for tool in new])


async def test_a_tool_is_refused_that_closes_a_circle_with_what_the_api_says(
    storage: MemoryStorage,
) -> None:
    service = DependencyService(ToolRegistry([a_tool("a"), a_tool("b")]), storage.dependencies)
    await service.declare()
    await service.update(GraphChange(add_edges=(("a", "b"),)), principal=LOCAL)

    with pytest.raises(DependencyCycle, match="a_v1 -> b_v1 -> a_v1"):
        service.check([a_tool("a", "b").spec])


async def test_a_circle_of_others_is_no_reason_to_refuse(storage: MemoryStorage) -> None:
    registry = ToolRegistry([a_tool("a", "b"), a_tool("b", "a")])
    service = DependencyService(registry, storage.dependencies)
    await service.declare()

    service.check([a_tool("c", "a", "b").spec, a_tool("d").spec])

    assert [problem.cycle for problem in service.cycles] == [("a_v1", "b_v1")]


_SHOP = """
from typing_extensions import TypedDict
from pegboard import tool

class Page(TypedDict):
    content: str

@tool(effect="read", name="fetcher%s")
def fetcher(url: str) -> Page:
    return {"content": url}

@tool(effect="read", dependencies=("fetcher_v1",))
def summarizer(content: str) -> str:
    return content
"""


@pytest.mark.parametrize(
    ("suffix", "steps", "faults"),
    [
        ("", ["shop__fetcher_v1", "shop__summarizer_v1"], []),
        ("_of_old", ["shop__summarizer_v1"], ["input_missing"]),
    ],
)
async def test_a_module_names_its_own_tools_without_the_source(
    tmp_path: Path, suffix: str, steps: list[str], faults: list[str]
) -> None:
    (tmp_path / "shop_tools.py").write_text(_SHOP % suffix)
    path = tmp_path / "board.yaml"
    path.write_text("sources: [{kind: functions, name: shop, config: {files: [shop_tools.py]}}]\n")

    async with Pegboard(path) as board:
        request = PlanRequest(goal="shop__summarizer", params={"url": "https://example.com"})
        made = await board.plans.make(request, principal=LOCAL)

    assert [node.tool for node in made.graph] == steps
    assert [fault.code for fault in made.preview.faults if not fault.is_note] == faults
    assert len(made.notes) == 3 * len(faults)  # what is missing, twice, and a param too many


async def test_large_changes_are_stored_as_long_as_small_ones(storage: MemoryStorage) -> None:
    small: dict[str, Any] = {"keep": 10, "keep_entries": 12}  # three of the changes below
    service = DependencyService(ToolRegistry(), storage.dependencies, **small)
    for number in range(13):
        nodes = tuple(f"n{number}_{at}" for at in range(4))
        await service.update(GraphChange(add_nodes=nodes), origin="board", principal=LOCAL)

    changes = await storage.dependencies.changes()
    again = DependencyService(ToolRegistry(), storage.dependencies, **small)
    await again.load()

    assert service.current.version == 13
    assert [change.version for change in changes] == list(range(2, 14))
    assert again.current == service.current


async def test_stored_changes_are_bounded_and_the_graph_survives(storage: MemoryStorage) -> None:
    service = DependencyService(ToolRegistry(), storage.dependencies, keep=10)
    await service.update(
        GraphChange(add_nodes=("a", "b"), add_edges=(("a", "b"),)), principal=LOCAL
    )
    for number in range(40):
        await service.update(
            GraphChange(add_nodes=(f"n{number}",)), origin="board", principal=LOCAL
        )
        await service.update(GraphChange(remove_nodes=(f"n{number}",)), principal=LOCAL)

    changes = await storage.dependencies.changes()
    again = DependencyService(ToolRegistry(), storage.dependencies, keep=10)
    await again.load()

    assert len(changes) <= 12
    assert again.current == service.current
    assert again.current.version == 81
    assert again.at(75) == service.at(75)
    assert again.current.origins(("a", "b")) == ("api",)
    with pytest.raises(VersionNotFound, match="kept are"):
        again.at(60)
    with pytest.raises(DependencyCycle):
        await again.update(GraphChange(add_edges=(("b", "a"),)), principal=LOCAL)
