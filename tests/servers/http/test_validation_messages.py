"""What is wrong with a request is told as arguments of tools are: the place and what is wanted."""

from typing import Any

import httpx2
import pytest
from fastapi import Request

from pegboard.servers.http.validation_messages import schema_of, validation_message

OBJECT = {"type": "object", "properties": {name: {} for name in "abcdefghij"}}


@pytest.mark.parametrize(
    ("path", "body", "problems"),
    [
        pytest.param(
            "/plan",
            {"chain": ["a"]},
            {"body.chain[0]": "expected an object with tool_id, input_mapping"},
            id="texts where a chain has objects",
        ),
        pytest.param(
            "/plan",
            {"chain": [{"tool": "a", "input_mapping": {}}]},
            {
                "body.chain[0].tool_id": "missing, required (Name or id.)",
                "body.chain[0].tool": "unknown key; did you mean 'tool_id'?",
            },
            id="another key in a chain",
        ),
        pytest.param(
            "/plan", {"chain": "a"}, {"body.chain": "expected an array"}, id="no chain at all"
        ),
        pytest.param(
            "/plan",
            {"gaol": "a"},
            {"body.gaol": "unknown key; did you mean 'goal'?"},
            id="a key that is misspelt",
        ),
        pytest.param(
            "/tools/bulk",
            {"tools": [{"tool_id": "a_v1", "type": "RestAPI"}, "b"]},
            {
                "body.tools[1]": "expected an object with tool_id, name, description, type, "
                "capabilities, supported_tasks, examples, tags, …"
            },
            id="a text among many tools",
        ),
        pytest.param(
            "/tools/bulk",
            {
                "tools": [
                    {"tool_id": "a_v1", "typ": "RestAPI"},
                    {"tool_id": "b_v1", "type": "RestAPI", "retry_policy": {"max_retry": 2}},
                ]
            },
            {
                "body.tools[0].type": "missing, required (The kind of source that runs it.)",
                "body.tools[0].typ": "unknown key; did you mean 'type'?",
                "body.tools[1].retry_policy.max_retry": "unknown key; did you mean 'max_retries'?",
            },
            id="keys of many tools",
        ),
        pytest.param(
            "/tools/bulk", [], {"body": "expected an object with tools"}, id="no object at all"
        ),
    ],
)
async def test_a_fault_of_a_body_says_what_is_wanted(
    client: httpx2.AsyncClient, path: str, body: Any, problems: dict[str, str]
) -> None:
    answer = await client.post(path, json=body)

    assert answer.status_code == 422
    assert {item["path"]: item["message"] for item in answer.json()["problems"]} == problems


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("/runs?stat=failed", "query.stat: unknown parameter; did you mean 'state'?"),
        ("/runs?limit=many", "query.limit: expected a valid integer"),
        ("/runs/r/events?after=x", "query.after: expected a valid integer"),
    ],
)
async def test_a_fault_of_a_query_says_what_is_wanted(
    client: httpx2.AsyncClient, url: str, said: str
) -> None:
    answer = await client.get(url)

    assert said in answer.json()["detail"]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"type": "extra_forbidden", "msg": ""}, "unknown key"),
        ({"type": "missing", "msg": ""}, "missing, required"),
        ({"type": "value_error", "msg": "Value error, Write a day."}, "Write a day."),
        ({"type": "dict_type", "msg": ""}, "expected an object"),
    ],
    ids=lambda it: it["type"] if isinstance(it, dict) else "",
)
def test_where_no_schema_is_known_no_key_is_named(fault: dict[str, Any], said: str) -> None:
    assert validation_message(fault, ("body", "x"), {}) == said


async def test_what_was_sent_is_not_said_back(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/switches", json={"turn": "off", "kind": "hunter2"})

    (problem,) = answer.json()["problems"]
    assert problem["message"] == (
        "'kind' does not match any of the expected tags: 'tool', 'source', 'writes'"
    )
    assert "hunter2" not in answer.text


def test_of_very_many_keys_the_first_are_named() -> None:
    fault = {"type": "dict_type", "msg": ""}

    assert (
        validation_message(fault, (), OBJECT) == "expected an object with a, b, c, d, e, f, g, h, …"
    )


def test_a_request_that_no_route_has_taken_has_no_schema() -> None:
    assert schema_of(Request({"type": "http"})) == {}
