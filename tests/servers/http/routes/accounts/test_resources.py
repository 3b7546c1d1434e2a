"""Connectors of two organisations on one server: each person knows what is theirs, and no more."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House

from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest
from pegboard.registry.dependencies import GraphChange
from pegboard.runtime import Pegboard
from pegboard.servers.http.websocket.subscriptions import BoardSubscriptions
from pegboard.servers.mcp.listings import Catalogue
from pegboard.servers.mcp.selection import WHOLE_BOARD, BoardSelection, check_selection

BOARD = """
sources: []
network: {allow_hosts: ["127.0.0.1"]}
"""
WRITES = {"name": "github", "kind": "connector", "source_kind": "openapi"}


class Members:
    """Ada, the operator; Bob and Cem of Acme; Eve of Zoo."""

    def __init__(self, house: House, board: Pegboard, upstream: str) -> None:
        self.house, self.board, self.upstream = house, board, upstream
        self.ada = self.bob = self.cem = self.eve = house.client()

    def connector(self, **changes: Any) -> dict[str, Any]:
        config = {
            "base_url": self.upstream,
            "actions": [
                {"name": "list_issues", "path": "/issues", "description": "List open issues."},
                {"name": "close_issue", "path": "/close", "method": "post"},
            ],
        }
        return WRITES | {"config": config} | changes


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer each request with the same two issues."""
    await reader.readuntil(b"\r\n\r\n")
    body = b'["one","two"]'
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
    writer.write(f"{head}connection: close\r\n\r\n".encode() + body)
    await writer.drain()
    writer.close()


@pytest.fixture
async def members(tmp_path: Path) -> AsyncGenerator[Members]:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings: dict[str, Any] = {"token": SecretStr(TOKEN), "data": tmp_path / "data"}
    async with server, a_board(tmp_path, text=BOARD, **settings) as board:
        house = House(board)
        made = Members(house, board, f"http://127.0.0.1:{port}")
        made.ada = await house.found()
        await made.ada.post("/v1/organisations", json={"handle": "zoo"})
        made.bob = await join(made, "bob", "acme", "editor")
        made.cem = await join(made, "cem", "acme", "editor")
        made.eve = await join(made, "eve", "zoo", "editor")
        yield made


async def join(members: Members, handle: str, organisation: str, *roles: str) -> Any:
    wanted = {"organisation": organisation, "roles": list(roles)}
    link = await members.house.make_link(members.ada, **wanted)
    return await members.house.join(link, {"handle": handle, "password": "correct horse"})


async def add(client: httpx2.AsyncClient, wanted: dict[str, Any]) -> dict[str, Any]:
    found = await client.post("/v1/resources", json=wanted)
    assert found.status_code == 201, found.text
    return dict(found.json())


async def change(client: httpx2.AsyncClient, item: dict[str, Any], **changes: Any) -> Any:
    found = await client.patch(f"/v1/resources/{item['id']}", json=changes)
    assert found.status_code == 200, found.text
    return found.json()


async def tools_of(client: httpx2.AsyncClient) -> set[str]:
    found = await client.get("/v1/tools", params={"limit": 500})
    return {tool["name"] for tool in found.json()["tools"] if "issue" in tool["name"]}


async def call(client: httpx2.AsyncClient, name: str) -> httpx2.Response:
    return await client.post("/v1/execute", json={"name": name, "input": {}})


async def test_two_people_connect_the_same_system_and_each_sees_their_own(
    members: Members,
) -> None:
    bob = await add(members.bob, members.connector())
    eve = await add(members.eve, members.connector())
    ada = await add(members.ada, members.connector())

    assert [item["name"] for item in (ada, bob, eve)] == ["github", "bob--github", "eve--github"]
    assert bob["source"]["status"] == "ok"
    assert await tools_of(members.bob) == {"bob--github__list_issues", "bob--github__close_issue"}
    assert await tools_of(members.eve) == {"eve--github__list_issues", "eve--github__close_issue"}
    assert await tools_of(members.ada) == {"github__list_issues", "github__close_issue"}
    assert await tools_of(members.cem) == set()
    done = await call(members.bob, "bob--github__list_issues")
    assert (done.status_code, done.json()["output"]) == (200, ["one", "two"])


