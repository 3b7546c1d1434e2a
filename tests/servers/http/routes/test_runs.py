import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import jsonschema_rs
import pytest
from tests.servers.http.live import live_client, live_settings, until
from tests.servers.http.made import a_board, client_of
from tests.servers.http.planned import HELD, WRITTEN, a_planned_board
from tests.servers.http.routes.test_plans import RFC_PLAN

from pegboard import Retry, Unavailable, tool
from pegboard.features.runs.schemas import RunAnswer

ASKING: dict[str, Any] = {
    "nodes": [
        {"id": "ask", "kind": "wait", "wait": {"question": "Which line?"}},
        {
            "id": "note",
            "tool": "write_down",
            "input": {"line": "$.steps.ask.output"},
            "edges": [{"node": "ask"}],
        },
    ]
}
LINGERING: dict[str, Any] = {"nodes": [{"id": "long", "tool": "linger"}]}


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    async with client_of(a_planned_board(tmp_path)) as opened:
        yield opened


async def start(client: httpx2.AsyncClient, graph: dict[str, Any], **params: Any) -> str:
    answer = await client.post("/runs", json={"graph": graph, "params": params})
    assert answer.status_code == 202, answer.text
    return answer.json()["run_id"]


async def rested(client: httpx2.AsyncClient, run_id: str) -> dict[str, Any]:
    return (await client.get(f"/runs/{run_id}", params={"wait": 8})).json()


async def test_the_rfcs_own_plan_runs_as_it_is_written(client: httpx2.AsyncClient) -> None:
    run = await rested(client, await start(client, RFC_PLAN, url="https://example.com"))

    assert run["state"] == "completed"
    assert run["plan_id"] == "plan_456"
    assert run["task_id"] == "task_123"
    assert run["output"] == {"3": {"summary": "all of https://example.com"}}
    assert [node["state"] for node in run["nodes"]] == ["completed"] * 3


async def test_a_run_is_shown_while_it_goes_on(client: httpx2.AsyncClient) -> None:
    run_id = await start(client, LINGERING)

    async def has_begun() -> bool:
        run = (await client.get(f"/runs/{run_id}")).json()
        return run["nodes"][0]["state"] == "in_progress"

    await until(has_begun)
    run = (await client.get(f"/runs/{run_id}")).json()

    assert run["state"] == "in_progress"
    assert run["nodes"][0]["state"] == "in_progress"
    assert run["nodes"][0]["started_at"] > 0
    late = (await client.get(f"/runs/{run_id}", params={"wait": 0.05})).json()
    assert late["state"] == "in_progress"


async def test_a_run_is_cancelled(client: httpx2.AsyncClient) -> None:
    run_id = await start(client, LINGERING)
    assert (await client.post(f"/runs/{run_id}/cancel")).status_code == 200
    assert (await rested(client, run_id))["state"] == "cancelled"


async def test_a_run_is_paused_and_goes_on(client: httpx2.AsyncClient) -> None:
    two = {
        "nodes": [
            {"id": "a", "tool": "hold"},
            {"id": "b", "tool": "write_down", "input": {"line": "b"}, "edges": [{"node": "a"}]},
        ]
    }
    run_id = await start(client, two)
    await client.post(f"/runs/{run_id}/pause")
    HELD[0].set()
    paused = await rested(client, run_id)
    written = list(WRITTEN)
    await client.post(f"/runs/{run_id}/resume")
    ended = await rested(client, run_id)

    assert (paused["state"], written) == ("paused", [])
    assert (ended["state"], WRITTEN) == ("completed", ["b"])


async def test_a_run_that_waits_is_told_to_be_what_it_was_steered_to_be(
    client: httpx2.AsyncClient,
) -> None:
    run_id = await start(client, ASKING)
    await rested(client, run_id)
    wishes = ("pause", "pause", "resume", "resume", "cancel", "cancel", "pause")
    answers = [await client.post(f"/runs/{run_id}/{wish}") for wish in wishes]

    assert [answer.json()["state"] for answer in answers] == [
        *("paused", "paused", "waiting", "waiting"),
        *("cancelled", "cancelled", "cancelled"),
    ]


