from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.servers.http.made import a_board, client_of
from tests.servers.http.planned import a_planned_board

RFC_PLAN = {
    "task_id": "task_123",
    "plan_id": "plan_456",
    "steps": [
        {
            "step_id": 1,
            "tool_id": "web_fetcher_v1",
            "input_mapping": {"url": "$.params.url"},
        },
        {
            "step_id": 2,
            "tool_id": "text_cleaner_v2",
            "input_mapping": {"text": "$.steps[0].output.content"},
            "depends_on": [1],
        },
        {
            "step_id": 3,
            "tool_id": "summarizer_llm_v3",
            "input_mapping": {"text": "$.steps[1].output.cleaned_text"},
            "depends_on": [2],
        },
    ],
}
RFC_REQUEST = {
    "task_id": "task_123",
    "goal": "summarize_webpage",
    "params": {"url": "https://example.com"},
}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    async with client_of(a_planned_board(tmp_path)) as opened:
        yield opened


async def made(client: httpx2.AsyncClient, **wanted: Any) -> dict[str, Any]:
    answer = await client.post("/plan", json=wanted)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize("prefix", ["", "/v1"])
async def test_the_rfcs_own_request_is_answered_with_the_rfcs_own_steps(
    client: httpx2.AsyncClient, prefix: str
) -> None:
    answer = await client.post(f"{prefix}/plan", json=RFC_REQUEST)

    plan = answer.json()
    assert answer.status_code == 200
    assert plan["task_id"] == "task_123"
    assert plan["plan_id"].startswith("plan_")
    assert [step["tool_id"] for step in plan["steps"]] == [
        "web_fetcher_v1",
        "text_cleaner_v2",
        "summarizer_llm_v3",
    ]
    first, second, third = plan["steps"]
    assert "depends_on" not in first
    assert second["depends_on"] == [first["step_id"]]
    assert third["depends_on"] == [second["step_id"]]
    assert plan["layers"] == [[step["step_id"]] for step in plan["steps"]]
    assert plan["runnable"] is True
    assert plan["mode"] == "direct"
    assert [choice["tool"] for choice in plan["choices"]][-1] == "summarizer_llm"
    assert plan["mermaid"].startswith("flowchart")


async def test_capabilities_are_ordered_by_what_they_take_and_give(
    client: httpx2.AsyncClient,
) -> None:
    plan = await made(
        client,
        capabilities_needed=["summarize", "fetch_content"],
        params={"url": "https://example.com"},
    )

    assert plan["steps"][0]["tool_id"] == "web_fetcher_v1"
    assert plan["mode"] == "capabilities"


async def test_a_chain_is_one_step_with_fallbacks(client: httpx2.AsyncClient) -> None:
    plan = await made(
        client,
        chain=[
            {"tool_id": "linger", "input_mapping": {"seconds": 1}},
            {"tool_id": "write_down", "input_mapping": {"line": "$.params.line"}},
        ],
        params={"line": "x"},
    )

    (step,) = plan["steps"]
    assert step["tool_id"] == "linger_v1"
    assert step["fallbacks"] == [
        {"tool_id": "write_down_v1", "input_mapping": {"line": "$.params.line"}}
    ]
    assert plan["effects"] == {"linger": "write"}


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        pytest.param({"goal": "fly_to_the_moon"}, "cannot_plan", id="a goal that nobody answers"),
        pytest.param({"capabilities_needed": ["moon"]}, "cannot_plan", id="a missing capability"),
        pytest.param({"goal": "hidden"}, "cannot_plan", id="a tool that is hidden"),
        pytest.param({"chain": [{"tool_id": "moon"}]}, "tool_not_found", id="a missing tool"),
    ],
)
async def test_what_nobody_can_do_is_not_found(
    client: httpx2.AsyncClient, wanted: dict[str, Any], code: str
) -> None:
    answer = await client.post("/plan", json=wanted)

    assert (answer.status_code, answer.json()["code"]) == (404, code)


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"goal": "x", "capabilities_needed": ["y"]}, id="two things"),
        pytest.param({"goal": None}, id="null"),
        pytest.param({"goal": "x", "params": [1]}, id="params that are a list"),
        pytest.param({"goal": "x", "model": "gpt"}, id="an unknown field"),
    ],
)
async def test_a_request_asks_for_one_thing(
    client: httpx2.AsyncClient, wanted: dict[str, Any]
) -> None:
    assert (await client.post("/plan", json=wanted)).status_code == 422


async def test_a_plan_is_shown_again_and_only_by_its_id(client: httpx2.AsyncClient) -> None:
    plan = await made(client, **RFC_REQUEST)
    again = await client.get(f"/plans/{plan['plan_id']}")
    none = await client.get("/plans/plan_of_nobody")

    assert again.json() == plan
    assert plan["choices"] != []
    assert (none.status_code, none.json()["code"]) == (404, "plan_not_found")


