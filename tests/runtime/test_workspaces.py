"""The workspaces of conversations on a file system."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import a_board, ask
from tests.features.files.made import chunks

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
    await folders.write("c_1", LOCAL, {"a.txt": b"1"})
    await folders.write("c_1", LOCAL, {"a.txt": b"2"})
    await folders.write("../../c", EVE, {"a.txt": b"3"})
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
        await folders.write("c_1", LOCAL, {"b.txt": b"theirs", "a.txt": b"theirs"})

    assert outside.read_text() == "mine"
    assert [path.name for path in folder.iterdir()] == ["a.txt"]


async def test_a_content_that_arrives_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    async def cut() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionError

    folders = ConversationFolders(tmp_path)
    with pytest.raises(ConnectionError):
        await folders.write("c_1", LOCAL, {"a.txt": b"1", "b.txt": cut()})
    assert contents(tmp_path) == []
    await folders.write("c_1", LOCAL, {"a.txt": b"1", "b.txt": chunks(b"2", b"3")})

    folder = folders.folder("c_1", LOCAL)
    assert (folder / "b.txt").read_bytes() == b"23"
    assert (folder / "a.txt").stat().st_mode == (folder / "b.txt").stat().st_mode
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


async def test_files_are_listed_by_their_paths_up_to_a_limit(tmp_path: Path) -> None:
    folders = ConversationFolders(tmp_path)
    empty = await folders.list("c_1", LOCAL, limit=2)
    folder = folders.folder("c_1", LOCAL)
    was_made = folder.exists()
    await folders.write("c_1", LOCAL, {"z.txt": b"12"})
    (folder / "sub").mkdir()
    (folder / "sub" / "b.txt").write_text("123")
    (folder / "link").symlink_to("z.txt")
    os.utime(folder / "z.txt", (5, 5))
    found = await folders.list("c_1", LOCAL, limit=2)
    first = await folders.list("c_1", LOCAL, limit=1)

    assert (empty.files, empty.has_more, was_made) == ((), False, False)
    assert [(file.path, file.size) for file in found.files] == [("sub/b.txt", 3), ("z.txt", 2)]
    assert found.files[1].modified_at == 5
    assert (found.has_more, first.has_more, len(first.files)) == (False, True, 1)


async def test_a_file_is_read_in_chunks_up_to_the_size_it_had(tmp_path: Path) -> None:
    folders, data = ConversationFolders(tmp_path), bytes(range(256)) * 2_000
    await folders.write("c_1", LOCAL, {"big": data})
    content = await folders.open("c_1", LOCAL, "big")
    assert content is not None
    with (folders.folder("c_1", LOCAL) / "big").open("ab") as file:
        file.write(b"more")
    chunks = [chunk async for chunk in content.chunks]

    assert content.file.size == len(data)
    assert len(chunks) > 1
    assert b"".join(chunks) == data


@pytest.mark.parametrize(
    "path",
    ["none", "", "sub", "link", "sub/../a.txt", "../a.txt", "/etc/hostname", "out/x", "a\0"],
)
async def test_a_path_that_is_no_file_of_the_workspace_finds_nothing(
    tmp_path: Path, path: str
) -> None:
    folders = ConversationFolders(tmp_path / "w")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "x").write_text("secret")
    before = await folders.open("c_1", LOCAL, "a.txt")
    await folders.write("c_1", LOCAL, {"a.txt": b"1"})
    folder = folders.folder("c_1", LOCAL)
    (folder / "sub").mkdir()
    (folder / "link").symlink_to("a.txt")
    (folder / "out").symlink_to(tmp_path / "elsewhere")

    assert before is None
    assert await folders.open("c_1", LOCAL, path) is None
    assert await folders.open("c_1", EVE, "a.txt") is None


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
