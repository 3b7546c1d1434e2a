"""A board behind a board: the one in front gets whole results, not first pages."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from tests.servers.http.made import LOOPBACK, a_board, client_of

from pegboard import ToolRegistry, tool
from pegboard.core.ports.http import HttpClient, HttpRequest, HttpResponse
from pegboard.core.ports.services import Services
from pegboard.core.result import ToolResult
from pegboard.errors import Unavailable
from pegboard.sources.openapi import KIND
from pegboard.sources.openapi.call.stored_results import complete, find_stored_page
from pegboard.sources.openapi.config import OpenApiConfig

HANDLE = "pegboard://results/0123456789abcdef01234567-p1000"
PAGE = {
    "output": "first lines",
    "metadata": {"attempts": 1, "truncated": True, "handle": HANDLE, "total_bytes": 9_000},
}


@tool(effect="read", max_result_bytes=1_000)
def rows(count: int) -> list[dict[str, int]]:
    """List rows."""
    return [{"row": number} for number in range(count)]


@tool(effect="read", max_result_bytes=1_000)
def report(lines: int) -> str:
    """Write a report."""
    return "a line\n" * lines


@dataclass
class AppClient:
    """The HTTP client of the board in front, on the application of the board behind it."""

    client: httpx2.AsyncClient
    refused: str = "nothing"
    asked: list[str] = field(default_factory=list[str])

    async def send(self, request: HttpRequest) -> HttpResponse:
        self.asked.append(request.url.removeprefix(LOOPBACK))
        if self.refused in request.url:
            raise Unavailable("It is away.")
        answer = await self.client.request(
            request.method, request.url, content=request.content, headers=dict(request.headers)
        )
        return HttpResponse(
            status=answer.status_code,
            url=request.url,
            headers=dict(answer.headers),
            content=answer.content,
        )


@asynccontextmanager
async def in_front(
    folder: Path, refused: str = "nothing", **config: Any
) -> AsyncGenerator[tuple[ToolRegistry, AppClient]]:
    """The tools of a board whose only source is the HTTP API of another."""
    async with client_of(a_board(folder, tools=[rows, report])) as client:
        http = AppClient(client, refused)
        document = (await client.get("/openapi.json")).json()
        checked = OpenApiConfig.model_validate(
            {
                "document": document,
                "base_url": LOOPBACK,
                "include": [{"paths": ["/execute"]}],
                **config,
            }
        )
        services = Services(http=cast("HttpClient", http), base_dir=folder)
        source = await KIND.open("inner", checked, services)
        registry = ToolRegistry(await source.tools())
        yield registry, http
        await source.close()


async def call(registry: ToolRegistry, name: str, **arguments: Any) -> ToolResult:
    return await registry.call("inner__execute", {"body": {"name": name, "input": arguments}})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "whole"),
    [
        ("rows", {"count": 300}, [{"row": number} for number in range(300)]),
        ("report", {"lines": 300}, "a line\n" * 300),
    ],
    ids=["a value", "a text"],
)
async def test_a_page_of_another_board_becomes_the_whole(
    tmp_path: Path, name: str, arguments: Mapping[str, Any], whole: Any
) -> None:
    async with in_front(tmp_path) as (registry, _):
        result = await call(registry, name, **arguments)

    assert result.unwrap()["output"] == whole
    assert result.unwrap()["metadata"].items() >= {"attempts": 1, "truncated": False}.items()
    assert "handle" not in result.unwrap()["metadata"]


@pytest.mark.slow
async def test_a_board_in_front_stores_the_whole_and_states_its_size(tmp_path: Path) -> None:
    async with in_front(tmp_path) as (registry, _):
        result = await call(registry, "rows", count=20_000)
        last = await registry.read_result(result.meta.handle, page=3)

    whole = json.dumps([{"row": number} for number in range(20_000)], separators=(",", ":"))
    assert result.meta.total_bytes > len(whole)
    assert '{"row":19999}]' in last.text


@pytest.mark.slow
async def test_a_projection_sees_the_whole(tmp_path: Path) -> None:
    said: dict[str, Any] = {"overrides": {"execute": {"projection": "output[-1].row"}}}
    async with in_front(tmp_path, **said) as (registry, _):
        assert (await call(registry, "rows", count=300)).unwrap() == 299


@pytest.mark.slow
async def test_the_page_stays_where_the_whole_cannot_be_read(tmp_path: Path) -> None:
    async with in_front(tmp_path, refused="/results/") as (registry, http):
        result = await call(registry, "rows", count=300)

    assert result.unwrap()["metadata"]["truncated"] is True
    assert result.unwrap()["output"].startswith('[{"row":0}')
    assert http.asked[-1].startswith("/results/")


@pytest.mark.slow
async def test_a_short_result_is_not_asked_for_again(tmp_path: Path) -> None:
    async with in_front(tmp_path) as (registry, http):
        await call(registry, "rows", count=3)

    assert http.asked == ["/execute"]


def response(value: Any) -> HttpResponse:
    return HttpResponse(status=200, url="", headers={}, content=json.dumps(value).encode())


def test_the_whole_is_below_the_same_prefix() -> None:
    page = find_stored_page(response(PAGE), method="post", path="/v1/execute")

    assert page is not None
    assert page.path == "/v1/results/0123456789abcdef01234567-p1000?whole=true"


@pytest.mark.parametrize(
    ("value", "method", "path"),
    [
        (PAGE, "get", "/execute"),
        (PAGE, "post", "/orders"),
        ([HANDLE], "post", "/execute"),
        (PAGE | {"metadata": [HANDLE]}, "post", "/execute"),
        (PAGE | {"metadata": {"truncated": False, "handle": HANDLE}}, "post", "/execute"),
        (PAGE | {"metadata": {"truncated": True, "handle": f"{HANDLE}/../x"}}, "post", "/execute"),
        (PAGE | {"metadata": {"truncated": True, "handle": [HANDLE]}}, "post", "/execute"),
        (PAGE | {"output": ["first lines"]}, "post", "/execute"),
    ],
)
def test_what_only_resembles_a_page_is_none(value: Any, method: str, path: str) -> None:
    assert find_stored_page(response(value), method=method, path=path) is None


def test_text_that_is_no_json_is_no_page() -> None:
    cut = HttpResponse(status=200, url="", headers={}, content=HANDLE.encode())

    assert find_stored_page(cut, method="post", path="/execute") is None


@pytest.mark.parametrize(
    "stored",
    [
        [],
        {"media_type": "text/plain"},
        {"media_type": "application/json", "text": "[1,"},
        {"media_type": "application/json", "text": None},
    ],
)
def test_what_is_not_a_stored_result_leaves_the_page(stored: Any) -> None:
    paged = response(PAGE)
    page = find_stored_page(paged, method="post", path="/execute")
    assert page is not None

    assert complete(page, paged, response(stored)) is paged
