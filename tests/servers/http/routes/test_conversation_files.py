"""Files of conversations over HTTP: listed, and downloaded as bytes in which nothing runs."""

import base64
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.http.live import a_server, patient

from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel, Turn

FILES = {
    "page.html": b"<script>alert(1)</script>",
    "r\u00e9sum\u00e9 1.csv": b"a,b\n1,2\n",
    "big.bin": b"0123456789" * 100_000,
}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    write = Turn(calls=(("builtin__file_write", {"path": "notes/a.md", "content": "# One"}),))
    model = ScriptedModel(write, Turn(text="Written."), Turn(text="Nothing."))
    board = Pegboard(model=model, data=tmp_path / "data")
    async with a_server(board) as url, patient(base_url=url) as client:
        yield client


async def converse(client: httpx2.AsyncClient) -> dict[str, Any]:
    files = [
        {"name": name, "data": base64.b64encode(data).decode()} for name, data in FILES.items()
    ]
    body = {"message": "Keep these, and write.", "stream": False, "files": files}
    return (await client.post("/v1/chat", json=body)).json()


async def test_files_that_came_and_files_that_tools_wrote_are_listed(
    client: httpx2.AsyncClient,
) -> None:
    exchange = await converse(client)
    shown = (await client.get(f"/v1/conversations/{exchange['conversation']}/files")).json()

    assert sorted(file["name"] for file in exchange["files"]) == sorted(FILES)
    assert [(file["path"], file["size"]) for file in shown["files"]] == [
        ("big.bin", 1_000_000),
        ("notes/a.md", 5),
        ("page.html", 25),
        ("r\u00e9sum\u00e9 1.csv", 8),
    ]
    assert all(file["modified_at"] > 0 for file in shown["files"])
    assert shown["has_more"] is False


@pytest.mark.parametrize(
    ("path", "content", "type_", "name"),
    [
        ("page.html", FILES["page.html"], "application/octet-stream", "page.html"),
        ("notes/a.md", b"# One", "text/markdown; charset=utf-8", "a.md"),
        (
            "r\u00e9sum\u00e9 1.csv",
            b"a,b\n1,2\n",
            "text/csv; charset=utf-8",
            "r%C3%A9sum%C3%A9%201.csv",
        ),
        ("big.bin", FILES["big.bin"], "application/octet-stream", "big.bin"),
    ],
)
async def test_a_file_is_downloaded_as_bytes_in_which_nothing_runs(
    client: httpx2.AsyncClient, path: str, content: bytes, type_: str, name: str
) -> None:
    id_ = (await converse(client))["conversation"]
    answer = await client.get(f"/v1/conversations/{id_}/files/{path}")

    assert answer.content == content
    assert answer.headers["content-type"] == type_
    assert answer.headers["content-length"] == str(len(content))
    assert answer.headers["content-disposition"] == f"attachment; filename*=UTF-8''{name}"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")


@pytest.mark.parametrize(
    "path",
    [
        "none.txt",
        "notes",
        "..%2F..%2Fboard.yaml",
        "%2Fetc%2Fhostname",
        "notes%2F..%2Fpage.html",
        "a%00",
    ],
)
async def test_what_is_no_file_of_the_conversation_is_not_found(
    client: httpx2.AsyncClient, path: str
) -> None:
    id_ = (await converse(client))["conversation"]
    answer = await client.get(f"/v1/conversations/{id_}/files/{path}")
    other = await client.get("/v1/conversations/c_none/files/page.html")
    listed = await client.get("/v1/conversations/c_none/files")

    assert (answer.status_code, answer.json()["code"]) == (404, "conversation_not_found")
    assert (other.status_code, listed.status_code) == (404, 404)


async def test_a_page_is_shown_apart_from_the_console(client: httpx2.AsyncClient) -> None:
    id_ = (await converse(client))["conversation"]
    answer = await client.get(f"/v1/conversations/{id_}/view/page.html")

    assert answer.content == FILES["page.html"]
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "content-disposition" not in answer.headers
    assert answer.headers["content-security-policy"] == (
        "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
    )
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("path", "code"), [("big.bin", "not_found"), ("none.html", "conversation_not_found")]
)
async def test_what_is_no_page_is_not_shown(
    client: httpx2.AsyncClient, path: str, code: str
) -> None:
    id_ = (await converse(client))["conversation"]
    answer = await client.get(f"/v1/conversations/{id_}/view/{path}")

    assert (answer.status_code, answer.json()["code"]) == (404, code)


async def test_a_file_comes_by_upload_and_what_a_tool_wrote_is_stored(
    client: httpx2.AsyncClient,
) -> None:
    begun = await client.post("/v1/uploads", json={"name": "big.bin", "size": 1_000})
    path = f"/v1/uploads/{begun.json()['id']}"
    await client.patch(path, content=b"0" * 1_000, headers={"Upload-Offset": "0"})
    upload = (await client.post(f"{path}/finish")).json()["id"]
    body = {"message": "Write.", "stream": False, "files": [{"upload": upload}]}
    exchange = (await client.post("/v1/chat", json=body)).json()
    wanted = {"conversation": exchange["conversation"], "path": "notes/a.md"}
    stored = await client.post("/v1/files", json=wanted)
    none = await client.post("/v1/files", json=wanted | {"path": "../a.md"})
    content = await client.get(f"/v1/files/{stored.json()['id']}/content")

    assert exchange["files"] == [{"name": "big.bin", "size": 1_000}]
    assert (stored.status_code, none.status_code) == (201, 404)
    assert (stored.json()["name"], stored.json()["media_type"]) == ("a.md", "text/markdown")
    assert content.content == b"# One"


@pytest.mark.parametrize(
    "file",
    [{"upload": "f_1", "data": ""}, {"upload": "f_1", "name": "a/b"}, {"name": "a"}],
    ids=str,
)
async def test_a_file_of_a_message_has_one_content(
    client: httpx2.AsyncClient, file: dict[str, str]
) -> None:
    body = {"message": "Keep this.", "stream": False, "files": [file]}

    assert (await client.post("/v1/chat", json=body)).status_code == 422
