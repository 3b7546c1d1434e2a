"""Registering tools over HTTP, and what becomes of them."""

import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.http.made import a_board, client_of

from pegboard.runtime import Pegboard

RFC: dict[str, Any] = {
    "tool_id": "custom_analyzer_v1",
    "name": "Custom Analyzer",
    "type": "LocalScript",
    "capabilities": ["analyze", "report"],
    "input_schema": {"data": "object"},
    "output_schema": {"analysis": "object"},
    "script_path": "/opt/tools/analyzer.py",
}
RFC_METADATA: dict[str, Any] = {
    "tool_id": "search_web_v1",
    "name": "Web Search",
    "type": "LangChainTool",
    "capabilities": ["search", "fetch_content"],
    "input_schema": {"query": "string"},
    "output_schema": {"results": "list"},
    "dependencies": ["http_client_v1"],
    "status": "active",
    "version": "1.0",
    "timeout_ms": 30000,
    "retry_policy": {"max_retries": 3, "backoff_ms": 1000},
}
RFC_SUBAGENT: dict[str, Any] = {
    "tool_id": "research_agent_v1",
    "name": "Research Agent",
    "type": "Subagent",
    "capabilities": ["deep_research", "citation_generation"],
    "input_schema": {"query": "string", "depth": "integer"},
    "output_schema": {"report": "string", "citations": "list"},
    "agent_config": {
        "model": "gpt-4",
        "max_iterations": 10,
        "tools": ["web_search", "document_reader"],
    },
}
MODULE = '''
def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def whisper(text: str) -> str:
    """Say it softer."""
    return text.lower()
'''
BOARD = """
sources: []
policy: {deny: ["*hidden*"]}
catalogue:
  imports: ["http_registered:shout"]
  scripts: [scripts]
"""
SHOUT: dict[str, Any] = {
    "tool_id": "shout_v1",
    "type": "PythonFunction",
    "import": "http_registered:shout",
    "effect": "read",
}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of a board that allows one import, and one folder of scripts."""
    (tmp_path / "http_registered.py").write_text(MODULE)
    async with client_of(a_board(tmp_path, text=BOARD)) as opened:
        yield opened


async def register(client: httpx2.AsyncClient, body: Any, **headers: str) -> httpx2.Response:
    return await client.post("/tools/register", json=body, headers=headers)


@pytest.mark.parametrize("path", ["/tools/register", "/v1/tools/register"])
async def test_the_rfc_s_registration_is_taken_as_it_stands(
    client: httpx2.AsyncClient, path: str
) -> None:
    answer = await client.post(path, json=RFC)

    assert answer.status_code == 201
    assert answer.json() == {
        "tool_id": "custom_analyzer_v1",
        "name": "custom_analyzer",
        "version": "1.0.0",
        "status": "active",
        "effect": "write",
        "change": "",
        "is_new": True,
        "is_current": True,
        "unavailable": (
            "the script '/opt/tools/analyzer.py' is not allowed: the operator can "
            "allow its folder in board.yaml under 'catalogue: {scripts: [...]}'"
        ),
        "note": "",
    }


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(RFC_METADATA, "write 'import' beside its type LangChainTool", id="metadata"),
        pytest.param(RFC_SUBAGENT, "there is no tool 'document_reader'", id="subagent"),
    ],
)
async def test_the_rfc_s_other_examples_are_listed_with_what_they_lack(
    client: httpx2.AsyncClient, body: dict[str, Any], says: str
) -> None:
    await register(client, body)

    shown = (await client.get(f"/tools/{body['tool_id']}")).json()

    assert says in shown["unavailable"]
    assert shown["capabilities"] == body["capabilities"]


async def test_an_import_that_the_operator_allows_runs(client: httpx2.AsyncClient) -> None:
    await register(client, SHOUT)

    answer = await client.post("/execute", json={"tool_id": "shout_v1", "input": {"text": "hi"}})

    assert answer.json()["output"] == "HI"


async def test_a_tool_that_is_turned_off_is_managed_before_it_is_turned_on(
    client: httpx2.AsyncClient,
) -> None:
    await register(client, SHOUT)
    await register(client, {**SHOUT, "description": "Shout badly."})
    off = {"turn": "off", "kind": "tool", "name": "shout_v1", "reason": "it shouts twice"}
    await client.post("/switches", json=off)
    path = "/tools/shout_v1"

    listed = (await client.get("/tools", params={"unavailable": True})).json()["tools"]
    offered = (await client.get("/tools")).json()["tools"]
    shown = (await client.get(path)).json()
    looks = [await client.get(f"{path}/{part}") for part in ("versions", "diff", "health")]
    [first, _] = [item["version"] for item in looks[0].json()["versions"]]
    back = await client.post(f"{path}/rollback", json={"version": first})
    called = await client.post("/execute", json={"tool_id": "shout_v1", "input": {"text": "a"}})
    old = await client.post(f"{path}/deprecate", json={"version": first})
    gone = await client.delete(path)

    reason = "is turned off: it shouts twice"
    assert ("shout_v1", reason) in [(tool["id"], tool.get("unavailable")) for tool in listed]
    assert "shout_v1" not in [tool["id"] for tool in offered]
    assert shown["unavailable"] == reason
    assert [answer.status_code for answer in looks] == [200, 200, 200]
    assert back.status_code == 200, back.text
    assert called.status_code == 403
    assert (old.status_code, gone.status_code) == (200, 204), old.text


async def test_an_import_that_nobody_allowed_does_not_run(client: httpx2.AsyncClient) -> None:
    made = await register(client, {**SHOUT, "import": "http_registered:whisper"})
    called = await client.post("/execute", json={"tool_id": "shout_v1", "input": {}})

    assert "the import 'http_registered:whisper' is not allowed" in made.json()["unavailable"]
    assert called.json()["code"] == "source_unavailable"


async def test_a_tool_that_cannot_be_used_is_listed_when_asked_for(
    client: httpx2.AsyncClient,
) -> None:
    await register(client, RFC)

    usual = (await client.get("/tools", params={"capability": "analyze"})).json()
    whole = (
        await client.get("/tools", params={"capability": "analyze", "unavailable": True})
    ).json()

    assert usual["tools"] == []
    assert [tool["id"] for tool in whole["tools"]] == ["custom_analyzer_v1"]


async def test_a_changed_definition_is_a_new_version_that_can_be_rolled_back(
    client: httpx2.AsyncClient,
) -> None:
    await register(client, SHOUT)
    second = await register(client, {**SHOUT, "description": "Louder."})
    back = await client.post("/tools/shout/rollback", json={"version": "1.0.0"})
    rows = (await client.get("/tools/shout_v1/versions")).json()["versions"]

    assert (second.json()["version"], second.json()["change"]) == ("1.0.1", "wording")
    assert back.json()["version"] == "1.0.0"
    assert [(row["version"], row["is_current"], row["origin"]) for row in rows] == [
        ("1.0.0", True, "api"),
        ("1.0.1", False, "api"),
    ]


async def test_a_breaking_change_has_a_new_id_and_callers_of_the_old_one_keep_it(
    client: httpx2.AsyncClient,
) -> None:
    await register(client, {**RFC, "script_path": ""})
    answer = await register(
        client, {**RFC, "script_path": "", "input_schema": {"data": "object", "depth": "integer"}}
    )

    assert (answer.json()["tool_id"], answer.json()["version"]) == ("custom_analyzer_v2", "2.0.0")
    old, new = [
        (await client.get(f"/tools/custom_analyzer_v{major}")).json()["input_schema"]["required"]
        for major in (1, 2)
    ]
    assert (old, new) == (["data"], ["data", "depth"])


async def test_a_known_definition_changes_nothing(client: httpx2.AsyncClient) -> None:
    await register(client, SHOUT)

    again = await register(client, SHOUT)

    assert again.status_code == 200
    assert (again.json()["is_new"], again.json()["version"]) == (False, "1.0.0")


async def test_a_diff_says_what_changed_and_what_that_means(client: httpx2.AsyncClient) -> None:
    await register(client, SHOUT)
    await register(client, {**SHOUT, "description": "Louder."})

    answer = await client.get("/tools/shout/diff", params={"from": "1.0.0", "to": "1.0.1"})

    assert answer.json() == {
        "name": "shout",
        "from": "1.0.0",
        "to": "1.0.1",
        "kind": "wording",
        "changes": [
            {
                "place": "description",
                "kind": "wording",
                "before": "Say it louder.",
                "after": "Louder.",
            }
        ],
    }
    assert (await client.get("/tools/shout/diff")).json() == answer.json()
    unknown = await client.get("/tools/shout/diff", params={"from": "7"})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "version_not_found")


async def test_a_deprecated_version_says_so_and_still_runs(client: httpx2.AsyncClient) -> None:
    await register(client, SHOUT)

    answer = await client.post("/tools/shout/deprecate", json={"on": "2999-01-31"})
    called = await client.post("/execute", json={"tool_id": "shout_v1", "input": {"text": "hi"}})
    [row] = (await client.get("/tools/shout/versions")).json()["versions"]

    assert answer.json()["status"] == "deprecated"
    assert called.json()["output"] == "HI"
    assert (row["status"], row["deprecated_on"]) == ("deprecated", "2999-01-31")


async def test_a_removed_tool_is_gone_and_can_be_rolled_back_to(
    client: httpx2.AsyncClient,
) -> None:
    await register(client, SHOUT)

    gone = await client.delete("/tools/shout_v1")
    shown = await client.get("/tools/shout_v1")
    back = await client.post("/tools/shout_v1/rollback", json={"version": "1.0.0"})

    assert (gone.status_code, shown.status_code, back.status_code) == (204, 404, 200)
    assert (await client.get("/tools/shout_v1")).status_code == 200


@pytest.mark.parametrize(
    ("tool", "status", "code"),
    [
        pytest.param("add", 403, "access_denied", id="the board's own"),
        pytest.param("nothing_like_it", 404, "tool_not_found", id="nobody's"),
        pytest.param("add_secret", 404, "tool_not_found", id="a hidden one"),
        pytest.param("register", 405, "method_not_allowed", id="an action"),
    ],
)
async def test_what_was_not_registered_cannot_be_removed(
    tmp_path: Path, tool: str, status: int, code: str
) -> None:
    async with client_of(a_board(tmp_path)) as client:
        answer = await client.delete(f"/tools/{tool}")

    assert (answer.status_code, answer.json()["code"]) == (status, code)


@pytest.mark.parametrize(
    ("change", "status", "says"),
    [
        pytest.param({"tool_id": "add_v1"}, 409, "already registered from the board", id="taken"),
        pytest.param(
            {"tool_id": "board__x_v1"}, 409, "of the source 'board' alone", id="a source's"
        ),
        pytest.param(
            {"input_schema": {"a": "strnig"}},
            422,
            "body.input_schema.a: 'strnig' is not a type",
            id="no type",
        ),
        pytest.param({"type": "Magic"}, 422, "body.type", id="no such kind"),
        pytest.param({"colour": "red"}, 422, "body.colour", id="an unknown key"),
        pytest.param({"input_schema": {"$ref": "http://x"}}, 422, "write a shorthand", id="ref"),
    ],
)
async def test_a_wrong_registration_says_what_is_wrong(
    client: httpx2.AsyncClient, change: dict[str, Any], status: int, says: str
) -> None:
    answer = await register(client, {**SHOUT, **change})

    assert answer.status_code == status
    assert says in answer.json()["detail"]


async def test_an_idempotency_key_gives_the_first_answer(client: httpx2.AsyncClient) -> None:
    key = {"Idempotency-Key": "k1"}
    first = await register(client, SHOUT, **key)
    second = await register(client, SHOUT, **key)
    other = await register(client, RFC, **key)

    assert (second.json(), second.status_code) == (first.json(), 201)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")


async def test_a_refused_registration_leaves_its_key_free(client: httpx2.AsyncClient) -> None:
    key = {"Idempotency-Key": "k2"}
    refused = await register(client, {**SHOUT, "input_schema": {"a": "strnig"}}, **key)
    taken = await register(client, SHOUT, **key)

    assert (refused.status_code, taken.status_code) == (422, 201)


async def test_many_are_registered_all_or_none(client: httpx2.AsyncClient) -> None:
    schema = {"type": "object", "properties": {"data": {"$ref": "http://x/y"}}}
    wrong = {**RFC, "input_schema": schema}

    refused = await client.post("/tools/bulk", json={"tools": [SHOUT, wrong]})
    absent = await client.get("/tools/shout_v1")
    taken = await client.post("/tools/bulk", json={"tools": [SHOUT, RFC]})

    assert refused.json()["detail"].startswith("[1] custom_analyzer_v1: ")
    assert absent.status_code == 404
    assert [item["tool_id"] for item in taken.json()["registered"]] == [
        "shout_v1",
        "custom_analyzer_v1",
    ]


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_ten_thousand_tools_are_registered_at_once(tmp_path: Path) -> None:
    tools = [{**RFC, "tool_id": f"tool_{index}_v1"} for index in range(10_000)]
    async with client_of(a_board(tmp_path, text=BOARD, data=tmp_path / "data")) as client:
        began = time.process_time()
        answer = await client.post("/tools/bulk", json={"tools": tools})
        took = time.process_time() - began

    assert len(answer.json()["registered"]) == 10_000
    assert took < 15  # alone on a machine about 3 s; this one is shared


@pytest.mark.timeout(60)
async def test_what_was_registered_is_there_after_a_restart(tmp_path: Path) -> None:
    (tmp_path / "http_registered.py").write_text(MODULE)

    def board() -> Pegboard:
        return a_board(tmp_path, text=BOARD, data=tmp_path / "data")

    async with client_of(board()) as client:
        await register(client, SHOUT)
        await register(client, {**SHOUT, "description": "Louder."})
        await register(client, RFC)
        await client.post("/tools/shout/rollback", json={"version": "1.0.0"})
        await client.post("/tools/shout/deprecate", json={"version": "1.0.1"})
        before = (await client.get("/tools/shout/versions")).json()
        await client.delete("/tools/custom_analyzer_v1")
    async with client_of(board()) as client:
        after = (await client.get("/tools/shout/versions")).json()
        called = await client.post("/execute", json={"name": "shout", "input": {"text": "hi"}})
        removed = await client.get("/tools/custom_analyzer_v1")

    assert after == before
    assert called.json()["output"] == "HI"
    assert removed.status_code == 404


async def test_health_is_told_by_calls_and_by_what_a_tool_needs(
    client: httpx2.AsyncClient,
) -> None:
    await register(client, SHOUT)
    await register(client, {**RFC, "script_path": "", "dependencies": ["nowhere_v1"]})
    await client.post("/execute", json={"name": "shout", "input": {"text": "hi"}})

    good = (await client.get("/tools/shout/health")).json()
    bad = (await client.get("/tools/custom_analyzer_v1/health")).json()

    assert (good["status"], good["calls"], good["failures"]) == ("healthy", 1, 0.0)
    assert good["latency_ms"] > 0
    assert bad["status"] == "unhealthy"
    assert "script_path" in bad["own_reason"]


@pytest.mark.parametrize(
    "tools",
    [
        [{**SHOUT, "dependencies": ["shout_v1"]}],
        [
            {**SHOUT, "dependencies": ["report_v1"]},
            {"tool_id": "report_v1", "type": "RestAPI", "dependencies": ["shout"]},
        ],
    ],
    ids=["itself", "each other"],
)
async def test_tools_that_would_need_each_other_are_refused_by_name(
    client: httpx2.AsyncClient, tools: list[dict[str, Any]]
) -> None:
    names = [*sorted(tool["tool_id"] for tool in tools)]
    many = await client.post("/tools/bulk", json={"tools": tools})
    one = [await register(client, tool) for tool in tools][-1]

    for answer in (many, one):
        assert (answer.status_code, answer.json()["code"]) == (409, "dependency_cycle")
        assert " -> ".join([*names, names[0]]) in answer.json()["detail"]
    assert (await client.get("/tools/report")).status_code == 404


async def test_a_day_that_is_over_is_taken_and_noted(client: httpx2.AsyncClient) -> None:
    await register(client, SHOUT)

    past = await client.post("/tools/shout/deprecate", json={"on": "2001-01-01"})
    to_come = await client.post("/tools/shout/deprecate", json={"on": "2999-01-31"})

    assert (past.status_code, past.json()["note"][:18]) == (200, "2001-01-01 is past")
    assert to_come.json()["note"] == ""


async def test_an_import_of_a_denied_tool_s_function_is_denied_under_its_new_name(
    tmp_path: Path,
) -> None:
    (tmp_path / "http_registered.py").write_text(MODULE)
    board = """