async def test_a_question_is_answered_and_the_run_goes_on(client: httpx2.AsyncClient) -> None:
    run_id = await start(client, ASKING)
    waiting = await rested(client, run_id)
    (asked,) = waiting["pending"]
    wrong = await client.post(
        f"/runs/{run_id}/answers", json={"pending_id": "other", "answer": "x"}
    )
    given = await client.post(
        f"/runs/{run_id}/answers", json={"pending_id": asked["id"], "answer": "hello"}
    )
    ended = await rested(client, run_id)

    assert (waiting["state"], asked["kind"], asked["message"]) == (
        "waiting",
        "person",
        "Which line?",
    )
    assert (wrong.status_code, given.status_code) == (400, 200)
    assert (ended["state"], WRITTEN) == ("completed", ["hello"])


async def test_a_message_is_taken_by_the_step_that_waits_for_it(
    client: httpx2.AsyncClient,
) -> None:
    graph = {"nodes": [{"id": "paid", "kind": "wait", "wait": {"event": "payment"}}]}
    run_id = await start(client, graph)
    sent = await client.post(
        f"/runs/{run_id}/messages", json={"event": "payment", "message": {"sum": 5}, "id": "m1"}
    )
    ended = await rested(client, run_id)

    assert sent.status_code == 200
    assert (ended["state"], ended["output"]) == ("completed", {"paid": {"sum": 5}})


async def test_runs_are_listed_page_by_page_newest_first(client: httpx2.AsyncClient) -> None:
    ids = [await start(client, {"nodes": [{"id": "v", "kind": "value"}]}) for _ in range(3)]
    for run_id in ids:
        await rested(client, run_id)
    first = (await client.get("/runs", params={"limit": 2})).json()
    second = (await client.get("/runs", params={"cursor": first["next_cursor"]})).json()
    wrong = await client.get("/runs", params={"cursor": "nowhere"})
    none = (await client.get("/runs", params={"state": "failed"})).json()

    assert [run["run_id"] for run in first["runs"] + second["runs"]] == ids[::-1]
    assert second["next_cursor"] is None
    assert wrong.status_code == 404
    assert none["runs"] == []


async def test_a_graph_with_faults_is_refused_with_all_of_them(
    client: httpx2.AsyncClient,
) -> None:
    graph = {"nodes": [{"id": "a", "tool": "nothing"}, {"id": "b", "tool": "hidden"}]}
    answer = await client.post("/runs", json={"graph": graph})

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "graph_invalid")
    assert {item["path"] for item in problem["problems"]} == {"nodes[0].tool", "nodes[1].tool"}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"plan_id": "p", "graph": {}}, id="both"),
        pytest.param({"plan_id": None}, id="null"),
    ],
)
async def test_a_run_is_of_one_thing(client: httpx2.AsyncClient, body: dict[str, Any]) -> None:
    assert (await client.post("/runs", json=body)).status_code == 422


async def test_what_there_is_not_is_not_found(client: httpx2.AsyncClient) -> None:
    answers = [
        await client.get("/runs/none"),
        await client.get("/runs/none", params={"wait": 1}),
        await client.get("/runs/none/events"),
        await client.post("/runs/none/cancel"),
        await client.post("/runs/none/messages", json={"event": "x"}),
        await client.post("/runs/none/answers", json={"pending_id": "x", "answer": 1}),
        await client.post("/runs", json={"plan_id": "none"}),
    ]

    assert {answer.status_code for answer in answers} == {404}


