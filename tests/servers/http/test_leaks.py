"""No path tells a caller the name of a tool that is hidden from it, unless the caller says it."""

import itertools
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.http.made import a_board, client_of

from pegboard import tool
from pegboard.runtime import Pegboard

SECRET = "topsecret"
RULES = """
sources:
  - {kind: builtin, name: std}
policy: {deny: ["*topsecret*", "std__*"]}
"""


@tool(effect="read", category="hidden", capabilities=("hiding",), tags=("hush",))
def topsecret_plans(page: int = 1) -> str:
    """Show the plans that are hidden."""
    return f"page {page}"


@tool(effect="read", category="hidden", capabilities=("hiding",), tags=("hush",))
def open_plans(page: int = 1) -> str:
    """Show the plans that are not hidden."""
    return f"page {page}"


def requests() -> list[tuple[str, str, dict[str, Any]]]:
    names = ("topsecre_plans", "plans", "opsecret_plans", "topsecretplans", "std__ech", "echo")
    gets = [
        *("/tools", "/tools?q=plans", "/tools?q=hidden+plans+show", "/tools?category=hidden"),
        *("/tools?capability=hiding", "/tools?tag=hush", "/tools?source=std", "/tools?limit=1"),
        *("/tools?cursor=s", "/tools?cursor=topsecres", "/sources", "/sources?health=true"),
        *("/readyz", "/openapi.json", "/metrics", "/history", "/results/x", "/tools/search"),
        *(f"/tools/{name}" for name in names),
        *(f"/tools/{name}/explain" for name in names),
    ]
    searches: list[dict[str, Any]] = [
        *({"query": "plans"}, {"query": "hidden plans topsecre"}, {"capability": "hiding"}),
        *({"tags": ["hush"]}, {"category": "hidden"}, {"source": "std"}, {"limit": 500}),
    ]
    calls: list[dict[str, Any]] = [
        *({"name": name} for name in names),
        *({"tool_id": f"{name}_v1"} for name in names),
        *({"capability": "hiding", "input": {"x": 1}}, {"capability": "hidin"}),
        *({"name": "open_plans", "input": {"pag": 1}}, {"name": "board__read_result"}),
    ]
    return [
        *(("GET", path, {}) for path in gets),
        *(("POST", "/tools/search", body) for body in searches),
        *(("POST", "/execute", body) for body in calls),
    ]


@pytest.fixture
def hiding(tmp_path: Path) -> Pegboard:
    return a_board(tmp_path, tools=(topsecret_plans, open_plans), text=RULES)


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_no_answer_names_a_hidden_tool(hiding: Pegboard) -> None:
    leaks: list[str] = []
    async with client_of(hiding) as client:
        visible = {tool.spec.name for tool in hiding.registry.visible()}
        hidden = set(hiding.registry.names()) - visible
        assert len(hidden) > 5
        for prefix, (method, path, body) in itertools.product(("", "/v1"), requests()):
            answer = await client.request(method, prefix + path, json=body or None)
            asked = f"{method} {path} {json.dumps(body)}"
            leaks += [asked for name in hidden if name in told(answer, asked)]

    assert leaks == []


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_the_same_requests_name_what_is_not_hidden(hiding: Pegboard) -> None:
    async with client_of(hiding) as client:
        error_answer = [
            (await client.request(method, path, json=body or None)).text
            for method, path, body in requests()
        ]

    assert sum("open_plans" in text for text in error_answer) > 10


async def test_hidden_tools_do_not_make_pages_longer_or_shorter(hiding: Pegboard) -> None:
    async with client_of(hiding) as client:
        first = (await client.get("/tools", params={"limit": 1})).json()
        second = (
            await client.get("/tools", params={"limit": 1, "cursor": first["next_cursor"]})
        ).json()

    assert [tool["name"] for tool in first["tools"] + second["tools"]] == [
        "board__read_result",
        "open_plans",
    ]
    assert second["next_cursor"] is None


def told(answer: httpx2.Response, asked: str) -> str:
    """What an answer says that its request did not."""
    text = answer.text + str(dict(answer.headers))
    for word in asked.replace("/", " ").replace('"', " ").split():
        text = text.replace(word, "")
    return text


async def test_what_a_hidden_tool_wants_is_not_told_either(hiding: Pegboard) -> None:
    async with client_of(hiding) as client:
        answer = await client.post(
            "/execute", json={"name": "topsecret_plans", "input": {"pag": "x"}}
        )

    assert (answer.status_code, answer.json()["code"]) == (403, "access_denied")
    assert "page" not in answer.text
