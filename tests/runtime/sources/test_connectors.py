"""Connectors of people on a board: restored, opened by the first call, followed and reloaded."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pegboard import ToolRegistry
from pegboard.core.ports.accounts.resource_store import StoredResource
from pegboard.core.ports.services import Services
from pegboard.core.principal import LOCAL
from pegboard.errors import ConfigError, InvalidRequest
from pegboard.features.agents import ModelChoices
from pegboard.features.resources import NewResource, ResourceChange
from pegboard.runtime import Pegboard
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_file.models import Board
from pegboard.runtime.sources.connectors import ConnectorLimits, Connectors
from pegboard.runtime.sources.placeholder import (
    ToolPlaceholder,
    from_definition,
    to_definition,
)
from pegboard.runtime.wiring.accounts.owned_agents import OwnedRules
from pegboard.runtime.wiring.accounts.resources import follow
from pegboard.storage import MemoryStorage

TOOLS = """
from pegboard import tool

@tool(effect="read", version="1.2.0", tags=("nice",))
def greet(name: str, times: int = 1) -> str:
    '''Greet somebody.'''
    return " ".join([f"Hello {name}!"] * times)

@tool(effect="read")
def part(name: str) -> str:
    '''Say goodbye to somebody.'''
    return f"Bye {name}!"
