"""Where a board stores files."""

from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.features.files.made import chunks

from pegboard.blobs.local import LocalBlobs
from pegboard.blobs.s3 import S3Blobs
from pegboard.core.principal import LOCAL
from pegboard.errors import ConfigError
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.wiring.accounts.files import create_blobs

DATABASE = SecretStr("postgresql://ada@db.example/board")


async def test_files_outlive_a_board_with_a_data_directory(tmp_path: Path) -> None:
    async with Pegboard(data=tmp_path) as board:
        file = await board.files.store("a.txt", chunks(b"hello"), principal=LOCAL)
    async with Pegboard(data=tmp_path) as board:
        found = await board.files.find(file.id, principal=LOCAL)
        content = [chunk async for chunk in board.files.read(found)]

    assert (found, content) == (file, [b"hello"])
    assert (tmp_path / "files" / file.blob).read_bytes() == b"hello"


async def test_files_of_a_board_in_memory_end_with_it() -> None:
    async with Pegboard() as board:
        file = await board.files.store("a.txt", chunks(b"hello"), principal=LOCAL)
        store = board.files._parts.contents
        assert isinstance(store, LocalBlobs)
        folder = store._root
        assert (folder / file.blob).is_file()

    assert not folder.exists()


async def test_a_board_without_files_makes_no_folder(tmp_path: Path) -> None:
    async with Pegboard(data=tmp_path):
        pass

    assert not (tmp_path / "files").exists()


def test_servers_that_share_a_database_need_a_place_for_files(tmp_path: Path) -> None:
    shared = Settings(database=DATABASE, files="s3://bucket/board", s3_endpoint="http://[::1]:9000")

    assert create_blobs(Settings(database=DATABASE)) is None
    assert isinstance(create_blobs(Settings(database=DATABASE, data=tmp_path)), LocalBlobs)
    assert isinstance(create_blobs(shared), S3Blobs)


@pytest.mark.parametrize(
    "endpoint",
    [
        "minio:9000",
        "ftp://minio",
        "https://user:secret@minio.example",
        "https://minio.example?x=1",
        "http://169.254.169.254",
        "http://[fe80::1]",
        "http://0.0.0.0:9000",
    ],
)
def test_what_is_no_address_of_a_service_is_refused(endpoint: str) -> None:
    with pytest.raises(ConfigError, match="PEGBOARD_S3_ENDPOINT") as caught:
        create_blobs(Settings(files="s3://bucket", s3_endpoint=endpoint))
    assert "secret" not in str(caught.value)