async def test_what_is_shared_is_seen_in_the_organisation_and_nowhere_else(
    members: Members,
) -> None:
    item = await add(members.bob, members.connector())
    await change(members.bob, item, visibility="organisation", organisation="acme")

    assert await tools_of(members.cem) == {"bob--github__list_issues", "bob--github__close_issue"}
    assert (await call(members.cem, "bob--github__list_issues")).status_code == 200
    assert await tools_of(members.eve) == set()
    shown = (await members.cem.get(f"/v1/resources/{item['id']}")).json()
    assert (shown["seen_as"], shown["config"], shown["owner"]) == ("organisation", None, "bob")

    await members.ada.delete("/v1/organisations/acme/members/cem")
    assert await tools_of(members.cem) == set()
    assert (await call(members.cem, "bob--github__list_issues")).status_code == 404


HIDDEN, NONE = "bob--github__list_issues", "bob--gitlab__list_issues"
DOORS: dict[str, tuple[str, str, Any]] = {
    "show": ("GET", "/v1/tools/{}", None),
    "explain": ("GET", "/v1/tools/{}/explain", None),
    "health": ("GET", "/v1/tools/{}/health", None),
    "versions": ("GET", "/v1/tools/{}/versions", None),
    "replacements": ("GET", "/v1/tools/{}/replacements", None),
    "validate": ("POST", "/v1/tools/{}/validate", {"input": {}}),
    "execute": ("POST", "/v1/execute", {"name": "{}", "input": {}}),
    "execute an id": ("POST", "/v1/execute", {"tool_id": "{}_v1", "input": {}}),
    "run": (
        "POST",
        "/v1/execute",
        {"name": "{}", "input": {}, "execution_config": {"mode": "async"}},
    ),
    "graph": ("POST", "/v1/runs", {"graph": {"nodes": [{"id": "a", "tool": "{}"}]}}),
    "chain": ("POST", "/v1/plans", {"chain": ["{}"]}),
    "remove": ("DELETE", "/v1/tools/{}", None),
    "roll back": ("POST", "/v1/tools/{}/rollback", {"version": "1.0.0"}),
    "deprecate": ("POST", "/v1/tools/{}/deprecate", {}),
    "breaks": ("GET", "/v1/graph/breaks?tool={}", None),
    "around": ("GET", "/v1/graph?around={}", None),
    "search": ("POST", "/v1/tools/search", {"query": "{}"}),
    "source": ("GET", "/v1/tools?source={}", None),
}


def fill(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return {key: fill(item, name) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, name) for item in value]
    return value.replace("{}", name) if isinstance(value, str) else value


async def test_a_hidden_tool_answers_as_one_that_does_not_exist_on_each_door(
    members: Members,
) -> None:
    await add(members.bob, members.connector())

    async def ask(client: httpx2.AsyncClient, door: str, name: str) -> tuple[int, str]:
        method, path, body = DOORS[door]
        found = await client.request(method, fill(path, name), json=fill(body, name))
        body_ = found.json()
        for part in (body_, body_.get("metadata") or {}):
            for passing in ("call_id", "execution_time_ms", "error_id", "run_id"):
                part.pop(passing, None)
        return found.status_code, str(body_).replace(name, "NAME")

    for client in (members.eve, members.ada):  # an operator knows of it by `explain` alone
        doors = [door for door in DOORS if client is members.eve or door != "explain"]
        hidden = {door: await ask(client, door, HIDDEN) for door in doors}
        assert hidden == {door: await ask(client, door, NONE) for door in doors}
    assert await ask(members.bob, "show", HIDDEN) != hidden["show"]


