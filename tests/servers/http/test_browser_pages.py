"""What a browser gets at `/` and `/docs`."""

import base64
import hashlib
import re
from html import unescape
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board, client_of

from pegboard.servers.http.browser_pages import render_reference

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.slow
async def test_a_browser_gets_a_page_that_links_to_the_rest(client: httpx2.AsyncClient) -> None:
    page = await client.get("/", headers=BROWSER)
    links = re.findall(r'href="([^"]+)"', page.text)
    answers = [(await client.get(link, headers=BROWSER)).status_code for link in links]

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert links == ["/docs", "/v1/openapi.json", "/healthz", "/readyz"]
    assert answers == [200] * 4


async def test_a_program_gets_the_same_links_as_json(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/")

    assert answer.headers["vary"] == "Accept"
    assert answer.json() == {
        "name": "Pegboard",
        "links": {
            "docs": "/docs",
            "openapi": "/v1/openapi.json",
            "health": "/healthz",
            "ready": "/readyz",
        },
    }


@pytest.mark.slow
async def test_the_reference_lists_every_operation_of_the_openapi_document(
    client: httpx2.AsyncClient,
) -> None:
    page = unescape((await client.get("/docs", headers=BROWSER)).text)
    api = (await client.get("/openapi.json")).json()

    shown = re.findall(r"<summary><code>(.+?)</code>", page)
    assert sorted(shown) == sorted(
        f"{method.upper()} {path}" for path, item in api["paths"].items() for method in item
    )
    assert "<td><code>input</code></td>" in page


@pytest.mark.slow
async def test_the_reference_begins_with_tools_and_calls(client: httpx2.AsyncClient) -> None:
    page = (await client.get("/docs")).text

    assert re.findall("<h2>(.*?)</h2>", page)[:3] == ["tools", "calls", "plans"]
    assert re.search("<summary><code>POST /execute</code> Call a tool.*</summary>", page)


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_a_page_loads_nothing_and_runs_nothing(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(path, headers=BROWSER)
    style = re.findall("<style>(.*?)</style>", answer.text)[0]
    hashed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()

    assert answer.headers["content-security-policy"] == (
        f"default-src 'none'; style-src 'sha256-{hashed}'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )
    assert not re.search(r"<script|<link|<img|style=|src=|https?://", answer.text)


@pytest.mark.parametrize("path", ["/", "/docs"])
async def test_the_pages_need_no_token_and_say_that_the_rest_does(
    tmp_path: Path, path: str
) -> None:
    async with client_of(
        a_board(tmp_path, token=SecretStr(TOKEN)), Accept=BROWSER["Accept"]
    ) as client:
        page = await client.get(path)
        closed = await client.get("/openapi.json")

    assert (page.status_code, closed.status_code) == (200, 401)
    assert "Authorization: Bearer" in page.text or path == "/docs"


def test_text_of_the_document_cannot_become_markup() -> None:
    api = {
        "components": {"schemas": {}},
        "paths": {
            "/<b>": {
                "get": {
                    "description": "<script>alert(1)</script> `a<b`",
                    "parameters": [{"name": "<i>", "in": "query", "schema": {"type": "<u>"}}],
                    "responses": {"200": {"description": "<p>"}},
                }
            }
        },
    }

    page = render_reference(api)

    assert not re.search("<script|<b>|<i>|<u>|<p></li>", page)
    assert "<code>a&lt;b</code>" in page
