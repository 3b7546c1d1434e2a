"""Tools of RFC-0003 types registered by API, run by a real HTTP service and a real MCP server."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.http.live import live_client
from tests.servers.http.made import a_board, client_of
from tests.servers.http.planned import TOOLS
from tests.servers.http.routes.test_plans import RFC_REQUEST

from pegboard.runtime import Settings

MCP_SERVER = '''
from mcp.server import MCPServer

server = MCPServer("stock")


@server.tool()
def level(item: str) -> str:
    """How many there are."""
    return f"7 of {item}"


server.run()
'''


class Service:
    """Answers HTTP; is busy as often as it is told."""

    def __init__(self) -> None:
        self.busy = 0
        self.asked: list[str] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head.partition(" HTTP")[0])
        if self.busy:
            self.busy -= 1
            status, body = "503 Service Unavailable", b"{}"
        else:
            status, body = "200 OK", b'{"price": 12.5}'
        writer.write(
            f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
            + body
        )
        await writer.drain()
        writer.close()


@asynccontextmanager
async def serving(service: Service) -> AsyncGenerator[int]:
    server = await asyncio.start_server(service.answer, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def written(folder: Path, text: str) -> Settings:
    (folder / "board.yaml").write_text(text)
    return Settings(board=folder / "board.yaml", port=0, reload="off", list_timeout=60)


async def called(client: httpx2.AsyncClient, tool: str, **given: Any) -> httpx2.Response:
    return await client.post("/execute", json={"tool_id": tool, "input": given})


@pytest.mark.timeout(60)
async def test_a_rest_api_is_registered_called_retried_and_removed(tmp_path: Path) -> None:
    service = Service()
    async with serving(service) as port:
        settings = written(tmp_path, f"network: {{allow_hosts: ['127.0.0.1:{port}']}}\n")
        entry: dict[str, Any] = {
            "tool_id": "price_v1",
            "name": "Price",
            "type": "RestAPI",
            "capabilities": ["pricing"],
            "input_schema": {"item": "string"},
            "output_schema": {"price": "number"},
            "url": f"http://127.0.0.1:{port}/prices/{{item}}",
            "method": "GET",
            "retry_policy": {"max_retries": 3, "backoff_ms": 10},
        }
        async with live_client(settings) as client:
            registered = await client.post("/tools/register", json=entry)
            assert registered.status_code == 201, registered.text
            first = (await called(client, "price_v1", item="a b")).json()
            service.busy = 2
            retried = (await called(client, "price_v1", item="c")).json()
            service.busy = 99
            busy = await called(client, "price_v1", item="d")
            wrong = await called(client, "price_v1", itm="d")
            removed = await client.delete("/tools/price_v1")
            gone = await called(client, "price_v1", item="e")

    assert (first["status"], first["output"]) == ("completed", {"price": 12.5})
    assert (retried["output"], retried["metadata"]["attempts"]) == ({"price": 12.5}, 3)
    assert (busy.status_code, busy.json()["metadata"]["attempts"]) == (503, 4)
    assert (wrong.status_code, removed.status_code, gone.status_code) == (422, 204, 404)
    assert service.asked[0] == "GET /prices/a%20b"


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_an_mcp_tool_is_registered_called_and_removed(tmp_path: Path) -> None:
    (tmp_path / "stock.py").write_text(MCP_SERVER)
    config = f"{{command: {sys.executable}, args: [stock.py], cwd: {tmp_path}}}"
    settings = written(tmp_path, f"sources: [{{kind: mcp, name: warehouse, config: {config}}}]\n")
    entry = {
        "tool_id": "stock_level_v1",
        "name": "Stock level",
        "type": "MCPTool",
        "capabilities": ["stock"],
        "input_schema": {"item": "string"},
        "server": "warehouse",
        "tool": "level",
    }
    async with live_client(settings) as client:
        registered = await client.post("/tools/register", json=entry)
        assert registered.status_code == 201, registered.text
        answer = (await called(client, "stock_level_v1", item="pegs")).json()
        by_capability = await client.post(
            "/execute", json={"capability": "stock", "input": {"item": "hooks"}}
        )
        wrong = await called(client, "stock_level_v1", item=5)
        removed = await client.delete("/tools/stock_level_v1")
        gone = await called(client, "stock_level_v1", item="pegs")
        still = await client.post(
            "/execute", json={"name": "warehouse__level", "input": {"item": "x"}}
        )

    assert "7 of pegs" in str(answer["output"])
    assert "7 of hooks" in str(by_capability.json()["output"])
    assert (wrong.status_code, removed.status_code, gone.status_code) == (422, 204, 404)
    assert still.status_code == 200


RFC_BOARD = """
tools:
  - tool_id: web_search_v1
    name: Web Search
    type: LangChainTool
    capabilities: [search]
    input_schema:
      query: string
    output_schema:
      results: list
"""


async def test_the_examples_of_the_rfc_work_as_they_are_written(tmp_path: Path) -> None:
    """Sections 5.1, 5.5 and 6 of RFC-0003, in order, on one board."""
    graph = "graph:\n  edges: [[web_fetcher_v1, text_cleaner_v2]]\n"
    async with client_of(a_board(tmp_path, tools=TOOLS, text=RFC_BOARD + graph)) as client:
        listed = (await client.get("/tools", params={"unavailable": True})).json()["tools"]
        plan = (await client.post("/plan", json=RFC_REQUEST)).json()
        matched = await client.post(
            "/plan",
            json={
                "capabilities_needed": ["fetch_content", "clean_text", "summarize"],
                "params": {"url": "https://example.com"},
            },
        )
        executed = await client.post(
            "/execute",
            json={
                "tool_id": "summarizer_llm_v3",
                "input": {"text": "Long article content..."},
                "execution_config": {"timeout_ms": 60000},
            },
        )
        found = (await client.post("/tools/search", json={"capability": "summarize"})).json()
        shown = (await client.get("/graph")).json()
        updated = await client.post(
            "/graph/update", json={"add_edges": [["web_fetcher_v1", "summarizer_llm_v3"]]}
        )
        cycle = await client.post(
            "/graph/update", json={"add_edges": [["summarizer_llm_v3", "web_fetcher_v1"]]}
        )

    search = next(tool for tool in listed if tool["id"] == "web_search_v1")
    assert "import" in search["unavailable"]
    assert [(step["step_id"], step["tool_id"]) for step in plan["steps"]][-1][1] == (
        "summarizer_llm_v3"
    )
    assert plan["task_id"] == "task_123"
    assert [step["tool_id"] for step in matched.json()["steps"]] == [
        "web_fetcher_v1",
        "text_cleaner_v2",
        "summarizer_llm_v3",
    ]
    answer = executed.json()
    assert set(answer) == {"tool_id", "status", "output", "execution_time_ms", "metadata"}
    assert (answer["tool_id"], answer["status"], answer["output"]) == (
        "summarizer_llm_v3",
        "completed",
        {"summary": "Long article content..."},
    )
    assert [tool["id"] for tool in found["tools"]] == ["summarizer_llm_v3"]
    assert ["web_fetcher_v1", "text_cleaner_v2"] in [
        [edge["prerequisite"], edge["dependant"]] for edge in shown["edges"]
    ]
    assert updated.status_code == 200
    assert (cycle.status_code, cycle.json()["code"]) == (409, "dependency_cycle")
