"""The HTTP door answers although sources hang, and calls wait for those that may still come."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.runtime.slow import LateApi, late_api, silent_port
from tests.servers.http.live import live, patient, until

from pegboard.runtime import Settings

HEAD = "network: {allow_hosts: [127.0.0.1]}\nsources:\n  - {kind: builtin, name: std}\n"
SILENT = '{kind: openapi, name: silent, config: {document: "http://127.0.0.1:PORT/openapi.json"}}'


async def _execute(http: httpx2.AsyncClient, name: str, **config: Any) -> httpx2.Response:
    body = {"name": name, "input": {}, "execution_config": config}
    return await http.post("/execute", json=body)


async def _pending(http: httpx2.AsyncClient, *names: str) -> dict[str, Any]:
    """What the server says of itself once it waits for no others than these."""
    told: dict[str, Any] = {}

    async def is_so() -> bool:
        told.update((await http.get("/readyz")).json())
        return [item["name"] for item in told["sources"]] == list(names)

    await until(is_so)
    return told


@asynccontextmanager
async def _served(folder: Path) -> AsyncGenerator[tuple[httpx2.AsyncClient, LateApi]]:
    """A server with a healthy source, one that is late and one that never answers."""
    path = folder / "board.yaml"
    with silent_port() as port:
        async with late_api() as api:
            path.write_text(f"{HEAD}  - {api.source}\n  - {SILENT.replace('PORT', str(port))}\n")
            settings = Settings(board=path, port=0, open_patience=0.3, list_timeout=60)
            async with live(settings) as url, patient(base_url=url) as http:
                yield http, api


@pytest.mark.timeout(90)
@pytest.mark.slow
async def test_the_server_answers_while_sources_hang(tmp_path: Path) -> None:
    began = time.monotonic()
    async with _served(tmp_path) as (http, _):
        opened = time.monotonic() - began
        ready = await _pending(http, "late", "silent")
        sources = (await http.get("/sources?health=true")).json()["sources"]
        called = await _execute(http, "silent__x", timeout_ms=300)
        shown = await http.get("/tools/silent__x")
        unknown = await _execute(http, "nobody__knows")
        names = {tool["name"] for tool in (await http.get("/tools")).json()["tools"]}
    took = time.monotonic() - began

    assert opened < 30
    assert took < 50  # it ends although nobody has answered
    assert {item["name"]: item["status"] for item in ready["sources"]} == {
        "late": "pending",
        "silent": "pending",
    }
    assert "no answer yet after " in ready["sources"][0]["reason"]
    health = {item["name"]: (item["status"], item["health"]) for item in sources}
    assert health["late"] == health["silent"] == ("pending", "unknown")
    assert (called.status_code, called.json()["code"]) == (503, "source_unavailable")
    assert "its source 'silent' is pending" in called.json()["detail"]
    assert (shown.status_code, unknown.status_code) == (503, 404)
    assert "std__echo" in names


@pytest.mark.timeout(90)
@pytest.mark.slow
async def test_calls_wait_for_what_comes_late_and_hold_up_no_others(tmp_path: Path) -> None:
    echo = {"name": "std__echo", "input": {"message": "hello"}}
    async with _served(tmp_path) as (http, api):
        waiting = asyncio.create_task(_execute(http, "late__stock"))
        background = asyncio.create_task(
            http.post("/execute", json={"name": "late__stock", "async": True})
        )
        healthy = [await http.post("/execute", json=echo) for _ in range(20)]
        early = waiting.done() or background.done()
        api.answers.set()
        answer, accepted = await waiting, await background
        names = {tool["name"] for tool in (await http.get("/tools")).json()["tools"]}
        ready = await _pending(http, "silent")

    assert {item.status_code for item in healthy} == {200}
    assert not early
    assert (answer.status_code, answer.json()["output"]) == (200, 7)
    assert answer.json()["tool_id"] == "late__stock_v1"
    assert accepted.status_code == 202
    assert {"late__stock", "late__refill", "std__echo"} <= names
    assert {item["name"]: item["status"] for item in ready["sources"]} == {"silent": "pending"}
