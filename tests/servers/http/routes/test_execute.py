import asyncio
from typing import Any

import httpx2
import pytest
from tests.servers.http.made import NOTES

from pegboard import tool
from pegboard.runtime import Pegboard

PROBLEM = "application/problem+json"


async def execute(client: httpx2.AsyncClient, name: str, **given: Any) -> httpx2.Response:
    return await client.post("/execute", json={"name": name, "input": given})


async def test_a_call_is_answered_as_the_rfc_says(client: httpx2.AsyncClient) -> None:
    answer = await execute(client, "add", a=2, b=3)

    body = answer.json()
    assert answer.status_code == 200
    assert body.pop("execution_time_ms") > 0
    assert body["metadata"].pop("call_id").startswith("c_")
    assert body == {
        "tool_id": "add_v1",
        "status": "completed",
        "output": 5,
        "metadata": {"attempts": 1, "cached": False, "replayed": False, "truncated": False},
    }


@pytest.mark.parametrize("path", ["/execute", "/v1/execute"])
@pytest.mark.parametrize(
    "named",
    [
        pytest.param({"name": "add"}, id="by name"),
        pytest.param({"tool_id": "add_v1"}, id="by id"),
        pytest.param({"tool_id": "add"}, id="by name where an id is asked for"),
        pytest.param({"capability": "adding"}, id="by capability"),
    ],
)
async def test_a_tool_is_named_in_one_of_three_ways(
    client: httpx2.AsyncClient, path: str, named: dict[str, str]
) -> None:
    answer = await client.post(path, json={**named, "input": {"a": 1}})

    assert (answer.status_code, answer.json()["output"]) == (200, 1)


async def test_a_capability_that_only_a_hidden_tool_has_is_not_found(
    client: httpx2.AsyncClient, board: Pegboard
) -> None:
    board.registry.remove("add")

    answer = await client.post("/execute", json={"capability": "adding"})

    assert answer.status_code == 404
    assert answer.json()["code"] == "tool_not_found"
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    "named", [{}, {"name": "add", "tool_id": "add_v1"}, {"name": "add", "capability": "adding"}]
)
async def test_a_tool_is_named_exactly_once(
    client: httpx2.AsyncClient, named: dict[str, str]
) -> None:
    answer = await client.post("/execute", json={**named, "input": {"a": 1}})

    assert (answer.status_code, answer.json()["code"]) == (422, "request_invalid")


@pytest.mark.parametrize(
    ("name", "given", "status", "code"),
    [
        ("add", {"a": "x"}, 422, "arguments_invalid"),
        ("add_secret", {"key": "k"}, 403, "access_denied"),
        ("refund", {"invoice": 1}, 409, "approval_required"),
        ("refuse", {}, 502, "tool_failed"),
        ("crash", {}, 502, "tool_failed"),
        ("lie", {}, 502, "output_invalid"),
        ("busy", {}, 503, "unavailable"),
        ("nothing_like_it", {}, 404, "tool_not_found"),
        ("echo", {"value": "pegboard://results/none"}, 404, "handle_not_found"),
    ],
)
async def test_a_failed_call_is_a_problem_with_the_status_of_its_error(
    client: httpx2.AsyncClient, name: str, given: dict[str, Any], status: int, code: str
) -> None:
    answer = await execute(client, name, **given)

    body = answer.json()
    assert answer.status_code == body["status"] == status
    assert answer.headers["content-type"] == PROBLEM
    assert body["code"] == code
    assert body["type"] == f"urn:pegboard:error:{code}"
    assert body["tool_id"] == name
    assert body["metadata"]["call_id"]


async def test_bad_arguments_are_named_one_by_one(client: httpx2.AsyncClient) -> None:
    answer = await execute(client, "add", b=-1, c=1)

    assert [(item["path"], item["kind"]) for item in answer.json()["problems"]] == [
        ("a", "missing"),
        ("b", "value"),
        ("c", "unknown"),
    ]


async def test_what_a_tool_broke_on_is_for_the_operator_alone(
    client: httpx2.AsyncClient, board: Pegboard
) -> None:
    answer = await execute(client, "crash")

    assert "db-7.internal" not in answer.text
    detail = await board.history.detail(answer.json()["error_id"])
    assert detail is not None
    assert "db-7.internal" in detail["detail"]


async def test_a_busy_tool_says_when_to_come_back(client: httpx2.AsyncClient) -> None:
    answer = await execute(client, "busy")

    assert answer.headers["retry-after"] == "7"
    assert answer.json()["retry_after"] == 6.2
    assert answer.json()["retryable"] is True


async def test_a_tool_that_does_not_know_when_it_is_back_is_asked_again_soon(
    client: httpx2.AsyncClient,
) -> None:
    answer = await execute(client, "away")

    assert answer.headers["retry-after"] == "5"
    assert "retry_after" not in answer.json()


async def test_a_limit_is_a_429_that_says_when_to_come_back(client: httpx2.AsyncClient) -> None:
    await execute(client, "rationed")

    answer = await execute(client, "rationed")

    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    assert int(answer.headers["retry-after"]) > 3000


