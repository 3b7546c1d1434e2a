from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.http.planned import WRITTEN, a_planned_board
from tests.servers.http.routes.test_plans import RFC_PLAN
from tests.servers.http.websocket.sockets import Client, connected, problem_in, served

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
HEARING: dict[str, Any] = {"nodes": [{"id": "hear", "kind": "wait", "wait": {"event": "news"}}]}


@pytest.fixture
async def planned(tmp_path: Path) -> AsyncGenerator[Client]:
    async with (
        a_planned_board(tmp_path) as board,
        served(board) as url,
        connected(url) as client,
    ):
        yield client


async def started(client: Client, graph: dict[str, Any], **params: Any) -> str:
    answer = await client.ask("start_run", body={"graph": graph, "params": params})
    assert answer["status"] == 202, answer
    return answer["body"]["run_id"]


async def kinds_until_waiting(client: Client, request: int) -> None:
    while True:
        event = (await client.until(request, "event"))[0]["event"]
        if event.get("state") == "waiting":
            return


async def test_the_rfcs_plan_is_run_and_followed_on_one_connection(planned: Client) -> None:
    run_id = await started(planned, RFC_PLAN, url="https://example.com")
    request = await planned.send("follow_run", run_id=run_id)

    answer, events = await planned.until(request, "result")
    told = [item["event"] for item in events]
    shown = await planned.ask("show_run", run_id=run_id)

    assert [event["sequence"] for event in told] == list(range(1, len(told) + 1))
    assert (told[0]["kind"], told[-1]["kind"]) == ("run_started", "run_finished")
    assert answer["body"] == {"run_id": run_id, "last": len(told)}
    assert shown["body"]["output"] == {"3": {"summary": "all of https://example.com"}}


async def test_a_run_is_followed_from_an_event_on(planned: Client) -> None:
    run_id = await started(planned, RFC_PLAN, url="https://example.com")
    first = await planned.ask("follow_run", run_id=run_id)
    last = first["body"]["last"]

    request = await planned.send("follow_run", run_id=run_id, after=last - 1)
    _, events = await planned.until(request, "result")

    assert [item["event"]["kind"] for item in events] == ["run_finished"]


async def test_the_same_key_is_the_same_run(planned: Client) -> None:
    body = {"graph": RFC_PLAN, "params": {"url": "https://example.com"}}
    first = await planned.ask("start_run", body=body, key="k")
    again = await planned.ask("start_run", body=body, key="k")
    other = await planned.ask("start_run", body={"graph": LINGERING}, key="k")

    assert first["body"]["run_id"] == again["body"]["run_id"]
    assert problem_in(other)[1:] == ("idempotency_conflict", 409)


async def test_a_run_is_paused_resumed_and_cancelled(planned: Client) -> None:
    run_id = await started(planned, LINGERING)
    for steer in ("pause_run", "resume_run", "cancel_run"):
        assert (await planned.ask(steer, run_id=run_id))["status"] == 200
    await planned.ask("follow_run", run_id=run_id)

    assert (await planned.ask("show_run", run_id=run_id))["body"]["state"] == "cancelled"


async def test_a_run_that_waits_is_told_to_be_what_it_was_steered_to_be(planned: Client) -> None:
    run_id = await started(planned, ASKING)
    request = await planned.send("follow_run", run_id=run_id)
    await kinds_until_waiting(planned, request)
    wishes = ("pause_run", "pause_run", "resume_run", "resume_run", "cancel_run", "cancel_run")
    states = [(await planned.ask(wish, run_id=run_id))["body"]["state"] for wish in wishes]

    assert states == ["paused", "paused", "waiting", "waiting", "cancelled", "cancelled"]