sources:
  - {kind: functions, name: mine, config: {objects: ["http_registered:shout"]}}
policy: {deny: [mine__shout]}
catalogue: {imports: ["http_registered:*"]}
"""
    async with client_of(a_board(tmp_path, text=board)) as client:
        for name, function in (("calm_v1", "shout"), ("soft_v1", "whisper")):
            await register(
                client, {**SHOUT, "tool_id": name, "import": f"http_registered:{function}"}
            )
        answers = [
            await client.post("/execute", json={"tool_id": name, "input": {"text": "hi"}})
            for name in ("calm_v1", "soft_v1")
        ]

    assert [answer.status_code for answer in answers] == [403, 200]


async def test_examples_of_a_tool_whose_arguments_are_unknown_are_kept(
    client: httpx2.AsyncClient,
) -> None:
    entry = {"tool_id": "later_v1", "type": "PythonFunction", "import": "", "examples": [{"a": 1}]}

    made = await client.post("/tools/register", json=entry)
    wrong = entry | {"tool_id": "now_v1", "input_schema": {"b": "string"}}
    refused = await client.post("/tools/register", json=wrong)

    assert (made.status_code, bool(made.json()["unavailable"])) == (201, True)
    assert (refused.status_code, "examples[0]" in refused.text) == (400, True)