async def test_a_call_has_the_time_that_its_caller_gives(client: httpx2.AsyncClient) -> None:
    answer = await client.post(
        "/execute", json={"name": "wait", "execution_config": {"timeout_ms": 30}}
    )

    assert (answer.status_code, answer.json()["code"]) == (504, "timeout")


async def test_a_caller_may_not_take_longer_than_the_board_allows(tmp_path: Any) -> None:
    from tests.servers.http.made import a_board, client_of

    async with client_of(a_board(tmp_path, call_timeout=0.05)) as client:
        answer = await client.post(
            "/execute", json={"name": "wait", "execution_config": {"timeout_ms": 60_000}}
        )

    assert (answer.status_code, answer.json()["code"]) == (504, "timeout")


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param({"headers": {"Idempotency-Key": "k1"}}, id="in the header"),
        pytest.param({"config": {"idempotency_key": "k1"}}, id="in the body"),
        pytest.param(
            {"headers": {"Idempotency-Key": "k1"}, "config": {"idempotency_key": "k1"}},
            id="in both, the same",
        ),
    ],
)
async def test_a_key_gives_the_first_outcome_again(
    client: httpx2.AsyncClient, sent: dict[str, Any]
) -> None:
    body = {
        "name": "note",
        "input": {"text": "milk"},
        "execution_config": sent.get("config", {}),
    }

    first = await client.post("/execute", json=body, headers=sent.get("headers"))
    again = await client.post("/execute", json=body, headers=sent.get("headers"))

    assert [first.json()["output"], again.json()["output"]] == ["note 1", "note 1"]
    assert [first.json()["metadata"]["replayed"], again.json()["metadata"]["replayed"]] == [
        False,
        True,
    ]
    assert NOTES == ["milk"]


async def test_a_key_with_other_arguments_is_a_conflict(client: httpx2.AsyncClient) -> None:
    key = {"Idempotency-Key": "k1"}
    await client.post("/execute", json={"name": "note", "input": {"text": "a"}}, headers=key)

    answer = await client.post(
        "/execute", json={"name": "note", "input": {"text": "b"}}, headers=key
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_conflict")


async def test_two_different_keys_are_a_conflict(client: httpx2.AsyncClient) -> None:
    answer = await client.post(
        "/execute",
        json={"name": "note", "execution_config": {"idempotency_key": "k1"}},
        headers={"Idempotency-Key": "k2"},
    )

    assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_conflict")


@pytest.mark.parametrize(
    "value", [None, True, 0, -1.5, "text", "", "é\U0001f600", [1, [2]], {"a": {"b": None}}]
)
async def test_a_value_comes_back_as_it_went(client: httpx2.AsyncClient, value: Any) -> None:
    answer = await execute(client, "echo", value=value)

    assert answer.json()["output"] == value


async def test_a_large_result_comes_with_a_handle_to_the_rest(client: httpx2.AsyncClient) -> None:
    body = (await execute(client, "long_list")).json()

    assert body["metadata"]["truncated"] is True
    assert body["metadata"]["total_bytes"] > 1000
    handle = body["metadata"]["handle"].removeprefix("pegboard://results/")
    page = (await client.get(f"/results/{handle}", params={"page": 2})).json()
    assert page["page"] == 2
    assert body["output"].startswith("[0,1,")
    assert page["text"][0].isdigit() or page["text"][0] == ","


async def test_a_handle_is_an_argument_too(client: httpx2.AsyncClient) -> None:
    handle = (await execute(client, "long_list")).json()["metadata"]["handle"]

    answer = await execute(client, "echo", value=handle)

    assert answer.json()["output"] == list(range(1000))


async def test_parts_that_are_not_text_are_typed(client: httpx2.AsyncClient) -> None:
    answer = await execute(client, "picture")

    assert answer.json()["output"] == [
        {"type": "image", "data": "iVBORw==", "media_type": "image/png"}
    ]


async def test_half_of_a_surrogate_pair_is_escaped(client: httpx2.AsyncClient) -> None:
    answer = await execute(client, "half_a_pair")

    assert answer.status_code == 200
    assert '"\\ud800"' in answer.text


async def test_a_model_that_took_part_is_named(client: httpx2.AsyncClient) -> None:
    answer = await execute(client, "think")

    metadata = answer.json()["metadata"]
    assert (metadata["model_used"], metadata["tokens_consumed"], metadata["cost"]) == (
        "tiny-1",
        42,
        0.5,
    )


async def test_calls_run_at_the_same_time(client: httpx2.AsyncClient, board: Pegboard) -> None:
    met = asyncio.Barrier(20)

    @tool(effect="read")
    async def meet() -> None:
        """Wait for nineteen others."""
        await met.wait()

    board.registry.add(meet)
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(execute(client, "meet")) for _ in range(20)]

    assert {call.result().status_code for call in calls} == {200}


async def test_a_call_by_id_is_recorded_under_the_wire_name(
    client: httpx2.AsyncClient, board: Pegboard
) -> None:
    await client.post("/execute", json={"tool_id": "add_v1", "input": {"a": 1}})

    calls = (await client.get("/history")).json()["calls"]
    assert [(call["tool"], call["principal"]) for call in calls] == [("add", "local")]
