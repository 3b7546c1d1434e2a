"""`generate_image`: an images API on loopback, with the picture inside its answer or beside it."""

import asyncio
import base64
import json
from typing import Any

import pytest
from tests.network.loopback import Received, reply
from tests.sources.builtin.providers import desk, why_unavailable

from pegboard.errors import InvalidRequest, PegboardError, ToolFailed
from pegboard.sources.builtin.tools.generate_image import generate_image
from pegboard.tools import as_tool

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
KEY = "k3y-of-the-images"
HERE = {"PEGBOARD_IMAGE_URL": "http://{host}/v1/", "PEGBOARD_IMAGE_KEY": KEY}


def made(**fields: Any) -> bytes:
    return reply(json.dumps({"created": 1, "data": [fields]}).encode())


def inline(data: bytes = PNG) -> bytes:
    return made(b64_json=base64.b64encode(data).decode(), revised_prompt="A red\nfox.")


async def test_a_picture_is_stored_as_a_file_and_named_by_its_handle() -> None:
    async with desk(inline(), HERE | {"PEGBOARD_IMAGE_MODEL": "flux"}) as at:
        result = await at.call("generate_image", {"prompt": "a fox", "size": "1536x1024"})
        [picture] = result.artifacts
        stored = await at.registry.environment.results.get(picture.handle, "/local")

    assert (picture.name, picture.media_type, picture.size) == ("image.png", "image/png", 48)
    assert stored is not None
    assert stored.body == PNG
    assert result.unwrap() == {
        "media_type": "image/png",
        "size": 48,
        "model": "flux",
        "revised_prompt": "A red fox.",
    }
    assert picture.handle in result.text


async def test_the_api_is_asked_as_that_of_openai() -> None:
    async with desk(inline(), HERE) as at:
        await at.call("generate_image", {"prompt": "a fox"})

    assert (at.request.method, at.request.path) == ("POST", "/v1/images/generations")
    assert at.request.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(at.request.body) == {"model": "gpt-image-1", "prompt": "a fox", "n": 1}


async def test_a_picture_at_an_address_is_fetched_without_the_key() -> None:
    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        url = f"http://{received.headers['host']}/files/1.png"
        writer.write(made(url=url) if received.method == "POST" else reply(PNG))

    async with desk(answer, HERE) as at:
        result = await at.call("generate_image", {"prompt": "a fox"})

    assert result.unwrap()["size"] == 48
    assert "authorization" not in at.server.requests[1].headers


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:9/x.png", "http://169.254.169.254/x", "file:///etc/passwd", "x", ""],
)
async def test_an_address_that_leads_inside_is_not_fetched(url: str) -> None:
    async with desk(made(url=url), HERE) as at:
        result = await at.call("generate_image", {"prompt": "a fox"})

    assert type(result.error) is ToolFailed
    assert "The picture was made, but it cannot be fetched." in result.text


@pytest.mark.parametrize(
    ("fetched", "message"),
    [
        (reply(b"gone", status=404), "The picture was made, but it is not there (404)."),
        (reply(b"<html>"), "did not answer with a picture"),
    ],
    ids=["gone", "no picture"],
)
async def test_a_picture_that_is_not_there_is_reported(fetched: bytes, message: str) -> None:
    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        url = f"http://{received.headers['host']}/1.png"
        writer.write(made(url=url) if received.method == "POST" else fetched)

    async with desk(answer, HERE) as at:
        result = await at.call("generate_image", {"prompt": "a fox"})

    assert message in result.text


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (b"\xff\xd8\xff\xe0abc", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
async def test_the_kind_of_a_picture_is_read_from_its_bytes(data: bytes, media_type: str) -> None:
    async with desk(inline(data), HERE) as at:
        result = await at.call("generate_image", {"prompt": "a fox"})

    assert result.artifacts[0].media_type == media_type


@pytest.mark.parametrize(
    "answer",
    [
        reply(b"{}"),
        reply(b'{"data": []}'),
        reply(b'{"data": {"b64_json": "x"}}'),
        reply(b'{"data": ["x"]}'),
        made(),
        made(b64_json="not base64!"),
        made(b64_json=7),
        inline(b"<svg onload='alert(1)'>"),
        inline(b""),
    ],
    ids=["empty", "no data", "a mapping", "text", "nothing", "no base64", "a number", "svg", "0"],
)
async def test_an_answer_without_a_picture_is_a_failure(answer: bytes) -> None:
    async with desk(answer, HERE) as at:
        result = await at.call("generate_image", {"prompt": "a fox"})

    assert type(result.error) is ToolFailed
    assert "did not answer with a picture" in result.text


@pytest.mark.parametrize(
    ("answer", "kind", "message"),
    [
        (
            reply(b'{"error": {"message": "not allowed by our rules"}}', status=400),
            InvalidRequest,
            "refuses the request: not allowed by our rules",
        ),
        (
            reply(f'{{"message": "bad {KEY}"}}'.encode(), status=401),
            PegboardError,
            "PEGBOARD_IMAGE_KEY",
        ),
    ],
    ids=["refused", "a wrong key"],
)
async def test_a_refusal_says_what_to_change(
    answer: bytes, kind: type[PegboardError], message: str
) -> None:
    async with desk(answer, HERE) as at:
        result = await at.call("generate_image", {"prompt": "a fox"})

    assert isinstance(result.error, kind)
    assert message in result.text
    assert KEY not in result.text


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        (
            {},
            "it needs an images API: set PEGBOARD_IMAGE_KEY, or only PEGBOARD_IMAGE_URL",
        ),
        ({"PEGBOARD_IMAGE_KEY": "k"}, ""),
        ({"PEGBOARD_IMAGE_URL": "http://localhost:8080/v1"}, ""),
    ],
    ids=["nothing", "a key", "an address"],
)
def test_without_a_key_it_is_unavailable(variables: dict[str, str], reason: str) -> None:
    assert why_unavailable("generate_image", variables) == reason


def test_it_counts_as_writing_because_it_costs_money() -> None:
    assert as_tool(generate_image).spec.effect == "write"
