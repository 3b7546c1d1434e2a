"""A real server with its real Swagger document: what it says it got is what was meant."""

import base64
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from tests.sources.openapi.bench import document, operation

from pegboard import ToolRegistry
from pegboard.core.ports.services import Services
from pegboard.core.result import ToolResult
from pegboard.errors import InvalidRequest, ToolFailed, Unavailable
from pegboard.network import GuardedClient, SsrfPolicy
from pegboard.sources.openapi import KIND
from pegboard.sources.openapi.config import OpenApiConfig

SERVE = """
import sys
from httpbin import app
from werkzeug.serving import run_simple
run_simple("127.0.0.1", int(sys.argv[1]), app, threaded=True)
"""
TEXT = {"type": "string"}
FORM = {"a": TEXT, "list": {"type": "array", "items": TEXT}, "file": {"format": "binary"}}
ECHO = document(
    {
        "/anything/{path}": {
            "post": operation(
                operationId="send",
                parameters=[
                    {"name": "path", "in": "path", "schema": TEXT},
                    {"name": "q", "in": "query", "schema": {"type": "array", "items": TEXT}},
                    {"name": "X-Trace", "in": "header", "schema": TEXT},
                    {"name": "session", "in": "cookie", "schema": TEXT},
                ],
                requestBody={
                    "content": {
                        kind: {"schema": {"properties": properties}}
                        for kind, properties in (
                            ("application/json", {"a": {}}),
                            ("application/x-www-form-urlencoded", FORM),
                            ("multipart/form-data", FORM),
                        )
                    }
                },
            )
        }
    }
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        chosen = listening.getsockname()[1]
    log = tmp_path_factory.mktemp("httpbin") / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(chosen)], stdout=output, stderr=output
        )
    try:
        until = time.monotonic() + 30
        while not _answers(chosen):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until, log.read_text()
            time.sleep(0.1)
        yield chosen
    finally:
        process.terminate()
        process.wait(20)


def _answers(port: int) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{port}/status/200", timeout=2):
            return True
    except OSError:
        return False


class Api:
    def __init__(self, registry: ToolRegistry) -> None:
        self.registry = registry

    async def __call__(self, action: str, **arguments: Any) -> ToolResult:
        return await self.registry.call(f"bin__{action}", arguments)


@asynccontextmanager
async def opened(port: int, described: Any = "", **config: Any) -> AsyncGenerator[Api]:
    base = f"http://127.0.0.1:{port}"
    http = GuardedClient(policy=SsrfPolicy(allow_hosts=[f"127.0.0.1:{port}"]))
    given = {"document": described or f"{base}/spec.json", "base_url": base, "retries": 0, **config}
    services = Services(http=http, base_dir=Path())
    source = await KIND.open("bin", OpenApiConfig.model_validate(given), services)
    registry = ToolRegistry()
    for tool in await source.tools():
        registry.add(tool)
    yield Api(registry)
    await source.close()
    await http.close()


async def test_its_own_document_is_a_board_of_tools(port: int) -> None:
    async with opened(port) as api:
        names = api.registry.names()
        assert len(names) > 60
        assert {"bin__get_get", "bin__post_post", "bin__get_uuid"} <= set(names)

        assert (await api("get_get")).unwrap()["url"].endswith("/get")
        assert len((await api("get_uuid")).unwrap()["uuid"]) == 36
        decoded = await api("get_base64_value", value="aGVsbG8=")
        assert decoded.unwrap() == "hello"


async def test_answers_are_json_text_and_files(port: int) -> None:
    async with opened(port) as api:
        assert (await api("get_json")).unwrap()["slideshow"]
        assert "Moby-Dick" in (await api("get_html")).text
        assert (await api("get_gzip")).unwrap()["gzipped"] is True
        (image,) = (await api("get_image_png")).artifacts
        assert (image.media_type, image.name) == ("image/png", "get_image_png.png")
        assert "without content" in (await api("get_status_codes", codes="204")).text
        assert (await api("get_redirect_n", n=2)).unwrap()["url"].endswith("/get")


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, InvalidRequest),
        (404, InvalidRequest),
        (401, ToolFailed),
        (418, ToolFailed),
        (429, Unavailable),
        (500, Unavailable),
        (503, Unavailable),
    ],
)
async def test_a_status_is_an_error_of_its_kind(port: int, status: int, error: type) -> None:
    async with opened(port) as api:
        assert type((await api("get_status_codes", codes=str(status))).error) is error


@pytest.mark.parametrize("text", ["a b", "ü/ö", "x&y=z", "100%", "a+b", "#?", "'\"<>", "日本"])
async def test_values_arrive_as_they_were(port: int, text: str) -> None:
    async with opened(port, ECHO) as api:
        got = (
            await api(
                "send", path="p", q=[text, "2"], session="s 1", a={"k": text}, **{"X-Trace": "t"}
            )
        ).unwrap()

    assert got["args"] == {"q": [text, "2"]}
    assert got["json"] == {"a": {"k": text}}
    assert got["headers"]["X-Trace"] == "t"
    assert got["headers"]["Cookie"] == "session=s%201"
    assert got["method"] == "POST"


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data"])
async def test_forms_arrive_as_they_were(port: int, kind: str) -> None:
    async with opened(port, ECHO, overrides={"send": {"content_type": kind}}) as api:
        got = (await api("send", path="p", a="ü & =", list=["1", "2"])).unwrap()

    assert got["form"] == {"a": "ü & =", "list": ["1", "2"]}


async def test_files_arrive_as_they_were(port: int) -> None:
    said = {"send": {"content_type": "multipart/form-data"}}
    async with opened(port, ECHO, overrides=said) as api:
        file = {"base64": base64.b64encode(b"\x89PNG\xff").decode(), "content_type": "image/png"}
        got = (await api("send", path="p", file=file, a="x")).unwrap()

    assert base64.b64decode(got["files"]["file"].partition(",")[2]) == b"\x89PNG\xff"


@pytest.mark.parametrize(
    ("action", "auth", "arguments"),
    [
        ("get_bearer", {"kind": "bearer", "token": "token-1", "scheme": "*"}, {}),
        (
            "get_basic-auth_user_passwd",
            {"kind": "basic", "username": "ann", "password": "pass-1", "scheme": "*"},
            {"user": "ann", "passwd": "pass-1"},
        ),
    ],
)
async def test_credentials_are_accepted(
    port: int, action: str, auth: Any, arguments: dict[str, Any]
) -> None:
    async with opened(port, auth=auth) as api:
        assert (await api(action, **arguments)).unwrap()["authenticated"] is True


async def test_a_wrong_credential_is_named_and_not_shown(port: int) -> None:
    auth = {"kind": "basic", "username": "ann", "password": "wrong-1"}
    async with opened(port, auth=auth) as api:
        error = (await api("get_basic-auth_user_passwd", user="ann", passwd="right")).error

    assert isinstance(error, ToolFailed)
    assert "does not accept the credential 'bin/basic'" in str(error)
    assert "wrong-1" not in str(error)
