"""The workspaces of conversations on a file system."""

import os
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import a_board, ask

from pegboard.core.ports.durability import RunStart
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import InvalidRequest
from pegboard.features.conversations import MessageFile
from pegboard.runtime import Settings
from pegboard.runtime.wiring.retention import delete_expired
from pegboard.runtime.wiring.workspaces import ConversationFolders
from pegboard.storage import Storage
from pegboard.testing import Turn

EVE = Principal(id="eve")


async def test_a_folder_belongs_to_a_conversation_and_its_owner(tmp_path: Path) -> None:
    folders = ConversationFolders(tmp_path)
    await folders.write("c_1", LOCAL, name="a.txt", data=b"1")
    await folders.write("c_1", LOCAL, name="a.txt", data=b"2")
    await folders.write("../../c", EVE, name="a.txt", data=b"3")
    found = set(contents(tmp_path))
    await folders.remove("c_1", EVE)
    await folders.remove("c_1", LOCAL)

    assert found == {b"2", b"3"}
    assert folders.folder("c_1", LOCAL) != folders.folder("c_1", EVE)
    assert folders.folder("../../c", EVE).parent == tmp_path / "conversations"
    assert contents(tmp_path) == [b"3"]


async def test_a_link_in_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    folders, outside = ConversationFolders(tmp_path / "w"), tmp_path / "outside"
    outside.write_text("mine")
    folder = folders.folder("c_1", LOCAL)
    folder.mkdir(parents=True)
    (folder / "a.txt").symlink_to(outside)
    with pytest.raises(InvalidRequest, match=r"a\.txt"):
        await folders.write("c_1", LOCAL, name="a.txt", data=b"theirs")

    assert outside.read_text() == "mine"


def test_a_run_of_a_conversation_works_in_its_workspace(tmp_path: Path) -> None:
    folders = ConversationFolders(tmp_path)

    def context(*configs: dict[str, Any]) -> Any:
        nodes = [{"id": str(n), "config": config} for n, config in enumerate(configs)]
        start = RunStart(
            run_id="r", graph={"nodes": nodes}, params={}, principal=EVE, created_at=0.0
        )
        return folders.make_context(start)

    assert context({"conversation": "c_1"}).workspace == folders.folder("c_1", EVE)
    assert context({"conversation": "c_1"}).principal == EVE
    assert context({}).workspace is None
    assert context({"conversation": "c_1"}, {}).workspace is None


async def test_what_is_forgotten_takes_its_files_along(tmp_path: Path) -> None:
    data = tmp_path / "data"
    turns = (Turn(text="Thanks."), Turn(text="Thanks."))
    async with a_board(tmp_path, *turns, data=data) as (board, _):
        await ask(board, "Keep this.", files=[MessageFile(name="0.txt", data=b"x")])
        file = MessageFile(name="1.txt", data=b"x")
        _, conversation = await ask(board, "Keep this.", files=[file])
        folders = ConversationFolders(data / "workspace")
        environment, storage = board.registry.environment, storage_of(board)
        await storage.conversations.update(conversation, {"updated_at": 1.0})
        for folder in (data / "workspace" / "conversations").iterdir():
            os.utime(folder, (1, 1))
        in_use = data / "workspace" / "conversations" / "0-c_of_another_database"
        in_use.mkdir()
        (in_use / "2.txt").touch()
        settings = Settings(keep_conversations_days=1)
        gone = await delete_expired(settings, storage, environment, folders=folders)

    assert gone["conversations"] == 1
    assert sorted(path.name for path in data.rglob("*.txt")) == ["0.txt", "2.txt"]


def contents(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in folder.rglob("a.txt")]


def storage_of(board: Any) -> Storage:
    return board._open.storage
