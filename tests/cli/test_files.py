"""`pegboard files`: store, list, get and delete files, here and on a server."""

import json
import os
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import httpx2
import pytest
from tests.cli.conftest import Command
from tests.servers.http.made import client_of

from pegboard.cli.client.files import LocalFiles, RemoteFiles
from pegboard.cli.client.port import FilesClient
from pegboard.cli.client.remote import RemoteBoard
from pegboard.core.principal import LOCAL
from pegboard.errors import FileMissing, StorageQuotaExceeded, Unavailable
from pegboard.runtime import Pegboard, Settings

DATA = {"PEGBOARD_DATA": "data"}
CLIENTS: tuple[type[FilesClient], ...] = (LocalFiles, RemoteFiles)
CONTENT = bytes(range(256)) * 20
PART = 1_000


def test_a_file_is_stored_listed_written_and_deleted(pegboard: Command, folder: Path) -> None:
    (folder / "a b.bin").write_bytes(CONTENT)
    put = pegboard("files", "put", "a b.bin", "--json", **DATA)
    id_ = json.loads(put.stdout)["files"][0]["id"]
    listed = pegboard("files", "list", **DATA)
    there = pegboard("files", "get", id_, **DATA)
    written = pegboard("files", "get", id_, "-o", "copy.bin", **DATA)
    deleted = pegboard("files", "delete", id_, **DATA)
    gone = pegboard("files", "get", id_, **DATA)

    assert "a b.bin" in listed.stdout
    assert "5,120" in listed.stdout
    assert (there.returncode, "a b.bin exists already" in there.stderr) == (2, True)
    assert written.stdout == "copy.bin\n"
    assert (folder / "copy.bin").read_bytes() == CONTENT
    assert deleted.returncode == 0
    assert (gone.returncode, id_ in gone.stderr) == (2, True)
    assert not [path for path in (folder / "data" / "files").rglob("*") if path.is_file()]


def test_what_is_no_file_is_not_stored(pegboard: Command) -> None:
    done = pegboard("files", "put", "tools.py", "none.txt", **DATA)

    assert (done.returncode, "none.txt is not a file" in done.stderr) == (2, True)
    assert pegboard("files", "list", "--json", **DATA).stdout.count('"id"') == 0


class Faulty(httpx2.AsyncBaseTransport):
    """A connection that breaks before or after some requests."""

    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner
        self.methods: list[str] = []
        self.breaks: Callable[[int], str] = lambda _count: ""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.methods.append(request.method)
        fault = self.breaks(len(self.methods))
        if fault == "before":
            raise httpx2.ConnectError("refused")
        answer = await self._inner.handle_async_request(request)
        if fault == "after":
            raise httpx2.ReadError("reset")
        return answer


@pytest.fixture
async def faulty(tmp_path: Path) -> AsyncGenerator[tuple[RemoteFiles, Faulty]]:
    """A server that takes small parts, over a connection that can break."""
    settings = Settings(data=tmp_path / "data", max_part_bytes=PART, max_owned_bytes=20_000)
    async with client_of(Pegboard(settings=settings)) as client:
        client.base_url = f"{client.base_url}/v1"
        client._transport = transport = Faulty(client._transport)
        remote = RemoteBoard(client, "http://board")
        files = RemoteFiles(client, remote._ask, remote._check, remote._unreachable, pause=0.0)
        yield files, transport


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "numbers.bin"
    path.write_bytes(CONTENT)
    return path


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


async def upload(files: FilesClient, path: Path) -> tuple[dict[str, object], list[int]]:
    progress: list[int] = []
    stored = await files.upload(
        path, name=path.name, on_progress=lambda done, _size: progress.append(done)
    )
    return stored, progress


async def content_of(files: FilesClient, id: object) -> bytes:
    return b"".join([chunk async for chunk in files.read(str(id))])


async def test_a_file_is_sent_in_parts_and_read(
    faulty: tuple[RemoteFiles, Faulty], path: Path
) -> None:
    files, transport = faulty
    stored, progress = await upload(files, path)

    assert progress == [0, 1000, 2000, 3000, 4000, 5000, 5120]
    assert transport.methods.count("PATCH") == 6
    assert await content_of(files, stored["id"]) == CONTENT
    assert (await files.list(limit=5, cursor=""))["files"] == [stored]
    await files.delete(str(stored["id"]))
    with pytest.raises(FileMissing):
        await files.show(str(stored["id"]))
    with pytest.raises(FileMissing):
        await files.delete(str(stored["id"]))