async def test_the_rfcs_own_plan_is_checked_and_has_no_faults(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/plan/check", json=RFC_PLAN)

    found = answer.json()
    assert answer.status_code == 200
    assert [fault for fault in found["faults"] if fault["severity"] == "fault"] == []
    assert found["layers"] == [["1"], ["2"], ["3"]]


async def test_a_check_tells_every_fault_with_its_place(client: httpx2.AsyncClient) -> None:
    wrong = {
        "steps": [
            {"step_id": 1, "tool_id": "nothing_v1"},
            {"step_id": 2, "tool_id": "web_fetcher_v1", "depends_on": [7]},
        ]
    }
    answer = await client.post("/plan/check", json=wrong)

    found = answer.json()
    assert answer.status_code == 200
    assert found["runnable"] is False
    places = {fault["place"] for fault in found["faults"]}
    assert "steps.1.tool_id" in places
    assert len(found["faults"]) >= 3


async def test_a_document_that_is_no_plan_is_told_as_faults(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/plan/check", json={"steps": [{"tool_id": 5}], "colour": "red"})

    found = answer.json()
    assert answer.status_code == 200
    assert found["runnable"] is False
    assert found["mermaid"] == ""
    assert {"document_unknown", "document_missing"} <= {fault["code"] for fault in found["faults"]}


@pytest.mark.timeout(60)
async def test_a_plan_runs_with_what_it_was_made_with_or_with_something_else(
    client: httpx2.AsyncClient,
) -> None:
    plan = await made(client, **RFC_REQUEST)
    same = await client.post(f"/plans/{plan['plan_id']}/run", json={})
    other = await client.post(
        f"/plans/{plan['plan_id']}/run", json={"params": {"url": "https://example.org"}}
    )

    assert same.status_code == other.status_code == 202
    assert same.headers["location"] == f"/runs/{same.json()['run_id']}"
    outputs = [
        (await client.get(f"/runs/{run.json()['run_id']}", params={"wait": 5})).json()
        for run in (same, other)
    ]
    assert [run["state"] for run in outputs] == ["completed", "completed"]
    assert [run["output"]["summarizer_llm"]["summary"] for run in outputs] == [
        "all of https://example.com",
        "all of https://example.org",
    ]
    assert {run["plan_id"] for run in outputs} == {plan["plan_id"]}
    assert {run["task_id"] for run in outputs} == {"task_123"}


async def test_params_that_do_not_fit_start_nothing(client: httpx2.AsyncClient) -> None:
    plan = await made(client, **RFC_REQUEST)
    answer = await client.post(f"/plans/{plan['plan_id']}/run", json={"params": {"url": 5, "x": 1}})
    none = await client.post("/plans/plan_of_nobody/run", json={})

    assert (answer.status_code, answer.json()["code"]) == (400, "request_invalid")
    assert none.status_code == 404
    assert (await client.get("/runs")).json()["runs"] == []


async def test_the_same_key_is_the_same_run(client: httpx2.AsyncClient) -> None:
    plan = await made(client, **RFC_REQUEST)
    path, key = f"/plans/{plan['plan_id']}/run", {"Idempotency-Key": "k1"}
    first = await client.post(path, json={}, headers=key)
    again = await client.post(path, json={}, headers=key)
    other = await client.post(path, json={"params": {"url": "other"}}, headers=key)

    assert first.json()["run_id"] == again.json()["run_id"]
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")


async def test_a_plan_is_drawn_for_who_asks_for_a_picture(client: httpx2.AsyncClient) -> None:
    plan = (await client.post("/plan", json=RFC_REQUEST)).json()["plan_id"]
    asked = await client.get(f"/plans/{plan}", params={"format": "svg"})
    accepted = await client.get(f"/plans/{plan}", headers={"Accept": "image/svg+xml,*/*;q=0.8"})
    text = await client.get(f"/v1/plans/{plan}", params={"format": "mermaid"})
    both = await client.get(f"/plans/{plan}", headers={"Accept": "application/json, image/svg+xml"})

    assert (asked.status_code, asked.headers["content-type"]) == (200, "image/svg+xml")
    assert "'sha256-" in asked.headers["content-security-policy"]
    assert asked.text == accepted.text
    assert "text_cleaner" in asked.text
    assert (text.headers["content-type"], text.text[:12]) == (
        "text/vnd.mermaid; charset=utf-8",
        "flowchart TD",
    )
    assert both.json()["plan_id"] == plan
    assert (await client.get(f"/plans/{plan}", params={"format": "png"})).status_code == 422


async def test_the_schema_of_the_params_is_what_a_check_goes_by(client: httpx2.AsyncClient) -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"url": {"type": "integer"}}}
    body = {"goal": "web_fetcher", "params_schema": schema}
    wrong = (await client.post("/plan", json=body)).json()
    schema["properties"]["url"] = {"type": "string", "maxLength": 9}
    well = (await client.post("/plan", json=body)).json()
    shown = (await client.get(f"/plans/{well['plan_id']}")).json()
    run = {"params": {"url": "https://example.com"}}
    late = await client.post(f"/plans/{well['plan_id']}/run", json=run)

    assert [fault["code"] for fault in wrong["faults"]] == ["input_missing"]
    assert (well["runnable"], well["params"]) == (True, schema)
    assert shown == well
    assert (late.status_code, late.json()["code"]) == (400, "request_invalid")


