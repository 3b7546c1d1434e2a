from typing import Any

import httpx2
import pytest

from pegboard import tool
from pegboard.runtime import Pegboard
from pegboard.servers.http.models.responses import ToolDetail

PATHS = ["/tools", "/v1/tools"]


def names(answer: httpx2.Response) -> list[str]:
    return [tool["name"] for tool in answer.json()["tools"]]


async def test_a_list_shows_what_a_tool_is(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/tools", params={"capability": "adding"})

    assert answer.json() == {
        "tools": [
            {
                "id": "add_v1",
                "name": "add",
                "title": "add",
                "description": "Add two numbers.",
                "category": "computation",
                "effect": "read",
                "version": "1.0.0",
                "status": "active",
                "source": "",
                "capabilities": ["adding"],
                "tags": ["sum", "number"],
                "verdict": "allow",
            }
        ],
        "next_cursor": None,
        "total": 1,
    }


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"category": "computation"}, ["add", "echo"]),
        ({"capability": "adding"}, ["add"]),
        ({"tag": "sum"}, ["add"]),
        ({"tag": ["sum", "number"]}, ["add"]),
        ({"tag": ["sum", "other"]}, []),
        ({"effect": "write"}, ["note", "refund"]),
        ({"effect": "admin"}, []),
        ({"effect": "write", "category": "computation"}, []),
        ({"status": "disabled"}, []),
        ({"source": "board"}, ["board__read_result"]),
        ({"q": "shipped carrier busy"}, ["busy"]),
        ({"q": "add", "category": "computation"}, ["add"]),
        ({"q": "   ", "capability": "adding"}, ["add"]),
    ],
)
async def test_filters_must_all_hold(
    client: httpx2.AsyncClient, path: str, query: dict[str, Any], found: list[str]
) -> None:
    assert names(await client.get(path, params=query)) == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ({"query": "add numbers", "limit": 1}, ["add"]),
        ({"capability": "adding"}, ["add"]),
        ({"tags": ["sum", "number"]}, ["add"]),
        ({"effect": "write", "limit": 2.0}, ["note", "refund"]),
        ({"source": "board"}, ["board__read_result"]),
        ({"category": "computation", "status": "active"}, ["add", "echo"]),
    ],
)
async def test_a_search_filters_and_ranks(
    client: httpx2.AsyncClient, body: dict[str, Any], found: list[str]
) -> None:
    assert names(await client.post("/tools/search", json=body)) == found


async def test_a_search_goes_on_with_its_cursor(client: httpx2.AsyncClient) -> None:
    first = (
        await client.post("/tools/search", json={"category": "computation", "limit": 1})
    ).json()
    second = await client.post(
        "/tools/search",
        json={"category": "computation", "limit": 1, "cursor": first["next_cursor"]},
    )

    assert [first["tools"][0]["name"], *names(second)] == ["add", "echo"]
    assert second.json()["next_cursor"] is None


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", ["add", "add_v1"])
async def test_a_tool_is_shown_whole_by_name_and_by_id(
    client: httpx2.AsyncClient, board: Pegboard, path: str, name: str
) -> None:
    answer = await client.get(f"{path}/{name}")

    assert answer.json() == board.find("add").spec.to_dict()
    assert answer.json()["input_schema"]["properties"]["b"]["minimum"] == 0


@pytest.mark.parametrize("name", ["add_secret", "add_secret_v1"])
async def test_a_hidden_tool_is_not_found(client: httpx2.AsyncClient, name: str) -> None:
    hidden = await client.get(f"/tools/{name}")
    absent = await client.get(f"/tools/{name.replace('secret', 'sekret')}")

    assert hidden.status_code == absent.status_code == 404
    assert hidden.json()["detail"] == absent.json()["detail"].replace("sekret", "secret")


async def test_a_tool_that_is_not_there_names_the_nearest(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/tools/refnd")

    assert answer.json()["detail"] == "Tool 'refnd' not found. Did you mean 'refund'?"


async def test_a_tool_of_a_failed_source_says_why_it_is_away(tmp_path: Any) -> None:
    from tests.servers.http.made import a_board, client_of

    text = "sources: [{kind: functions, name: gone, config: {modules: [there_is_none]}}]"
    async with client_of(a_board(tmp_path, text=text)) as client:
        answer = await client.get("/tools/gone__find")

    assert (answer.status_code, answer.json()["code"]) == (503, "source_unavailable")
    assert "there_is_none" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("name", "verdict", "visible", "rule"),
    [
        ("add", "allow", True, "default.read"),
        ("add_v1", "allow", True, "default.read"),
        ("refund", "ask", True, "policy.ask[0]"),
        ("add_secret", "deny", False, "policy.deny[0]"),
    ],
)
async def test_any_decision_is_explained(
    client: httpx2.AsyncClient, name: str, verdict: str, visible: bool, rule: str
) -> None:
    body = (await client.get(f"/tools/{name}/explain")).json()

    assert (body["verdict"], body["visible"], body["rule"]) == (verdict, visible, rule)
    assert (body["principal"], body["principal_handle"]) == ("local", "")
    assert [item["check"] for item in body["checks"]][-1] == "policy"


