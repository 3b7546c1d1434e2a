"""Query parameters that a route does not know are refused, and the nearest known one is named."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.types import Receive, Scope, Send
from tests.servers.http.made import a_board, client_of

from pegboard.servers.http.middleware.query_check import QueryCheck

LIMIT = "unknown parameter; did you mean 'limit'?"


async def problem_of(folder: Path, method: str, path: str, query: str) -> Any:
    async with a_board(folder) as board, client_of(board) as client:
        answer = await client.request(method, f"{path}?{query}")
    return answer.status_code, answer.json()


@pytest.mark.parametrize("prefix", ["", "/v1"])
@pytest.mark.parametrize(
    ("method", "path", "query", "at", "message"),
    [
        ("GET", "/tools", "q=add&limt=5", "query.limt", LIMIT),
        ("GET", "/history", "limt=5", "query.limt", LIMIT),
        ("GET", "/tools/add", "principal=bob", "query.principal", "unknown parameter"),
        ("POST", "/execute", "dry_run", "query.dry_run", "unknown parameter"),
    ],
)
async def test_an_unknown_parameter_is_refused(
    prefix: str, method: str, path: str, query: str, at: str, message: str, tmp_path: Path
) -> None:
    status, problem = await problem_of(tmp_path, method, f"{prefix}{path}", query)

    assert (status, problem["code"]) == (422, "request_invalid")
    [fault] = problem["problems"]
    assert (fault["path"], fault["kind"]) == (at, "unknown")
    assert fault["message"].startswith(message)
    assert at in problem["detail"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/tools?q=add&limit=5", 200),
        ("/healthz?_=1", 200),
        ("/v1/models?api-version=2024-06-01", 200),
        ("/nothing?x=1", 404),
    ],
)
async def test_known_ones_and_those_of_other_doors_pass(
    path: str, status: int, tmp_path: Path
) -> None:
    async with a_board(tmp_path) as board, client_of(board) as client:
        answer = await client.get(path)

    assert answer.status_code == status


async def test_the_first_route_that_matches_decides(tmp_path: Path) -> None:
    async def endpoint() -> None: ...

    passed: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        passed.append(scope["path"])

    routes = [
        (APIRoute("/callback", endpoint, methods=["GET"]), False),
        (APIRoute("/{name}", endpoint, methods=["GET"]), True),
    ]
    closed = QueryCheck(app, routes)
    statuses: list[int] = []

    async def send(message: Any) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    for path in ("/callback", "/other"):
        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"code=1"}
        await closed(scope, None, send)  # type: ignore[arg-type]  # nothing is received

    assert (passed, statuses) == (["/callback"], [422])
