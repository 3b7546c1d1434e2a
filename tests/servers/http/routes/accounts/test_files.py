"""Files over HTTP: listed, downloaded whole and in ranges, shared and deleted."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board, client_of
from tests.servers.http.people import House

CONTENT = bytes(range(256)) * 40


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    async with client_of(a_board(tmp_path, data=tmp_path / "data")) as opened:
        yield opened


async def store(
    client: httpx2.AsyncClient, content: bytes = CONTENT, name: str = "a.bin", **wanted: Any
) -> dict[str, Any]:
    begun = await client.post("/v1/uploads", json={"name": name, "size": len(content), **wanted})
    path = f"/v1/uploads/{begun.json()['id']}"
    if content:
        await client.patch(path, content=content, headers={"Upload-Offset": "0"})
    return (await client.post(f"{path}/finish")).json()


async def test_a_file_is_listed_shown_and_downloaded(client: httpx2.AsyncClient) -> None:
    file = await store(client, name="r\u00e9sum\u00e9 1.bin", purpose="knowledge")
    other = await store(client, b"")
    page = (await client.get("/v1/files")).json()
    answer = await client.get(f"/v1/files/{file['id']}/content")

    assert page["files"] == [other, file]
    assert (page["usage"]["bytes"], page["usage"]["files"]) == (len(CONTENT), 2)
    assert (await client.get(f"/v1/files/{file['id']}")).json() == file
    for query in ({"digest": file["digest"]}, {"purpose": "knowledge"}):
        assert (await client.get("/v1/files", params=query)).json()["files"] == [file]
    assert answer.content == CONTENT
    assert (await client.get(f"/v1/files/{other['id']}/content")).content == b""
    assert answer.headers["content-disposition"] == (
        "attachment; filename*=UTF-8''r%C3%A9sum%C3%A9%201.bin"
    )
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-type"] == "application/octet-stream"


async def test_pages_follow_each_other(client: httpx2.AsyncClient) -> None:
    ids = [(await store(client, b"x"))["id"] for _ in range(3)]
    first = (await client.get("/v1/files", params={"limit": 2})).json()
    last = (
        await client.get("/v1/files", params={"limit": 2, "cursor": first["next_cursor"]})
    ).json()

    assert [file["id"] for file in (*first["files"], *last["files"])] == ids[::-1]
    assert last["next_cursor"] is None
    assert (await client.get("/v1/files", params={"cursor": "x"})).status_code == 404


@pytest.mark.parametrize(
    ("content", "type_"),
    [
        (b"<script>alert(1)</script>", "application/octet-stream"),
        (b"<html><script>", "application/octet-stream"),
        (b"<svg onload='x'>", "application/octet-stream"),
        (b"%PDF-1.7", "application/pdf"),
    ],
)
async def test_a_browser_runs_nothing_of_a_file(
    client: httpx2.AsyncClient, content: bytes, type_: str
) -> None:
    file = await store(client, content, "page.html")
    answer = await client.get(f"/v1/files/{file['id']}/content")

    assert answer.headers["content-type"] == type_
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["content-security-policy"]


async def test_a_range_is_downloaded(client: httpx2.AsyncClient) -> None:
    file = await store(client)
    path = f"/v1/files/{file['id']}/content"
    part = await client.get(path, headers={"Range": "bytes=1000-1999"})
    etag = part.headers["etag"]
    same = await client.get(path, headers={"Range": "bytes=-5", "If-Range": etag})
    changed = await client.get(path, headers={"Range": "bytes=-5", "If-Range": '"other"'})
    behind = await client.get(path, headers={"Range": "bytes=10240-"})

    assert (part.status_code, part.content) == (206, CONTENT[1000:2000])
    assert part.headers["content-range"] == "bytes 1000-1999/10240"
    assert (same.status_code, same.content) == (206, CONTENT[-5:])
    assert (changed.status_code, changed.content) == (200, CONTENT)
    assert (behind.status_code, behind.headers["content-range"]) == (416, "bytes */10240")


async def test_a_deleted_file_is_gone(client: httpx2.AsyncClient, tmp_path: Path) -> None:
    file = await store(client)
    path = f"/v1/files/{file['id']}"

    assert (await client.delete(path)).status_code == 204
    for answer in (
        await client.get(path),
        await client.get(f"{path}/content"),
        await client.delete(path),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "file_not_found")
    assert _files_below(tmp_path / "data" / "files") == []


async def test_a_content_that_is_lost_is_told_before_the_answer_begins(
    client: httpx2.AsyncClient, tmp_path: Path
) -> None:
    file = await store(client)
    for path in _files_below(tmp_path / "data" / "files"):
        path.unlink()

    assert (await client.get(f"/v1/files/{file['id']}/content")).status_code == 404


async def test_a_file_is_shared_with_an_organisation(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        bob = await house.invite(ada, "member", "editor")
        path = f"/v1/files/{(await store(ada))['id']}"

        hidden = await bob.get(path)
        shared = await ada.patch(path, json={"organisation": "acme"})
        seen = await bob.get(path)
        downloaded = await bob.get(f"{path}/content")
        deleted = await bob.delete(path)
        await ada.patch(path, json={"organisation": ""})

        assert (hidden.status_code, shared.status_code) == (404, 200)
        assert (seen.json()["is_own"], seen.json()["organisation"]) == (False, "acme")
        assert downloaded.content == CONTENT
        assert (deleted.status_code, (await bob.get(path)).status_code) == (403, 404)


async def test_a_result_of_a_call_is_stored(client: httpx2.AsyncClient) -> None:
    called = (await client.post("/v1/execute", json={"name": "long_list", "input": {}})).json()
    stored = await client.post(
        "/v1/files", json={"result": called["metadata"]["handle"], "name": "n.json"}
    )
    none = await client.post("/v1/files", json={"result": "r_none"})
    content = await client.get(f"/v1/files/{stored.json()['id']}/content")

    assert content.json() == list(range(1000))
    assert (stored.json()["name"], none.status_code) == ("n.json", 404)


@pytest.mark.parametrize(
    "wanted", [{}, {"path": "a"}, {"conversation": "c"}, {"result": "r", "path": "a"}], ids=str
)
async def test_one_content_is_named(client: httpx2.AsyncClient, wanted: dict[str, str]) -> None:
    assert (await client.post("/v1/files", json=wanted)).status_code == 422


async def test_what_the_board_file_allows_goes_before_the_settings(tmp_path: Path) -> None:
    text = "files: {max_owned_files: 1, max_file_bytes: 100}\n"
    async with client_of(a_board(tmp_path, text=text, max_owned_bytes=1_000)) as client:
        large = await client.post("/v1/uploads", json={"name": "a", "size": 101})
        await store(client, b"x")
        more = await client.post("/v1/uploads", json={"name": "a", "size": 1})
        usage = (await client.get("/v1/files")).json()["usage"]

    assert (large.status_code, more.status_code) == (413, 413)
    assert usage == {
        "bytes": 1,
        "files": 1,
        "max_bytes": 1_000,
        "max_files": 1,
        "max_file_bytes": 100,
    }


def _files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
