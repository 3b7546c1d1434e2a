"""The dependency graph over HTTP."""

from collections.abc import AsyncGenerator
from pathlib import Path
from threading import get_ident
from typing import Any

import httpx2
import pytest
from tests.servers.http.made import THINK, a_board, add_secret, client_of

from pegboard import tool
from pegboard.servers.http.routes import dependencies as routes

CHAIN: dict[str, Any] = {
    "add_nodes": ["fetch", "clean", "analyse"],
    "add_edges": [["fetch", "clean"], ["clean", "analyse"]],
}


async def update(client: httpx2.AsyncClient, **change: Any) -> httpx2.Response:
    return await client.post("/graph/update", json=change)


def edges(answer: httpx2.Response) -> list[tuple[str, str]]:
    return [(edge["prerequisite"], edge["dependant"]) for edge in answer.json()["edges"]]


async def test_what_tools_say_themselves_is_in_the_graph(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/graph", params={"around": "think"})

    assert edges(answer) == [("add_v1", "think_v1"), ("gone_v1", "think_v1")]
    assert {node["id"]: node["is_missing"] for node in answer.json()["nodes"]} == {
        "add_v1": False,
        "gone_v1": True,
        "think_v1": False,
    }


async def test_a_change_makes_a_version_and_old_ones_can_be_read_back(
    client: httpx2.AsyncClient,
) -> None:
    before = (await client.get("/graph")).json()["version"]
    first = await update(client, **CHAIN)
    second = await update(client, remove_edges=[["clean", "analyse"]])

    assert first.json() == {
        "version": before + 1,
        "nodes": [
            {"id": node, "name": "", "is_missing": True, "origins": ["api"]}
            for node in ("analyse", "clean", "fetch")
        ],
        "edges": [
            {"prerequisite": "clean", "dependant": "analyse", "origins": ["api"]},
            {"prerequisite": "fetch", "dependant": "clean", "origins": ["api"]},
        ],
        "layers": [["fetch"], ["clean"], ["analyse"]],
    }
    assert second.json()["version"] == before + 2
    old = await client.get("/graph", params={"version": before + 1, "around": "clean"})
    assert edges(old) == [("clean", "analyse"), ("fetch", "clean")]
    diff = (await client.get("/graph/diff", params={"from": before})).json()
    assert diff["added_nodes"] == ["analyse", "clean", "fetch"]
    assert diff["added_edges"] == [["fetch", "clean"]]


async def test_depth_says_how_far_to_look(client: httpx2.AsyncClient) -> None:
    await update(client, **CHAIN)

    near = await client.get("/graph", params={"around": "fetch"})
    far = await client.get("/graph", params={"around": "fetch", "depth": 2})

    assert (len(near.json()["nodes"]), len(far.json()["nodes"])) == (2, 3)


@pytest.mark.parametrize(
    ("change", "status", "code", "says"),
    [
        pytest.param(
            {"add_edges": [["analyse", "fetch"]]},
            409,
            "dependency_cycle",
            "analyse -> fetch -> clean -> analyse",
            id="cycle",
        ),
        pytest.param(
            {"add_edges": [["fetch", "claen"]]}, 404, "dependency_not_found", "clean", id="unknown"
        ),
        pytest.param(
            {"remove_nodes": ["nobody"]}, 404, "dependency_not_found", "nobody", id="gone"
        ),
        pytest.param({"add_edges": [["fetch"]]}, 422, "request_invalid", "add_edges", id="half"),
    ],
)
async def test_a_wrong_change_does_nothing_and_says_why(
    client: httpx2.AsyncClient, change: dict[str, Any], status: int, code: str, says: str
) -> None:
    await update(client, **CHAIN)
    before = (await client.get("/graph")).json()

    answer = await update(client, **change)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert says in answer.json()["detail"]
    assert (await client.get("/graph")).json() == before


@pytest.mark.parametrize("path", ["/graph?version=99", "/graph/diff?from=0&to=99"])
async def test_a_version_that_never_was_is_not_found(client: httpx2.AsyncClient, path: str) -> None:
    answer = await client.get(path)

    assert (answer.status_code, answer.json()["code"]) == (404, "version_not_found")


async def test_hidden_tools_are_nowhere_in_the_graph(client: httpx2.AsyncClient) -> None:
    whole, changes = await client.get("/graph"), await client.get("/graph/diff?from=0")

    assert "think_v1" in whole.text
    assert "think_v1" in changes.text
    assert "secret" not in whole.text + changes.text


async def test_the_graph_is_there_after_a_restart(tmp_path: Any) -> None:
    data = tmp_path / "data"
    async with client_of(a_board(tmp_path, data=data)) as client:
        await update(client, **CHAIN)
        before = (await client.get("/graph")).json()
    async with client_of(a_board(tmp_path, data=data)) as client:
        after = (await client.get("/graph")).json()

    assert after == before


async def test_origins_of_an_edge_that_others_say_too_are_told(client: httpx2.AsyncClient) -> None:
    before = (await client.get("/graph")).json()["version"]
    await update(client, add_edges=[["add", "think"]])

    diff = (await client.get("/graph/diff", params={"from": before})).json()

    assert diff["changed_origins"] == [
        {
            "prerequisite": "add_v1",
            "dependant": "think_v1",
            "before": ["spec"],
            "after": ["api", "spec"],
        }
    ]


async def test_the_graph_is_drawn_for_who_asks_for_a_picture(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/graph", params={"format": "svg"})

    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    assert answer.text.startswith("<svg")


@pytest.mark.parametrize(("made", "name"), [("json", "graph_dict"), ("svg", "dependencies")])
async def test_of_a_large_graph_an_answer_is_made_beside_the_event_loop(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch, made: str, name: str
) -> None:
    threads: list[int] = []
    make = getattr(routes, name)

    def note(*given: Any) -> Any:
        threads.append(get_ident())
        return make(*given)

    await update(client, add_nodes=[f"n{number}" for number in range(300)])
    monkeypatch.setattr(routes, name, note)
    answer = await client.get("/graph", params={"format": made})

    assert answer.status_code == 200
    assert threads
    assert get_ident() not in threads


@pytest.mark.parametrize(
    "change",
    [{"add_nodes": ["a\0b"]}, {"add_edges": [["fetch", "a\nb"]]}, {"add_nodes": ["\x1b[31m"]}],
    ids=["NUL", "a line break", "what steers a terminal"],
)
async def test_what_is_added_has_no_control_characters(
    client: httpx2.AsyncClient, change: dict[str, Any]
) -> None:
    answer = await update(client, **change)

    assert answer.status_code == 422
    assert "pattern" in answer.text


async def test_what_breaks_is_told_with_the_tool_that_it_breaks_for(
    client: httpx2.AsyncClient,
) -> None:
    first = (await update(client, **CHAIN)).json()["version"]
    await update(client, add_edges=[["add", "fetch"]])

    now = (await client.get("/graph/breaks", params={"tool": "fetch"})).json()
    before = await client.get("/graph/breaks", params={"tool": "add", "version": first})

    assert now == {
        "version": first + 1,
        "tool": "fetch",
        "breaks": [
            {"tool": "clean", "name": "", "because": "fetch"},
            {"tool": "analyse", "name": "", "because": "clean"},
        ],
        "stand_ins": [],
    }
    assert before.json()["breaks"] == [{"tool": "think_v1", "name": "think", "because": "add_v1"}]


async def test_what_breaks_by_a_hidden_tool_is_not_told(client: httpx2.AsyncClient) -> None:
    hidden = await client.get("/graph/breaks", params={"tool": "add_secret"})
    unknown = await client.get("/graph/breaks", params={"tool": "nobody"})

    assert [(it.status_code, it.json()["code"]) for it in (hidden, unknown)] == [
        (404, "dependency_not_found"),
        (404, "dependency_not_found"),
    ]


@tool(effect="read", capabilities=("adding",))
def plus(a: int, b: int = 0) -> int:
    """Add two numbers too."""
    return a + b


@tool(effect="read", capabilities=("adding",))
def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture
async def adders(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    async with client_of(a_board(tmp_path, tools=(add, plus, add_secret, THINK))) as opened:
        yield opened


async def test_what_another_tool_would_serve_does_not_break(adders: httpx2.AsyncClient) -> None:
    answer = await adders.get("/graph/breaks", params={"tool": "add", "alternatives": True})

    assert answer.json()["breaks"] == []
    assert answer.json()["stand_ins"] == [{"tool": "add_v1", "by": "plus_v1", "name": "plus"}]


async def test_one_direction_alone_can_be_asked_for(adders: httpx2.AsyncClient) -> None:
    near = {"around": "add", "direction": "prerequisites"}

    assert edges(await adders.get("/graph", params=near)) == []
    assert edges(await adders.get("/graph", params={"around": "add"})) == [("add_v1", "think_v1")]


async def test_stand_ins_are_proposed_and_hidden_ones_are_not(adders: httpx2.AsyncClient) -> None:
    answer = await adders.get("/tools/add_v1/replacements")
    hidden = await adders.get("/tools/add_secret/replacements")

    assert answer.json()["proposals"] == [
        {
            "tool_id": "plus_v1",
            "name": "plus",
            "score": 0.9,
            "is_certain": True,
            "reasons": ["has the capability adding", "takes and gives all that this one does"],
            "input_mapping": {"a": "a", "b": "b"},
            "status": "unknown",
        }
    ]
    assert (hidden.status_code, hidden.json()["code"]) == (404, "tool_not_found")