@pytest.mark.parametrize(
    ("arguments", "status"), [('{"a": "1", "b": 2}', 200), ("{", 422), ('{"a": "x"}', 422)]
)
async def test_a_call_is_explained_with_its_arguments(
    client: httpx2.AsyncClient, arguments: str, status: int
) -> None:
    answer = await client.get("/tools/add/explain", params={"arguments": arguments})

    assert answer.status_code == status


async def test_nothing_is_explained_of_what_is_not_there(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/tools/add_secre/explain")

    assert answer.status_code == 404
    assert "add_secret'" not in answer.text


async def test_a_name_of_any_length_is_answered(client: httpx2.AsyncClient) -> None:
    assert (await client.get(f"/tools/{'x' * 128}")).status_code == 404
    assert (await client.get(f"/tools/{'x' * 129}")).status_code == 422


async def test_the_path_of_the_search_shows_a_tool_only_if_one_is_called_so(
    client: httpx2.AsyncClient, board: Pegboard
) -> None:
    @tool(effect="read")
    def search() -> str:
        """Look for it."""
        return "found"

    without = await client.get("/tools/search")
    board.registry.add(search)
    with_one = await client.get("/tools/search")

    assert (without.status_code, without.headers["allow"]) == (405, "POST")
    assert (with_one.status_code, with_one.json()["name"]) == (200, "search")


RFC: dict[str, Any] = {
    "tool_id": "search_web_v1",
    "name": "Web Search",
    "type": "RestAPI",
    "capabilities": ["search"],
    "supported_tasks": ["summarize_webpage"],
    "examples": [{"query": "tides"}],
    "input_schema": {"query": "string"},
    "output_schema": {"results": "list"},
    "dependencies": ["builtin__echo_v1", "hidden_thing_v1"],
    "status": "active",
    "version": "1.0",
    "timeout_ms": 30000,
    "retry_policy": {"max_retries": 3, "backoff_ms": 1000},
    "url": "https://api.example.com/search",
    "method": "POST",
}


async def test_what_was_registered_is_given_back(client: httpx2.AsyncClient) -> None:
    agent = {
        "tool_id": "research_v1",
        "type": "Subagent",
        "agent_config": {"model": "gpt-4", "max_tokens": 10, "api_key": "sk-1234567"},
    }
    for body in (RFC, agent):
        assert (await client.post("/tools/register", json=body)).status_code == 201
    shown = (await client.get("/tools/search_web_v1")).json()
    shown_agent = (await client.get("/v1/tools/research_v1")).json()

    assert shown["registered"] == RFC
    assert shown["examples"] == [{"query": "tides"}]
    assert shown["dependencies"] == RFC["dependencies"]
    assert shown_agent["registered"] == {
        **agent,
        "agent_config": {"model": "gpt-4", "max_tokens": 10, "api_key": "[redacted]"},
    }
    ToolDetail.model_validate(shown)
    ToolDetail.model_validate(shown_agent)


async def test_each_version_has_its_own_definition_and_other_tools_have_none(
    client: httpx2.AsyncClient,
) -> None:
    second = {**RFC, "tool_id": "search_web_v2", "version": "2.0", "method": "GET"}
    for body in (RFC, second):
        await client.post("/tools/register", json=body)
    registered = [
        (await client.get(f"/tools/search_web_v{major}")).json()["registered"] for major in (1, 2)
    ]

    assert [item["method"] for item in registered] == ["POST", "GET"]
    assert "registered" not in (await client.get("/tools/add")).json()


async def test_arguments_are_validated_without_a_call(client: httpx2.AsyncClient) -> None:
    good = await client.post("/tools/add_v1/validate", json={"input": {"a": "1", "b": 2}})
    bad = await client.post("/v1/tools/add/validate", json={"input": {"a": "x", "c": 2}})

    assert good.json() == {"valid": True, "problems": []}
    assert bad.json()["valid"] is False
    assert [(item["path"], item["kind"]) for item in bad.json()["problems"]] == [
        ("a", "type"),
        ("c", "unknown"),
    ]
    assert (await client.get("/history")).json()["calls"] == []


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/tools/nothing/validate", {"input": {}}, 404),
        ("/tools/add_secret/validate", {"input": {}}, 404),
        ("/tools/add/validate", {"arguments": {}}, 422),
        ("/tools/add/validate", {"input": {"a": "pegboard://results/nothing"}}, 404),
    ],
)
async def test_what_cannot_be_validated_says_why(
    client: httpx2.AsyncClient, path: str, body: dict[str, Any], status: int
) -> None:
    assert (await client.post(path, json=body)).status_code == status


async def test_tools_are_listed_with_complete_specs_when_wanted(
    client: httpx2.AsyncClient,
) -> None:
    listed = (await client.get("/tools", params={"detail": "true"})).json()["tools"]
    shown = [(await client.get(f"/tools/{item['name']}")).json() for item in listed]

    assert listed == shown
    assert all("input_schema" in item for item in listed)