@pytest.mark.parametrize("schema", [{}, [], "x", {"type": "array"}, {"properties": {}}, 5], ids=str)
async def test_what_is_no_schema_of_params_is_refused(
    client: httpx2.AsyncClient, schema: Any
) -> None:
    answer = await client.post("/plan", json={"goal": "linger", "params_schema": schema})

    assert (answer.status_code, answer.json()["problems"][0]["path"]) == (422, "body.params_schema")


@pytest.mark.parametrize("wanted", [RFC_REQUEST, {"chain": [{"tool_id": "summarizer_llm_v3"}]}])
async def test_a_plan_that_was_told_can_be_checked_as_it_is(
    client: httpx2.AsyncClient, wanted: dict[str, Any]
) -> None:
    plan = await made(client, **wanted)
    kept = (await client.get(f"/plans/{plan['plan_id']}")).json()
    checked = (await client.post("/plan/check", json=kept)).json()

    for key in ("runnable", "layers", "effects", "approvals", "seconds", "longest"):
        assert checked[key] == kept[key], key
    found, told = (
        [(fault["code"], fault["place"]) for fault in answer["faults"]]
        for answer in (checked, kept)
    )
    assert found == told


async def test_a_plan_that_was_told_runs_as_the_kept_one_does(client: httpx2.AsyncClient) -> None:
    plan = await made(client, **RFC_REQUEST)

    outputs: list[Any] = []
    for body in ({"plan_id": plan["plan_id"]}, {"graph": plan}):
        run = (await client.post("/runs", json=body)).json()
        ended = (await client.get(f"/runs/{run['run_id']}", params={"wait": 8})).json()
        assert ended["state"] == "completed"
        outputs.append(ended["output"])

    assert outputs[0] == outputs[1]


async def test_a_fault_names_its_step(client: httpx2.AsyncClient) -> None:
    wrong = {"steps": [{"step_id": "fetch", "tool_id": "nothing_v1"}]}
    (fault,) = (await client.post("/plan/check", json=wrong)).json()["faults"]

    assert (fault["step"], fault["place"]) == ("fetch", "steps.fetch.tool_id")


async def test_the_same_key_is_the_same_plan(client: httpx2.AsyncClient) -> None:
    key = {"Idempotency-Key": "k1"}
    first = await client.post("/plan", json=RFC_REQUEST, headers=key)
    again = await client.post("/plan", json=RFC_REQUEST, headers=key)
    other = await client.post("/plan", json={"goal": "linger"}, headers=key)
    without = await client.post("/plan", json=RFC_REQUEST)

    assert (first.status_code, first.json()) == (200, again.json())
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")
    assert without.json()["plan_id"] != first.json()["plan_id"]


async def test_a_key_is_free_again_when_no_plan_could_be_made(client: httpx2.AsyncClient) -> None:
    key = {"Idempotency-Key": "k1"}
    none = await client.post("/plan", json={"goal": "fly_to_the_moon"}, headers=key)
    some = await client.post("/plan", json=RFC_REQUEST, headers=key)

    assert (none.status_code, some.status_code) == (404, 200)


MODULE = '''
from typing import Any


def check(tag: Any) -> str:
    """Say what it was given."""
    return repr(tag)
'''
BOARD = "sources: []\ncatalogue: {imports: ['http_planned_check:check']}\n"


async def register(client: httpx2.AsyncClient, kind: str) -> str:
    answer = await client.post(
        "/tools/register",
        json={
            "tool_id": "chq_v1",
            "type": "PythonFunction",
            "import": "http_planned_check:check",
            "effect": "read",
            "input_schema": {"tag": kind},
        },
    )
    assert (answer.status_code, answer.json()["unavailable"]) == (201, ""), answer.text
    return answer.json()["tool_id"]


async def test_a_kept_plan_stays_with_the_version_that_it_was_made_for(tmp_path: Path) -> None:
    (tmp_path / "http_planned_check.py").write_text(MODULE)
    async with client_of(a_board(tmp_path, text=BOARD)) as client:
        assert await register(client, "string") == "chq_v1"
        plan = await made(client, goal="chq", params={"tag": "x"})
        assert await register(client, "integer") == "chq_v2"
        kept = (await client.get(f"/plans/{plan['plan_id']}")).json()
        run = (await client.post(f"/plans/{plan['plan_id']}/run", json={})).json()
        ended = (await client.get(f"/runs/{run['run_id']}", params={"wait": 5})).json()
        old = await made(client, goal="chq_v1", params={"tag": "x"})
        new = await made(client, goal="chq", params={"tag": 1})

    assert kept == plan
    assert (kept["steps"][0]["tool_id"], kept["runnable"]) == ("chq_v1", True)
    assert (ended["state"], ended["output"]) == ("completed", {"chq": "'x'"})
    assert [item["steps"][0]["tool_id"] for item in (old, new)] == ["chq_v1", "chq_v2"]