async def test_a_question_of_a_run_is_answered(planned: Client) -> None:
    run_id = await started(planned, ASKING)
    request = await planned.send("follow_run", run_id=run_id)
    await kinds_until_waiting(planned, request)

    pending: list[Any] = []
    while not pending:
        pending = (await planned.ask("show_run", run_id=run_id))["body"]["pending"]
    body = {"pending_id": pending[0]["id"], "answer": "a line"}
    assert (await planned.ask("answer_run", run_id=run_id, body=body))["status"] == 200
    await planned.ask("follow_run", run_id=run_id)

    assert WRITTEN == ["a line"]


async def test_a_run_is_sent_what_it_waits_for(planned: Client) -> None:
    run_id = await started(planned, HEARING)
    body = {"event": "news", "message": {"n": 1}, "id": "m1"}
    assert (await planned.ask("message_run", run_id=run_id, body=body))["status"] == 200
    await planned.ask("follow_run", run_id=run_id)

    assert (await planned.ask("show_run", run_id=run_id))["body"]["output"] == {"hear": {"n": 1}}


async def test_a_plan_that_there_is_not_is_no_run(planned: Client) -> None:
    answer = await planned.ask("start_run", body={"plan_id": "plan_gone"})

    assert problem_in(answer)[1:] == ("plan_not_found", 404)


@pytest.mark.parametrize(
    "type",
    ["show_run", "follow_run", "cancel_run", "pause_run", "resume_run"],
)
async def test_a_run_that_there_is_not_is_told(planned: Client, type: str) -> None:
    assert problem_in(await planned.ask(type, run_id="r_gone"))[1:] == ("run_not_found", 404)


async def test_a_broken_graph_is_told_with_its_faults(planned: Client) -> None:
    answer = await planned.ask("start_run", body={"graph": {"nodes": [{"id": "a", "x": 1}]}})

    assert problem_in(answer)[1:] == ("graph_invalid", 422)
    assert answer["problem"]["problems"][0]["path"] == "nodes[0].x"


async def test_a_call_in_the_background_is_a_run(planned: Client) -> None:
    body = {"name": "write_down", "input": {"line": "$.as it is"}, "async": True}
    answer = await planned.ask("call", body=body)
    await planned.ask("follow_run", run_id=answer["body"]["run_id"])

    assert answer["status"] == 202
    assert WRITTEN == ["$.as it is"]


async def test_an_approval_is_asked_decided_and_the_call_made_again(client: Client) -> None:
    asked = await client.call("refund", invoice=7)
    approval = asked["problem"]["approval_id"]

    decided = await client.ask(
        "decide_approval", approval_id=approval, body={"decision": "approve", "note": "ok"}
    )
    again = await client.ask("decide_approval", approval_id=approval, body={"decision": "deny"})

    assert (decided["body"]["state"], decided["body"]["note"]) == ("approved", "ok")
    assert problem_in(again)[1:] == ("approval_decided", 409)
    assert (await client.call("refund", invoice=7))["body"]["output"] == "refunded 7"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        pytest.param({"name": "nothing"}, ("tool_not_found", 404), id="no such tool"),
        pytest.param({"capability": "flying"}, ("tool_not_found", 404), id="no such capability"),
        pytest.param({"name": "add"}, ("arguments_invalid", 422), id="bad arguments"),
        pytest.param({"name": "refuse"}, ("tool_failed", 502), id="it says no"),
        pytest.param({"name": "busy"}, ("unavailable", 503), id="later"),
        pytest.param(
            {"name": "wait", "execution_config": {"timeout_ms": 20}}, ("timeout", 504), id="late"
        ),
        pytest.param(
            {"name": "add_secret", "input": {"key": "k"}}, ("access_denied", 403), id="denied"
        ),
    ],
)
async def test_a_call_fails_with_the_problem_that_http_gives(
    client: Client, body: dict[str, Any], told: tuple[str, int]
) -> None:
    assert problem_in(await client.ask("call", body=body))[1:] == told


async def test_the_problem_of_a_tool_names_the_call(client: Client) -> None:
    problem = (await client.call("refuse"))["problem"]

    assert problem["detail"] == "Order 17 is already shipped."
    assert problem["metadata"]["call_id"].startswith("c_")