async def test_a_call_in_the_background_is_a_run_to_poll(client: httpx2.AsyncClient) -> None:
    body = {"tool_id": "web_fetcher_v1", "input": {"url": "$.x"}, "async": True}
    answer = await client.post("/execute", json=body, headers={"Idempotency-Key": "once"})
    again = await client.post("/execute", json=body, headers={"Idempotency-Key": "once"})
    ended = await rested(client, answer.json()["run_id"])

    assert answer.status_code == 202
    assert answer.json()["run_id"] == again.json()["run_id"]
    assert ended["output"] == {"content": "<p>all of $.x</p>"}


async def test_a_call_in_the_background_has_its_time(client: httpx2.AsyncClient) -> None:
    body = {"name": "linger", "async": True, "execution_config": {"timeout_ms": 50}}
    answer = await client.post("/execute", json=body)
    ended = await rested(client, answer.json()["run_id"])

    assert (ended["state"], ended["error"]["code"]) == ("failed", "timeout")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param({"name": "nothing"}, 404, id="an unknown tool"),
        pytest.param({"name": "web_fetcher"}, 422, id="missing input"),
        pytest.param({"name": "web_fetcher", "input": {"url": 5}}, 422, id="wrong input"),
    ],
)
async def test_a_call_that_cannot_be_made_is_refused_at_once(
    client: httpx2.AsyncClient, body: dict[str, Any], status: int
) -> None:
    answer = await client.post("/execute", json={**body, "async": True})

    assert answer.status_code == status


async def followed(
    client: httpx2.AsyncClient, run_id: str, **headers: str
) -> list[tuple[int, str, dict[str, Any]]]:
    events: list[tuple[int, str, dict[str, Any]]] = []
    path = f"/runs/{run_id}/events"
    async with client.stream("GET", path, headers=headers) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        fields: dict[str, str] = {}
        async for line in stream.aiter_lines():
            if not line:
                events.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
                fields = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(": ")
                fields[name] = value
    return events


async def test_a_run_is_followed_over_a_socket_and_taken_up_where_it_broke(tmp_path: Path) -> None:
    async with live_client(live_settings(tmp_path)) as client:
        graph = {
            "nodes": [
                {"id": "a", "tool": "my__linger", "input": {"seconds": 0.2}},
                {"id": "b", "tool": "my__greet", "edges": [{"node": "a"}]},
            ]
        }
        run_id = await start(client, graph)
        events = await followed(client, run_id)
        rest = await followed(client, run_id, **{"Last-Event-ID": "3"})

    assert [number for number, _, _ in events] == list(range(1, len(events) + 1))
    assert events[0][1] == "run_started"
    assert (events[-1][1], events[-1][2]["state"]) == ("run_finished", "completed")
    told = [(data["node"], data["state"]) for _, kind, data in events if kind == "node_changed"]
    assert told.index(("a", "completed")) < told.index(("b", "in_progress"))
    assert rest == events[3:]


@pytest.mark.timeout(60)
async def test_a_run_outlives_its_server(tmp_path: Path) -> None:
    settings = live_settings(tmp_path, data=tmp_path / "data")
    graph = {
        "nodes": [
            {"id": "nap", "kind": "wait", "wait": {"seconds": 0.5}},
            {"id": "b", "tool": "my__greet", "edges": [{"node": "nap"}]},
        ]
    }
    async with live_client(settings) as client:
        run_id = await start(client, graph)
    await asyncio.sleep(0.5)
    async with live_client(settings) as client:
        ended = await rested(client, run_id)

    assert (ended["state"], ended["output"]) == ("completed", {"b": "Hello you!"})


async def test_a_run_is_drawn_as_a_chart_and_as_a_time_line(client: httpx2.AsyncClient) -> None:
    run_id = await start(client, RFC_PLAN, url="https://example.com")
    wait = {"wait": 8}
    chart = await client.get(f"/runs/{run_id}", params={**wait, "format": "svg"})
    line = await client.get(f"/runs/{run_id}", params={**wait, "format": "timeline"})
    text = await client.get(f"/runs/{run_id}", params={"format": "mermaid"})

    assert chart.headers["content-type"] == line.headers["content-type"] == "image/svg+xml"
    assert "marker-end" in chart.text
    assert ": completed" in line.text
    assert "class n0 completed" in text.text