@pytest.mark.parametrize("fault", ["before", "after"])
async def test_a_broken_connection_is_tried_again(
    faulty: tuple[RemoteFiles, Faulty], path: Path, fault: str
) -> None:
    files, transport = faulty
    transport.breaks = lambda count: fault if count in {4, 5, 8} else ""
    stored, _ = await upload(files, path)

    assert await content_of(files, stored["id"]) == CONTENT


async def test_the_next_command_goes_on_where_the_last_one_was_interrupted(
    faulty: tuple[RemoteFiles, Faulty], path: Path
) -> None:
    files, transport = faulty
    transport.breaks = lambda count: "before" if count > 5 else ""
    with pytest.raises(Unavailable):
        await upload(files, path)
    transport.breaks = lambda _count: ""
    stored, progress = await upload(files, path)

    assert progress[0] == 3000
    assert await content_of(files, stored["id"]) == CONTENT


async def test_another_file_of_the_same_name_begins_anew(
    faulty: tuple[RemoteFiles, Faulty], path: Path
) -> None:
    files, transport = faulty
    transport.breaks = lambda count: "before" if count > 5 else ""
    with pytest.raises(Unavailable):
        await upload(files, path)
    transport.breaks = lambda _count: ""
    _write(path, CONTENT[::-1])
    stored, progress = await upload(files, path)

    assert progress[0] == 0
    assert await content_of(files, stored["id"]) == CONTENT[::-1]


async def test_a_download_goes_on_after_a_break(
    faulty: tuple[RemoteFiles, Faulty], path: Path
) -> None:
    files, transport = faulty
    stored, _ = await upload(files, path)
    inner = transport._inner
    breaks = iter([True, True, False])

    class Broken(httpx2.AsyncByteStream):
        def __init__(self, content: bytes) -> None:
            self._content = content

        async def __aiter__(self) -> AsyncGenerator[bytes]:
            yield self._content
            raise httpx2.ReadError("reset")

    class Half(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            answer = await inner.handle_async_request(request)
            if not request.url.path.endswith("/content") or not next(breaks):
                return answer
            content = await answer.aread()
            half = content[: len(content) // 2]
            return httpx2.Response(answer.status_code, stream=Broken(half))

    transport._inner = Half()
    assert await content_of(files, stored["id"]) == CONTENT


async def test_a_quota_is_told_as_the_server_told_it(
    faulty: tuple[RemoteFiles, Faulty], path: Path
) -> None:
    files, _ = faulty
    _write(path, b"x" * 20_001)

    with pytest.raises(StorageQuotaExceeded, match="you store 0 of 20,000 bytes") as caught:
        await upload(files, path)
    assert (caught.value.limit, caught.value.used) == (20_000, 0)


async def test_a_board_of_this_process_has_the_same(tmp_path: Path, path: Path) -> None:
    async with Pegboard(data=tmp_path / "data") as board:
        files = LocalFiles(board.files, LOCAL)
        stored, progress = await upload(files, path)

        assert progress == [len(CONTENT)]
        assert await files.show(str(stored["id"])) == stored
        assert (await files.list(limit=5, cursor=""))["files"] == [stored]
        assert await content_of(files, stored["id"]) == CONTENT
        await files.delete(str(stored["id"]))
        assert (await files.list(limit=5, cursor=""))["files"] == []


async def test_a_large_file_of_a_message_is_uploaded_before_it(tmp_path: Path) -> None:
    large = tmp_path / "large.bin"
    large.write_bytes(os.urandom(1_000_001))
    async with client_of(Pegboard(data=tmp_path / "data")) as client:
        client.base_url = f"{client.base_url}/v1"
        remote = RemoteBoard(client, "http://board")
        sent = await remote._send_file(large)
        stored = await remote.files.show(sent["upload"])

    assert (stored["size"], stored["purpose"], sent["name"]) == (1_000_001, "chat", "large.bin")