async def test_the_version_of_the_graph_tells_nothing_of_the_tools_of_others(
    members: Members,
) -> None:
    async def read(client: httpx2.AsyncClient) -> tuple[Any, int, str]:
        graph = (await client.get("/v1/graph")).json()
        beyond = await client.get("/v1/graph", params={"version": graph["version"] + 1})
        diff = (await client.get("/v1/graph/diff", params={"from": 0})).json()
        return graph["version"], beyond.status_code, diff["to"]

    before = await read(members.eve)
    await add(members.bob, members.connector())
    added = GraphChange(add_nodes=("bob--github__list_issues", "bob--github__close_issue"))
    principal = Principal(id="local", scopes=frozenset({"*"}))
    await members.board.dependencies.update(added, principal=principal)

    assert await read(members.eve) == before
    assert (await read(members.bob))[0] > before[0]
    assert before[1] == 404


async def test_lists_of_sources_and_resources_name_only_what_is_seen(members: Members) -> None:
    item = await add(members.bob, members.connector())

    async def listed(client: httpx2.AsyncClient) -> tuple[set[str], set[str]]:
        sources = (await client.get("/v1/sources")).json()["sources"]
        resources = (await client.get("/v1/resources")).json()["resources"]
        return {it["name"] for it in sources} & {"bob--github"}, {it["name"] for it in resources}

    assert await listed(members.bob) == ({"bob--github"}, {"bob--github"})
    assert await listed(members.eve) == await listed(members.ada) == (set(), set())
    for client in (members.eve, members.ada):
        for method, part in (("GET", ""), ("DELETE", ""), ("POST", "/test"), ("POST", "/publish")):
            path = f"/v1/resources/{item['id']}{part}"
            assert (await client.request(method, path)).status_code == 404
    overview = (await members.eve.get("/v1/overview")).text
    assert "bob--github" not in overview
    assert "bob--github" in (await members.bob.get("/v1/overview")).text
    assert "bob--github" not in (await members.ada.get("/v1/readyz")).text


async def caller(client: httpx2.AsyncClient, *organisations: str) -> Principal:
    user = (await client.get("/v1/session")).json()["caller"]
    roles = frozenset(f"{name}/editor" for name in organisations)
    return Principal(id=user, user=user, organisations=frozenset(organisations), roles=roles)


async def test_mcp_lists_and_selects_what_its_caller_sees(members: Members) -> None:
    await add(members.bob, members.connector())
    bob, eve = await caller(members.bob, "acme"), await caller(members.eve, "zoo")
    catalogue = Catalogue(members.board.registry)

    def listed(principal: Principal) -> list[str]:
        entries = catalogue.listing("tools", principal, WHOLE_BOARD).entries
        return [item.key for item in entries if "issue" in item.key]

    assert listed(bob) == ["bob--github__close_issue", "bob--github__list_issues"]
    assert listed(eve) == []
    own = BoardSelection(sources=("bob--github",))
    check_selection(own, members.board, principal=bob)
    for selection in (own, BoardSelection(only=("bob--github__*",))):
        with pytest.raises(InvalidRequest, match="There is no source 'bob--github'"):
            check_selection(selection, members.board, principal=eve)


async def test_news_of_a_source_reach_those_who_see_it(members: Members) -> None:
    news = BoardSubscriptions(members.board.registry)
    bob, eve = await caller(members.bob, "acme"), await caller(members.eve, "zoo")
    with news.subscribe(bob) as of_bob, news.subscribe(eve) as of_eve:
        await add(members.bob, members.connector())
        first = await anext(of_bob)
        await add(members.eve, members.connector())
        other = await anext(of_eve)
    assert (first["kind"], first["source"]) == ("source_changed", "bob--github")
    assert (other["kind"], other["source"]) == ("source_changed", "eve--github")


