"""The changes of the dependency graph, in every storage."""

import asyncio

import pytest
from tests.storage.made import NOON

from pegboard.core.ports.catalogue_stores import DependencyChange, DependencySnapshot
from pegboard.storage import Storage


def a_change(version: int, by: str = "ada") -> DependencyChange:
    return DependencyChange(
        version=version,
        at=NOON,
        by=by,
        origin="board",
        add_nodes=("a_v1", "b_v1"),
        remove_nodes=("c_v1",),
        add_edges=(("a_v1", "b_v1"),),
        remove_edges=(("c_v1", "b_v1"),),
        retract_edges=(("d_v1", "b_v1"),),
    )


async def test_changes_are_given_back_in_order(storage: Storage) -> None:
    for version in (1, 2, 3):
        assert await storage.dependencies.append(a_change(version))

    assert await storage.dependencies.changes() == [a_change(1), a_change(2), a_change(3)]
    assert await storage.dependencies.changes(2) == [a_change(3)]
    assert await storage.dependencies.changes(3) == []


async def test_a_version_that_is_not_the_next_is_not_kept(storage: Storage) -> None:
    assert not await storage.dependencies.append(a_change(2))
    assert await storage.dependencies.append(a_change(1))
    assert not await storage.dependencies.append(a_change(1, by="bob"))
    assert not await storage.dependencies.append(a_change(3))

    assert await storage.dependencies.changes() == [a_change(1)]


async def test_of_servers_that_change_it_at_once_one_is_first(
    storage: Storage, other: Storage
) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(server.dependencies.append(a_change(1, by=str(number))))
            for number, server in enumerate([storage, other] * 10)
        ]

    assert [task.result() for task in tasks].count(True) == 1
    assert len(await storage.dependencies.changes()) == 1


async def test_old_changes_are_folded_into_a_snapshot(storage: Storage, other: Storage) -> None:
    for version in (1, 2, 3):
        await storage.dependencies.append(a_change(version))
    graph = DependencySnapshot(
        nodes={"a_v1": ("board", "spec"), "b_v1": ()}, edges=(("a_v1", "b_v1", ("board",)),)
    )
    snapshot = DependencyChange(version=2, at=NOON, snapshot=graph)

    assert await storage.dependencies.fold(snapshot)

    assert await other.dependencies.changes() == [snapshot, a_change(3)]
    assert await other.dependencies.changes(2) == [a_change(3)]
    assert await other.dependencies.append(a_change(4))


@pytest.mark.slow
async def test_changes_that_are_folded_already_are_not_folded_again(storage: Storage) -> None:
    for version in (1, 2):
        await storage.dependencies.append(a_change(version))
    graph = DependencySnapshot(nodes={})
    second = DependencyChange(version=2, at=NOON, snapshot=graph)
    await storage.dependencies.fold(second)

    assert not await storage.dependencies.fold(DependencyChange(version=1, at=NOON, snapshot=graph))

    assert await storage.dependencies.changes() == [second]