async def test_a_run_is_given_a_thousand_params_at_most(client: httpx2.AsyncClient) -> None:
    params = {f"p{number}": number for number in range(1_001)}
    answer = await client.post("/runs", json={"graph": ASKING, "params": params})

    assert answer.status_code == 422
    assert "1000" in answer.text


async def test_of_four_answers_at_once_three_hear_that_they_are_late(
    client: httpx2.AsyncClient,
) -> None:
    run_id = await start(client, ASKING)
    (asked,) = (await rested(client, run_id))["pending"]
    tasks = [
        asyncio.ensure_future(
            client.post(
                f"/runs/{run_id}/answers", json={"pending_id": asked["id"], "answer": f"line {n}"}
            )
        )
        for n in range(4)
    ]
    await asyncio.wait(tasks)
    answers = sorted((task.result() for task in tasks), key=lambda answer: answer.status_code)

    assert [answer.status_code for answer in answers] == [200, 409, 409, 409]
    assert answers[-1].json()["code"] == "already_answered"


GOOD: list[dict[str, Any]] = [
    LINGERING,
    {"nodes": [{"id": 1, "tool": "linger"}]},
    {"steps": [{"step_id": 1, "tool_id": "linger"}]},
]
BAD: list[dict[str, Any]] = [
    {},
    {"id": "x"},
    {"nodes": []},
    {"steps": []},
    {"nodes": {}},
    {"nodes": [{"tool": "linger"}]},
    {"nodes": [{"id": "", "tool": "linger"}]},
    {"steps": [{"step_id": "a"}]},
    {"nodes": [{"id": "a", "tool": "linger"}], "steps": []},
]


@pytest.mark.slow
async def test_the_document_says_what_a_graph_needs(client: httpx2.AsyncClient) -> None:
    schema = (await client.get("/openapi.json")).json()["components"]["schemas"]["RunBody"]
    bodies = [{"graph": graph} for graph in (*GOOD, *BAD)]

    statuses = [(await client.post("/runs", json=body)).status_code for body in bodies]

    assert [jsonschema_rs.is_valid(schema, body) for body in bodies] == [True] * 3 + [False] * 9
    assert statuses == [202] * 3 + [422] * 9


async def test_a_run_shows_each_try_and_each_wait(tmp_path: Path) -> None:
    failing = iter([True, True, False])

    @tool(effect="read", retry=Retry(max_retries=2, backoff=0))
    def flaky() -> str:
        """Fail twice."""
        if next(failing):
            raise Unavailable("busy")
        return "ok"

    graph = {"nodes": [{"id": "get", "tool": "flaky"}, ASKING["nodes"][0]]}
    async with client_of(a_board(tmp_path, tools=[flaky], text="sources: []")) as client:
        run_id = await start(client, graph)
        waiting = await rested(client, run_id)
        answer = {"pending_id": waiting["pending"][0]["id"], "answer": {"answer": "x"}}
        await client.post(f"/runs/{run_id}/answers", json=answer)
        ended = await rested(client, run_id)

    RunAnswer.model_validate(ended)
    tries = ended["nodes"][0]["tries"]
    assert [item.get("error_code", "") for item in tries] == ["unavailable", "unavailable", ""]
    assert tries[0]["started_at"] <= tries[1]["started_at"] <= tries[2]["started_at"]
    assert [wait["ended_at"] for wait in waiting["waits"]] == [None]
    (wait,) = ended["waits"]
    assert (wait["step"], wait["reason"]) == ("ask", "Which line?")
    assert wait["started_at"] < wait["ended_at"] <= ended["finished_at"]