async def test_what_is_published_is_reviewed_and_then_installed_by_others(
    members: Members,
) -> None:
    item = await add(members.bob, members.connector(title="Issues"))
    path = f"/v1/resources/{item['id']}"
    assert (await members.bob.post(f"{path}/publish")).status_code == 400
    await change(members.bob, item, visibility="organisation", organisation="acme")
    proposed = (await members.bob.post(f"{path}/publish")).json()
    assert proposed["publish_status"] == "pending"
    assert (await members.eve.get("/v1/market")).json()["resources"] == []
    assert (await members.eve.post(f"{path}/subscription")).status_code == 404

    await members.ada.put("/v1/organisations/acme/members/cem", json={"roles": ["administrator"]})
    await members.ada.put("/v1/organisations/acme/members/bob", json={"roles": ["administrator"]})
    verdict = {"decision": "approve", "note": "fine", "revision": proposed["revision"]}
    assert (await members.bob.post(f"{path}/review", json=verdict)).status_code == 403
    assert (await members.eve.post(f"{path}/review", json=verdict)).status_code == 404
    waiting = (await members.cem.get("/v1/resources", params={"waiting": "true"})).json()
    assert [it["name"] for it in waiting["resources"]] == ["bob--github"]
    old = verdict | {"revision": 1}
    assert (await members.cem.post(f"{path}/review", json=old)).status_code == 400
    approved = (await members.cem.post(f"{path}/review", json=verdict)).json()
    assert (approved["publish_status"], approved["reviewed_by"]) == ("approved", "cem")

    market = (await members.eve.get("/v1/market")).json()["resources"]
    assert [(it["title"], it["seen_as"], it["config"]) for it in market] == [
        ("Issues", "none", None)
    ]
    assert await tools_of(members.eve) == set()
    assert (await members.eve.post(f"{path}/subscription")).status_code == 204
    assert (await call(members.eve, "bob--github__list_issues")).status_code == 200

    changed = await change(members.bob, item, description="All of them")
    assert changed["publish_status"] == "pending"
    assert await tools_of(members.eve) == set()
    rejected = await members.cem.post(f"{path}/review", json={"decision": "reject"})
    assert rejected.json()["publish_status"] == "rejected"
    assert (await change(members.bob, item, title="x"))["publish_status"] == "draft"
    assert (await members.bob.post(f"{path}/withdraw")).json()["publish_status"] == "none"
    assert (await members.eve.delete(f"{path}/subscription")).status_code == 204
    assert (await members.eve.delete(f"{path}/subscription")).status_code == 404


async def test_a_deleted_connector_is_gone_with_the_next_request(members: Members) -> None:
    item = await add(members.bob, members.connector())
    await call(members.bob, "bob--github__list_issues")
    assert (await members.bob.delete(f"/v1/resources/{item['id']}")).status_code == 204

    assert await tools_of(members.bob) == set()
    assert (await call(members.bob, "bob--github__list_issues")).status_code == 404
    assert (await members.bob.get("/v1/sources")).json()["sources"] == []


async def test_a_changed_connector_has_its_new_tools(members: Members) -> None:
    item = await add(members.bob, members.connector())
    config = item["config"] | {"actions": [{"name": "find_issue", "path": "/find"}]}
    changed = await change(members.bob, item, config=config)

    assert changed["source"] == {
        "status": "ok",
        "reason": "",
        "tools": ["bob--github__find_issue"],
    }
    assert await tools_of(members.bob) == {"bob--github__find_issue"}
    tested = await members.bob.post(f"/v1/resources/{item['id']}/test")
    assert tested.json() == changed["source"]


LOCAL_USE: dict[str, tuple[str, dict[str, Any]]] = {
    "a file": ("openapi", {"document": "secrets.yaml"}),
    "a process": ("mcp", {"command": "sh", "args": ["-c", "id"]}),
    "many servers": ("mcp", {"mcpServers": {"a": {"command": "sh"}}}),
    "a SQLite file": ("sql", {"url": "sqlite:////etc/passwd"}),
    "a socket": ("sql", {"url": "postgresql:///db?host=/run/postgresql"}),
    "this machine": ("sql", {"url": "postgresql://127.0.0.1/db"}),
    "a script": ("script", {"paths": ["x.py"]}),
    "a module": ("functions", {"objects": ["os:system"]}),
}


