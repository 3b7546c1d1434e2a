"""Uploads over HTTP: parts, digests, limits of their own, and owners."""

import base64
from collections.abc import AsyncGenerator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board, client_of
from tests.servers.http.people import House

from pegboard.errors import InvalidRequest
from pegboard.servers.http.routes.accounts.uploads import read_digest

CONTENT = b"0123456789" * 300
DIGEST = sha256(CONTENT).hexdigest()


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    board = a_board(tmp_path, max_request_bytes=1_000, max_part_bytes=2_000, max_owned_bytes=5_000)
    async with client_of(board) as opened:
        yield opened


def content_digest(part: bytes) -> str:
    return f"sha-256=:{base64.b64encode(sha256(part).digest()).decode()}:"


async def begin(client: httpx2.AsyncClient, **changes: Any) -> dict[str, Any]:
    wanted = {"name": "numbers.txt", "size": len(CONTENT), "digest": DIGEST} | changes
    answer = await client.post("/v1/uploads", json=wanted)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def append(
    client: httpx2.AsyncClient, upload: str, part: Any, offset: int, **headers: str
) -> httpx2.Response:
    return await client.patch(
        f"/v1/uploads/{upload}", content=part, headers={"Upload-Offset": str(offset), **headers}
    )


async def test_a_file_is_uploaded_in_parts_larger_than_other_requests(
    client: httpx2.AsyncClient,
) -> None:
    upload = await begin(client)
    path = f"/v1/uploads/{upload['id']}"
    digest = {"Content-Digest": content_digest(CONTENT[:2_000])}
    first = await append(client, upload["id"], CONTENT[:2_000], 0, **digest)
    shown = await client.get(path)
    listed = (await client.get("/v1/uploads")).json()["uploads"]
    last = await append(client, upload["id"], CONTENT[2_000:], 2_000)
    file = await client.post(f"{path}/finish")
    again = await client.post(f"{path}/finish")

    assert (upload["offset"], upload["max_part_bytes"]) == (0, 2_000)
    assert (first.status_code, first.headers["upload-offset"]) == (200, "2000")
    assert shown.json() == first.json() == listed[0]
    assert (last.json()["offset"], last.json()["is_finished"]) == (3_000, False)
    assert (file.status_code, file.json()) == (again.status_code, again.json())
    assert (file.json()["digest"], file.json()["media_type"]) == (DIGEST, "text/plain")
    assert (await client.get(path)).json()["is_finished"]
    assert (await client.get("/v1/uploads")).json()["uploads"] == []


async def test_a_conflict_says_where_the_upload_goes_on(client: httpx2.AsyncClient) -> None:
    upload = (await begin(client))["id"]
    await append(client, upload, CONTENT[:500], 0)
    elsewhere = await append(client, upload, CONTENT[:500], 0)
    wrong = {"Content-Digest": content_digest(b"other")}
    damaged = await append(client, upload, CONTENT[500:900], 500, **wrong)
    early = await client.post(f"/v1/uploads/{upload}/finish")

    for answer in (elsewhere, damaged, early):
        assert (answer.status_code, answer.json()["code"]) == (409, "upload_conflict")
        assert answer.json()["offset"] == 500


async def test_parts_have_a_limit_of_their_own(client: httpx2.AsyncClient) -> None:
    upload = (await begin(client))["id"]
    large = await append(client, upload, b"x" * 2_001, 0)

    async def in_pieces() -> AsyncGenerator[bytes]:
        for _ in range(21):
            yield b"x" * 100

    grown = await append(client, upload, in_pieces(), 0)
    other = await client.post("/v1/uploads", json={"name": "x" * 2_000, "size": 1})

    assert [it.status_code for it in (large, grown, other)] == [413, 413, 413]
    assert (await client.get(f"/v1/uploads/{upload}")).json()["offset"] == 0


async def test_a_compressed_part_is_refused(client: httpx2.AsyncClient) -> None:
    upload = (await begin(client))["id"]
    packed = {"Content-Encoding": "gzip"}

    assert (await append(client, upload, b"\x1f\x8b", 0, **packed)).status_code == 415
    assert (await client.get(f"/v1/uploads/{upload}")).json()["offset"] == 0


async def test_a_quota_is_told_with_what_is_used(client: httpx2.AsyncClient) -> None:
    await begin(client)
    answer = await client.post("/v1/uploads", json={"name": "a", "size": 2_001})

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (413, "storage_quota_exceeded")
    assert (problem["used"], problem["limit"], problem["unit"]) == (3_000, 5_000, "bytes")


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "../a"},
        {"name": ""},
        {"size": -1},
        {"size": True},
        {"size": 2**60},
        {"digest": "abc"},
        {"purpose": "other"},
        {"organisation": "acme"},
        {"more": 1},
    ],
    ids=str,
)
async def test_a_malformed_upload_is_refused(
    client: httpx2.AsyncClient, wrong: dict[str, Any]
) -> None:
    answer = await client.post("/v1/uploads", json={"name": "a", "size": 1} | wrong)

    assert answer.status_code in {403, 422}


async def test_an_upload_is_abandoned(client: httpx2.AsyncClient) -> None:
    upload = (await begin(client))["id"]
    await append(client, upload, CONTENT[:500], 0)

    assert (await client.delete(f"/v1/uploads/{upload}")).status_code == 204
    for answer in (
        await client.get(f"/v1/uploads/{upload}"),
        await append(client, upload, CONTENT[500:600], 500),
        await client.post(f"/v1/uploads/{upload}/finish"),
        await client.delete(f"/v1/uploads/{upload}"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "file_not_found")


async def test_the_upload_of_another_person_answers_as_one_that_is_not_there(
    tmp_path: Path,
) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        bob = await house.invite(ada, "member", "editor")
        upload = (await begin(ada))["id"]
        theirs = await bob.get(f"/v1/uploads/{upload}")
        none = await bob.get("/v1/uploads/f_000000000000000000000000")
        written = await append(bob, upload, b"x", 0)

        assert theirs.status_code == none.status_code == written.status_code == 404
        assert theirs.json()["detail"].replace(upload, "") == none.json()["detail"].replace(
            "f_000000000000000000000000", ""
        )
        assert (await bob.get("/v1/uploads")).json()["uploads"] == []
        assert (await ada.get(f"/v1/uploads/{upload}")).json()["offset"] == 0


@pytest.mark.parametrize(
    ("header", "digest"),
    [
        ("", ""),
        ("sha-512=:AAAA:", ""),
        (f"sha-512=:AAAA:, {content_digest(b'a')}", sha256(b"a").hexdigest()),
        (f"SHA-256{content_digest(b'a')[7:]}", sha256(b"a").hexdigest()),
    ],
    ids=["none", "other", "both", "upper"],
)
def test_a_content_digest_is_read(header: str, digest: str) -> None:
    assert read_digest(header) == digest


@pytest.mark.parametrize("value", ["", ":", "::", ":AAAA:", "abc", ":\u00e4:", ":" + "A" * 44])
def test_a_malformed_content_digest_is_refused(value: str) -> None:
    with pytest.raises(InvalidRequest, match="Content-Digest"):
        read_digest(f"sha-256={value}")