"""
BOARD = "sources: []\n"


def a_connector(name: str = "hello", **changes: Any) -> NewResource:
    fields: dict[str, Any] = {
        "kind": "connector",
        "source_kind": "functions",
        "config": {"objects": ["greetings:greet"]},
    }
    return NewResource(name=name, **(fields | changes))


@pytest.fixture
def board_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "greetings.py").write_text(TOOLS)
    (tmp_path / "board.yaml").write_text(BOARD)
    return tmp_path / "board.yaml"


def write(file: Path, text: str) -> None:
    file.write_text(text)


class Server:
    """The connectors of one of several servers."""

    def __init__(self, storage: MemoryStorage, folder: Path) -> None:
        self.registry = ToolRegistry()
        self.connectors = Connectors(
            self.registry,
            storage.resources,
            Services(base_dir=folder),
            limits=ConnectorLimits(listing=10.0, patience=None),
            emitter=self.registry.environment.emitter,
            board_names=tuple[str, ...],
            others=OwnedRules(
                lambda: LoadedBoard(board=Board(), base_dir=folder), lambda: ModelChoices(list)
            ),
            guard=lambda publisher: publisher,
        )
        self._news = asyncio.Event()
        self.registry.changes.listen(lambda *_: self._news.set())

    async def wait_until(self, *, has_tool: bool) -> None:
        while (self.registry.find("hello__greet") is not None) != has_tool:
            await self._news.wait()
            self._news.clear()


def a_server(storage: MemoryStorage, folder: Path) -> Server:
    return Server(storage, folder)


def connectors_of(board: Pegboard) -> Connectors:
    return board._open.resources.connectors


async def test_a_stored_connector_is_opened_by_its_first_call(board_file: Path) -> None:
    data = board_file.parent / "data"
    async with Pegboard(board_file, data=data) as board:
        view = await board.resources.add(a_connector(), principal=LOCAL)
        listed = board.registry.get("hello__greet").spec
    assert (view.resource.name, view.owner) == ("hello", "local")

    async with Pegboard(board_file, data=data) as board:
        restored = board.registry.get("hello__greet")
        assert isinstance(restored, ToolPlaceholder)
        assert to_definition(restored.spec) == to_definition(listed)
        assert dict(connectors_of(board).states) == {}
        assert [state.status for state in board.list_connectors(principal=LOCAL)] == ["pending"]

        result = await board.call("hello__greet", {"name": "Ada", "times": 2})

        assert result.content == "Hello Ada! Hello Ada!"
        assert not isinstance(board.registry.get("hello__greet"), ToolPlaceholder)
        assert [state.status for state in board.list_connectors(principal=LOCAL)] == ["ok"]


async def test_a_connector_that_cannot_be_opened_any_more_says_why(board_file: Path) -> None:
    data = board_file.parent / "data"
    async with Pegboard(board_file, data=data) as board:
        file = board_file.parent / "orders.json"
        write(
            file,
            '{"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": '
            '{"/orders": {"get": {"operationId": "list_orders", "responses": {}}}}}',
        )
        config = {"document": "orders.json", "base_url": "https://orders.example"}
        new = a_connector("orders", source_kind="openapi", config=config)
        await board.resources.add(new, principal=LOCAL)
        file.unlink()

    async with Pegboard(board_file, data=data) as board:
        result = await board.call("orders__list_orders", {})
        assert result.is_error
        assert "its source 'orders' failed" in str(result.content)


async def test_a_connector_gives_way_to_a_source_of_the_board_file(board_file: Path) -> None:
    async with Pegboard(board_file) as board:
        new = await board.resources.add(a_connector(), principal=LOCAL)
        write(board_file, "sources: [{kind: builtin, name: hello}]\n")
        await board.reload()

        view = await board.resources.get(new.resource.id, principal=LOCAL)
        assert board.registry.find("hello__greet") is None
        assert view.report is not None
        assert "the board file has a source of this name" in view.report.reason

        write(board_file, BOARD)
        await board.reload()
        assert board.registry.find("hello__greet") is not None


async def test_a_change_closes_and_opens_that_connector_alone(board_file: Path) -> None:
    async with Pegboard(board_file) as board:
        one = await board.resources.add(a_connector("one"), principal=LOCAL)
        await board.resources.add(a_connector("two"), principal=LOCAL)
        before = dict(connectors_of(board).states)

        change = ResourceChange(title="First")
        await board.resources.change(one.resource.id, change, principal=LOCAL)
        assert dict(connectors_of(board).states) == before

        change = ResourceChange(config={"objects": ["greetings:part"]})
        await board.resources.change(one.resource.id, change, principal=LOCAL)
        after = dict(connectors_of(board).states)
        assert (after["one"] is before["one"], after["two"] is before["two"]) == (False, True)
        assert board.registry.find("one__greet") is None
        assert board.registry.find("one__part") is not None

        await board.resources.delete(one.resource.id, principal=LOCAL)
        assert list(connectors_of(board).states) == ["two"]


async def test_a_name_of_the_board_is_taken(board_file: Path) -> None:
    write(board_file, "sources: [{kind: builtin, name: std}]\n")
    async with Pegboard(board_file) as board:
        for name in ("std", "board"):
            with pytest.raises(InvalidRequest, match=f"'{name}' is taken"):
                await board.resources.add(a_connector(name), principal=LOCAL)
        agent = NewResource(kind="agent", name="auto")
        with pytest.raises(InvalidRequest, match="'auto' is taken"):
            await board.resources.add(agent, principal=LOCAL)


async def test_the_board_file_has_no_names_of_connectors(board_file: Path) -> None:
    write(board_file, "sources: [{kind: builtin, name: ada--std}]\n")
    with pytest.raises(ConfigError, match="stands behind the owner of a connector"):
        async with Pegboard(board_file):
            pass


async def test_another_server_follows(board_file: Path) -> None:
    storage = MemoryStorage()
    one, other = a_server(storage, board_file.parent), a_server(storage, board_file.parent)
    row = StoredResource(
        id="r1",
        kind="connector",
        name="hello",
        owner="local",
        source_kind="functions",
        config={"objects": ["greetings:greet"]},
        created_at=0.0,
        updated_at=0.0,
    )
    await storage.resources.add(row)
    await one.connectors.load()
    await one.connectors.open("hello")
    following = asyncio.create_task(follow(other.connectors, every=0.001))
    await other.wait_until(has_tool=True)
    assert isinstance(other.registry.find("hello__greet"), ToolPlaceholder)
    called = await other.registry.call("hello__greet", {"name": "Ada"})
    assert called.content == "Hello Ada!"

    await storage.resources.delete("r1")
    await other.wait_until(has_tool=False)
    following.cancel()
    assert dict(other.connectors.states) == {}
    await one.connectors.close()


async def test_a_probe_says_why_a_connector_cannot_be_opened(board_file: Path) -> None:
    server = a_server(MemoryStorage(), board_file.parent)
    resource = StoredResource(
        id="r1",
        kind="connector",
        name="x",
        owner="local",
        source_kind="functions",
        config={"objects": ["greetings:nothing"]},
        created_at=0.0,
        updated_at=0.0,
    )
    report = await server.connectors.probe(resource)
    assert (report.status, report.tools) == ("failed", ())
    assert "nothing" in report.reason


async def test_a_definition_is_read_as_it_was_stored(board_file: Path) -> None:
    async with Pegboard(board_file) as board:
        await board.resources.add(a_connector(), principal=LOCAL)
        spec = board.registry.get("hello__greet").spec
        again = from_definition(to_definition(spec))
    fields = ("name", "id", "version", "action", "input_schema", "effect", "source", "tags")
    assert {name: getattr(again, name) for name in fields} == {
        name: getattr(spec, name) for name in fields
    }
