import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.http.made import a_board, board_file, client_of

from pegboard import tool
from pegboard.runtime import Pegboard, Settings

BROKEN = "sources: [{kind: functions, name: gone, config: {modules: [there_is_none]}}]"


async def execute(client: httpx2.AsyncClient, name: str, **given: Any) -> dict[str, Any]:
    return (await client.post("/execute", json={"name": name, "input": given})).json()


async def test_sources_are_listed_with_what_is_wrong(tmp_path: Path) -> None:
    async with client_of(a_board(tmp_path, text=BROKEN)) as client:
        body = (await client.get("/sources")).json()

    reason = body["sources"][0].pop("reason")
    assert "there_is_none" in reason
    assert body["sources"][0].pop("health_reason") == reason
    assert body == {
        "sources": [
            {
                "name": "gone",
                "kind": "functions",
                "title": "Python functions",
                "status": "failed",
                "tools": 0,
                "held": 0,
                "refreshed_at": None,
                "unavailable": 0,
                "unavailable_reasons": [],
                "takes_accounts": False,
                "health": "unhealthy",
            }
        ],
        "problem": "",
    }


async def test_health_is_asked_for_when_wanted(tmp_path: Path) -> None:
    text = "sources: [{kind: builtin, name: std}]"
    async with client_of(a_board(tmp_path, text=text)) as client:
        asked = (await client.get("/sources", params={"health": "true"})).json()["sources"]
        plain = (await client.get("/sources")).json()["sources"]

    assert (asked[0]["health"], asked[0]["health_reason"]) == ("healthy", "")
    assert plain == asked


async def test_a_source_that_was_only_listed_has_no_health_yet(tmp_path: Path) -> None:
    text = "sources: [{kind: builtin, name: std}]"
    async with client_of(a_board(tmp_path, text=text)) as client:
        (source,) = (await client.get("/sources")).json()["sources"]

    assert (source["status"], source["reason"]) == ("ok", "")
    assert (source["health"], source["health_reason"]) == ("unknown", "")


async def test_what_a_listing_left_out_is_told_without_asking(tmp_path: Path) -> None:
    document = "{openapi: 3.1.0, paths: {/a: {get: {operationId: a}}}}"
    config = (
        f"{{document: {document}, base_url: 'http://127.0.0.1:1', include: {{operations: [a, b]}}}}"
    )
    text = f"sources: [{{kind: openapi, name: shop, config: {config}}}]"
    async with client_of(a_board(tmp_path, text=text)) as client:
        (source,) = (await client.get("/sources")).json()["sources"]
        (asked,) = (await client.get("/sources", params={"health": "true"})).json()["sources"]

    assert (source["status"], source["tools"]) == ("ok", 1)
    assert source["health"] == "degraded"
    assert source["health_reason"] == "include matches nothing for: 'b'."
    assert (asked["status"], asked["health"]) == ("ok", "unhealthy")  # nothing answers there


async def test_a_refused_change_of_the_file_is_told(tmp_path: Path) -> None:
    board = a_board(tmp_path)
    async with client_of(board) as client:
        board_file(tmp_path, "souces: []")
        with pytest.raises(Exception, match="souces"):
            await board.reload()
        body = (await client.get("/sources")).json()

    assert "souces" in body["problem"]


async def test_a_stored_result_is_read_page_by_page(client: httpx2.AsyncClient) -> None:
    handle = (await execute(client, "long_list"))["metadata"]["handle"]
    path = f"/results/{handle.rpartition('/')[2]}"

    pages = (await client.get(path)).json()["pages"]
    texts = [(await client.get(path, params={"page": n + 1})).json()["text"] for n in range(pages)]

    assert "".join(texts) == str(list(range(1000))).replace(" ", "")


async def test_a_stored_result_is_read_whole(client: httpx2.AsyncClient) -> None:
    handle = (await execute(client, "long_list"))["metadata"]["handle"]

    answer = await client.get(f"/results/{handle.rpartition('/')[2]}", params={"whole": True})

    text = str(list(range(1000))).replace(" ", "")
    assert answer.json() == {
        "handle": handle,
        "page": 1,
        "pages": 1,
        "media_type": "application/json",
        "total_bytes": len(text),
        "text": text,
    }


@pytest.mark.parametrize(
    "path", ["/results/unknown", "/results/...", "/results/%00", "/results/x%2Fy"]
)
async def test_a_result_that_is_not_there_is_not_found(
    client: httpx2.AsyncClient, path: str
) -> None:
    assert (await client.get(path)).status_code == 404


async def test_a_page_that_is_not_there_is_not_found(client: httpx2.AsyncClient) -> None:
    handle = (await execute(client, "long_list"))["metadata"]["handle"]

    answer = await client.get(f"/results/{handle.rpartition('/')[2]}", params={"page": 99})

    assert (answer.status_code, answer.json()["code"]) == (404, "handle_not_found")


@pytest.mark.parametrize("path", ["/metrics", "/v1/metrics"])
async def test_metrics_count_calls_in_the_format_of_prometheus(
    client: httpx2.AsyncClient, board: Pegboard, path: str
) -> None:
    from prometheus_client.parser import text_string_to_metric_families

    begun, counted = asyncio.Event(), asyncio.Event()

    @tool(effect="read")
    async def last() -> str:
        """Take as long as it takes to count."""
        begun.set()
        await counted.wait()
        return "done"

    board.registry.add(last)
    await execute(client, "add", a=1)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(execute(client, "last"))
        await begun.wait()
        answer = await client.get(path)
        counted.set()
    assert running.result()["output"] == "done"

    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    samples = {
        (sample.name, sample.labels.get("tool")): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert samples["pegboard_calls_total", "add"] == 1
    assert samples["pegboard_calls_in_flight", "last"] == 1


async def test_a_board_without_metrics_says_so(tmp_path: Path) -> None:
    board = Pegboard(board_file(tmp_path), settings=Settings())
    async with client_of(board) as client:
        answer = await client.get("/metrics")

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