async def test_what_uses_the_servers_machine_is_for_operators(members: Members) -> None:
    refused: dict[str, tuple[int, bool]] = {}
    for case, (kind, config) in LOCAL_USE.items():
        wanted = {"kind": "connector", "name": "x", "source_kind": kind, "config": config}
        found = await members.bob.post("/v1/resources", json=wanted)
        refused[case] = (found.status_code, "only operators may connect this" in found.text)

    assert refused == dict.fromkeys(LOCAL_USE, (403, True))


WRONG: dict[str, tuple[dict[str, Any], int]] = {
    "'a--b' cannot be a name": ({"name": "a--b"}, 400),
    "at most 25 characters behind 'bob--'": ({"name": "x" * 27}, 400),
    "'bob--github' is taken": ({}, 400),
    "there is no source kind 'opnapi'; did you mean": ({"source_kind": "opnapi"}, 400),
    "config.document": ({"config": {"document": 3}}, 400),
    "only operators make something global": ({"visibility": "global", "name": "y"}, 403),
    "Give the organisation": ({"visibility": "organisation", "name": "y"}, 400),
    "sharing with an organisation needs the role": (
        {"visibility": "organisation", "organisation": "zoo", "name": "y"},
        403,
    ),
}


async def test_a_wrong_resource_is_refused_with_the_reason(members: Members) -> None:
    await add(members.bob, members.connector())
    found = {
        part: await members.bob.post("/v1/resources", json=members.connector(**changes))
        for part, (changes, _) in WRONG.items()
    }
    refused = {part: (part in item.text, item.status_code) for part, item in found.items()}
    assert refused == {part: (True, status) for part, (_, status) in WRONG.items()}


async def test_a_secret_in_a_configuration_is_refused_and_not_repeated(members: Members) -> None:
    config = {
        "base_url": members.upstream,
        "actions": [{"name": "a", "path": "/"}],
        "auth": {"kind": "bearer", "token": "planted-secret"},
    }
    found = await members.bob.post("/v1/resources", json=members.connector(config=config))
    assert found.status_code == 400
    assert "store it as a credential" in found.text
    assert "planted-secret" not in found.text


async def test_an_agent_of_ones_own_is_chosen_by_those_who_see_it(members: Members) -> None:
    agent = {
        "kind": "agent",
        "name": "helper",
        "description": "Helps with issues.",
        "config": {"instructions": "planted instructions", "tools": []},
    }
    item = await add(members.bob, agent)

    async def agents(client: httpx2.AsyncClient) -> list[str]:
        return [it["name"] for it in (await client.get("/v1/agents")).json()["agents"]]

    assert await agents(members.bob) == ["bob--helper"]
    assert await agents(members.cem) == []
    await change(members.bob, item, visibility="organisation", organisation="acme")
    assert await agents(members.cem) == ["bob--helper"]
    assert await agents(members.eve) == []
    shown = await members.cem.get(f"/v1/resources/{item['id']}")
    assert "planted instructions" not in shown.text
    chosen = {"message": "hello", "agent": "bob--helper"}
    assert (await members.eve.post("/v1/chat", json=chosen)).json()["code"] == "agent_not_found"


async def test_operators_explain_what_others_may_not_know_of(members: Members) -> None:
    await add(members.bob, members.connector())
    path = f"/v1/tools/{HIDDEN}/explain"

    told = (await members.ada.get(path)).json()
    assert (told["visible"], told["rule"]) == (False, "visibility")
    assert (await members.cem.get(path)).status_code == 404
    of_bob = (await members.ada.get(path, params={"who": "bob"})).json()
    of_cem = (await members.ada.get(path, params={"who": "cem"})).json()
    assert (of_bob["visible"], of_cem["visible"], of_cem["rule"]) == (True, False, "visibility")
    own = (await members.bob.get(path)).json()
    assert own["checks"][0] == {"check": "visibility", "result": "passed"}
