"""Two servers on one PostgreSQL register at the same time."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr
from tests.storage.conftest import postgres, postgres_server

from pegboard.core.principal import LOCAL
from pegboard.runtime import Pegboard, Settings

__all__ = ["postgres", "postgres_server"]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

Boards = tuple[Pegboard, Pegboard]


@pytest.fixture
async def boards(postgres: str) -> AsyncIterator[Boards]:
    """Two boards on one database."""
    settings = Settings(database=SecretStr(postgres))
    async with Pegboard(settings=settings) as one, Pegboard(settings=settings) as other:
        yield one, other


def entry(name: str, description: str) -> dict[str, Any]:
    return {
        "tool_id": f"{name}_v1",
        "type": "RestAPI",
        "url": "https://api.example.com/x",
        "description": description,
        "input_schema": {"q": "string"},
    }


def shown(board: Pegboard, name: str) -> list[tuple[str, str, bool]]:
    """The versions of a name, and which it means."""
    described = {
        item.version: item.tool.spec.description for item in board.registry.versions.history(name)
    }
    return [
        (row["version"], described[row["version"]], row["is_current"])
        for row in board.catalogue.history(name)
    ]


async def test_one_name_gets_a_version_from_each_and_means_the_same_on_both(
    boards: Boards,
) -> None:
    for turn in range(5):
        name = f"same{turn}"
        made = await asyncio.gather(
            boards[0].catalogue.register([entry(name, "x")], principal=LOCAL),
            boards[1].catalogue.register([entry(name, "y")], principal=LOCAL),
        )
        for board in boards:
            await board.catalogue.load()

        versions = [answer[0].version for answer in made]
        one, other = (shown(board, name) for board in boards)
        assert sorted(versions) == ["1.0.0", "1.0.1"]
        assert one == other
        assert sorted(who for _, who, _ in one) == ["x", "y"]
        assert [is_current for _, _, is_current in one] == [False, True]


async def test_one_definition_from_both_is_one_version(boards: Boards) -> None:
    made = await asyncio.gather(
        *(board.catalogue.register([entry("twin", "same")], principal=LOCAL) for board in boards)
    )
    for board in boards:
        await board.catalogue.load()

    assert [answer[0].version for answer in made] == ["1.0.0", "1.0.0"]
    assert shown(boards[0], "twin") == shown(boards[1], "twin") == [("1.0.0", "same", True)]


async def test_many_names_in_opposite_order_wait_for_each_other_and_never_for_ever(
    boards: Boards,
) -> None:
    names = [f"many{at}" for at in range(300)]
    made = await asyncio.gather(
        boards[0].catalogue.register([entry(name, "x") for name in names], principal=LOCAL),
        boards[1].catalogue.register(
            [entry(name, "y") for name in reversed(names)], principal=LOCAL
        ),
    )
    for board in boards:
        await board.catalogue.load()

    assert [{item.version for item in answer} for answer in made] in (
        [{"1.0.0"}, {"1.0.1"}],
        [{"1.0.1"}, {"1.0.0"}],
    )
    assert [shown(boards[0], name) for name in names] == [shown(boards[1], name) for name in names]
