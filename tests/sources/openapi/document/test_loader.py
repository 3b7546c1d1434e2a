import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.network.loopback import Received, always, client_for, reply, serving

from pegboard.errors import SourceUnavailable
from pegboard.sources.openapi.document.loader import DocumentLoader

TEXT = '{"openapi": "3.0.0", "paths": {}}'


def loader(document: Any, folder: Path, *, http: Any = None, most: int = 10_000) -> DocumentLoader:
    return DocumentLoader(document, owner="api", base_dir=folder, http=http, max_bytes=most)


async def test_a_document_is_data_a_pasted_text_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "api.json").write_text(TEXT)

    for given in (json.loads(TEXT), TEXT, "openapi: 3.0.0\npaths: {}", "api.json"):
        made = loader(given, tmp_path)
        first = await made.load()

        assert first.root == {"openapi": "3.0.0", "paths": {}}
        assert await made.load() is first


async def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "api.json"
    file.write_text(TEXT)
    made = loader("api.json", tmp_path)
    first = await made.load()

    file.write_text('{"openapi": "3.1.0"}')

    assert (await made.load()).root == {"openapi": "3.1.0"}
    assert (await made.load()) is not first


async def test_files_beside_the_document_are_read_and_nothing_else(tmp_path: Path) -> None:
    outside = tmp_path / "outside.yaml"
    outside.write_text("secret: 1")
    folder = tmp_path / "api"
    (folder / "parts").mkdir(parents=True)
    (folder / "api.yaml").write_text(
        "a: {$ref: parts/pet.yaml#/Pet}\n"
        "b: {$ref: ../outside.yaml}\n"
        "c: {$ref: parts/link.yaml}\n"
        "d: {$ref: parts/notes.txt}\n"
        "e: {$ref: 'https://example.com/x.yaml'}\n"
        "f: {$ref: parts/absent.yaml}\n"
        "g: {$ref: parts/big.yaml}\n"
        "h: {$ref: parts/folder.yaml}\n"
        "i: [{$ref: '#/a'}, {$ref: parts/pet.yaml#/Other}]\n"
    )
    (folder / "parts" / "pet.yaml").write_text("Pet: {$ref: owner.yaml}\nBack: {$ref: ../api.yaml}")
    (folder / "parts" / "owner.yaml").write_text("x: 1")
    (folder / "parts" / "notes.txt").write_text("x: 1")
    (folder / "parts" / "big.yaml").write_text("#" * 20_000)
    (folder / "parts" / "folder.yaml").mkdir()
    (folder / "parts" / "link.yaml").symlink_to(outside)

    document = await loader("api/api.yaml", tmp_path).load()

    assert sorted(document.files) == ["", "api.yaml", "parts/owner.yaml", "parts/pet.yaml"]
    assert document.refused == {
        "parts/link.yaml": "cannot be read: it lies outside the document's folder",
        "parts/notes.txt": "cannot be read: only .json, .yaml and .yml files are read",
        "parts/absent.yaml": "cannot be read: No such file or directory",
        "parts/big.yaml": "cannot be read: it has more than 10,000 bytes",
        "parts/folder.yaml": "cannot be read: it is a folder, not a file",
    }


async def test_a_document_has_so_many_files_and_no_more(tmp_path: Path) -> None:
    for number in range(510):
        (tmp_path / f"n{number}.json").write_text("{}")
    refs = [{"$ref": f"n{number}.json"} for number in range(510)]
    (tmp_path / "api.json").write_text(json.dumps(refs))

    document = await loader("api.json", tmp_path, most=100_000).load()

    assert len(document.files) == 500
    assert set(document.refused.values()) == {
        "cannot be read: the document has more than 500 files"
    }


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("absent.json", "document: there is no file 'absent.json' in the board's folder; write"),
        (".", "document: '.' cannot be read: it is a folder"),
        ("/dev/zero", "document: '/dev/zero' cannot be read: it is a device, a pipe or a socket"),
        ("pipe", "document: 'pipe' cannot be read: it is a device, a pipe or a socket"),
        ("a\0b", "cannot be read: it is no file name"),
        ("big.json", r"more than 10,000 bytes \(max_document_bytes\)"),
        ("ftp://user:pw@example.com/api.json", "document: 'ftp://' addresses are not fetched"),
        ("broken.json", r"cannot be read: it is not valid JSON"),
        ("{broken\n", "cannot be read: it is not valid JSON"),
        ("{" + " " * 20_000, "more than 10,000 bytes"),
        ("https://example.com/api.json", "no network"),
    ],
)
async def test_a_document_that_cannot_be_read_says_why(
    document: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "big.json").write_text(" " * 20_000)
    (tmp_path / "broken.json").write_text('{"a": ')
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(SourceUnavailable, match=reason):
        await loader(document, tmp_path).load()


async def test_a_url_is_asked_again_only_for_what_is_new() -> None:
    async def answer(received: Received, writer: Any) -> None:
        if received.headers.get("if-none-match") == '"1"':
            writer.write(reply(b"", status=304))
        else:
            headers = {"ETag": '"1"', "Last-Modified": "Sat, 01 Nov 2025 00:00:00 GMT"}
            writer.write(reply(TEXT.encode(), headers=headers))

    async with serving(answer) as server, client_for(server) as http:
        url = f"http://{server.authority}/api.json"
        made = loader(url, Path(), http=http)
        first = await made.load()

        assert (first.url, first.root["openapi"]) == (url, "3.0.0")
        assert await made.load() is first
        assert "if-modified-since" in server.requests[-1].headers


async def test_a_url_that_says_the_same_again_is_the_same_document() -> None:
    async with serving(always(reply(TEXT.encode()))) as server, client_for(server) as http:
        made = loader(f"http://{server.authority}/", Path(), http=http)

        assert await made.load() is await made.load()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (reply(status=404), "answered 404"),
        (reply(b" " * 20_000), "max_document_bytes"),
        (reply(b"{"), "not valid JSON"),
        (reply(status=304), "answered 304"),
    ],
    ids=["absent", "too large", "broken", "not modified without a first"],
)
async def test_a_url_that_gives_no_document_says_why(answer: bytes, reason: str) -> None:
    async with serving(always(answer)) as server, client_for(server) as http:
        with pytest.raises(SourceUnavailable, match=reason):
            await loader(f"http://{server.authority}/", Path(), http=http).load()


async def test_a_url_that_does_not_answer_says_so() -> None:
    async with serving(always(b"")) as server, client_for(server) as http:
        gone = server.authority

    with pytest.raises(SourceUnavailable, match="cannot be fetched"):
        await loader(f"http://{gone}/", Path(), http=http).load()


async def test_an_address_that_the_guard_refuses_is_not_fetched() -> None:
    async with serving(always(reply(TEXT.encode()))) as server, client_for() as http:
        with pytest.raises(SourceUnavailable, match="cannot be fetched"):
            await loader(f"http://{server.authority}/", Path(), http=http).load()

        assert server.requests == []
