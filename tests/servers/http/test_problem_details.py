import inspect
import json
import logging
from typing import Any

import httpx2
import pytest

from pegboard import errors
from pegboard.errors import (
    PegboardError,
    Problem,
    RateLimited,
    SourceUnavailable,
    ToolArgumentError,
    ToolFailed,
    ToolNotFound,
    Unavailable,
)
from pegboard.servers.http.problem_details import (
    CODES,
    STATUSES,
    error_response,
    http_status,
    internal_error_response,
    problem_response,
    validation_answer,
)

CLASSES = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, PegboardError)
]
PROBLEM = "application/problem+json"


def body_of(answer: Any) -> dict[str, Any]:
    return json.loads(answer.body)


def test_an_error_is_told_as_rfc_9457_says() -> None:
    answer = error_response(ToolNotFound("ad", ("add",)), tool_id="ad")

    assert answer.status_code == 404
    assert answer.headers["content-type"] == PROBLEM
    assert body_of(answer) == {
        "type": "urn:pegboard:error:tool_not_found",
        "title": "Tool not found",
        "status": 404,
        "code": "tool_not_found",
        "detail": "Tool 'ad' not found. Did you mean 'add'?",
        "retryable": False,
        "tool_id": "ad",
    }


def test_what_is_wrong_with_arguments_is_listed() -> None:
    wrong = (Problem(path="a", message="missing", kind="missing"),)

    assert body_of(error_response(ToolArgumentError("add", wrong)))["problems"] == [
        {"path": "a", "message": "missing", "kind": "missing"}
    ]


@pytest.mark.parametrize(
    ("error", "header"),
    [
        (RateLimited("Slowly.", retry_after=0.01), "1"),
        (RateLimited("Slowly.", retry_after=2.2), "3"),
        (Unavailable("Away."), "5"),
    ],
)
def test_a_retry_is_never_asked_for_too_soon(error: Unavailable, header: str) -> None:
    assert error_response(error).headers["retry-after"] == header


def test_what_does_not_pass_has_no_time_to_come_back() -> None:
    assert "retry-after" not in error_response(ToolFailed("No.")).headers


def test_what_only_the_operator_can_mend_is_not_asked_for_again() -> None:
    answer = error_response(SourceUnavailable("An extra is missing.", permanent=True))

    assert answer.status_code == 503
    assert body_of(answer)["retryable"] is False
    assert "retry-after" not in answer.headers


def test_the_cause_of_an_error_is_not_told() -> None:
    error = ToolFailed("The printer said no.", error_id="e_1")
    error.__cause__ = RuntimeError("password=hunter2")

    assert "hunter2" not in str(body_of(error_response(error)))
    assert body_of(error_response(error))["error_id"] == "e_1"


def test_a_500_tells_an_id_and_the_log_the_rest(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "pegboard.http"):
        answer = internal_error_response(RuntimeError("password=hunter2"), during="GET /tools")

    body = body_of(answer)
    assert answer.status_code == 500
    assert "hunter2" not in str(body)
    assert body["error_id"] in caplog.text
    assert "hunter2" in caplog.text


def test_a_status_without_a_code_of_its_own_has_a_general_one() -> None:
    assert body_of(problem_response(418, "No coffee."))["code"] == "request_invalid"
    assert body_of(problem_response(507, "No room."))["code"] == "internal"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("GET", "/tools/", 404, "not_found"),
        ("GET", "/v2/tools", 404, "not_found"),
        ("DELETE", "/tools", 405, "method_not_allowed"),
        ("OPTIONS", "/execute", 405, "method_not_allowed"),
        ("GET", "/tools?limit=0", 422, "request_invalid"),
        ("GET", "/tools?limit=many", 422, "request_invalid"),
        ("GET", "/tools?nothing=1", 422, "request_invalid"),
        ("GET", "/tools?effect=magic", 422, "request_invalid"),
        ("GET", "/results/x?page=0", 422, "request_invalid"),
        ("GET", "/history?since=nan", 422, "request_invalid"),
    ],
)
async def test_what_the_framework_refuses_is_a_problem_too(
    client: httpx2.AsyncClient, method: str, path: str, status: int, code: str
) -> None:
    answer = await client.request(method, path)

    body = answer.json()
    assert answer.headers["content-type"] == PROBLEM
    assert (answer.status_code, body["status"], body["code"]) == (status, status, code)
    assert body["title"]
    assert body["retryable"] is False


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/tools", "GET"),
        ("/tools/search", "POST"),
        ("/tools/add", "DELETE, GET"),
        ("/v1/execute", "POST"),
    ],
)
async def test_a_wrong_method_is_told_the_right_ones(
    client: httpx2.AsyncClient, path: str, allowed: str
) -> None:
    answer = await client.put(path)

    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


async def test_a_request_that_does_not_fit_is_told_where_and_not_repeated(
    client: httpx2.AsyncClient,
) -> None:
    answer = await client.post(
        "/execute",
        json={"name": "add", "execution_config": {"timeout_ms": "hunter2"}, "passwort": "hunter2"},
    )

    assert answer.status_code == 422
    assert "hunter2" not in answer.text
    assert answer.json()["problems"] == [
        {
            "path": "body.execution_config.timeout_ms",
            "message": "expected a number",
            "kind": "value",
        },
        {
            "path": "body.passwort",
            "message": "unknown key; known are async, capability, execution_config, input, name, "
            "tool_id",
            "kind": "unknown",
        },
    ]


async def test_a_list_is_told_by_its_place(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/tools/search", json={"tags": ["a", 1]})

    assert [item["path"] for item in answer.json()["problems"]] == ["body.tags[1]"]


async def test_a_rule_of_the_whole_request_is_told_in_its_own_words(
    client: httpx2.AsyncClient,
) -> None:
    answer = await client.post("/execute", json={})

    assert answer.json()["problems"] == [
        {
            "path": "body",
            "message": "Give exactly one of 'tool_id', 'name' and 'capability'",
            "kind": "value",
        }
    ]


@pytest.mark.parametrize(
    ("body", "loc", "kind", "path"),
    [
        pytest.param({"kind": "a"}, ("a", "name"), "missing", "body.name", id="missing in a form"),
        pytest.param({"a": 1}, ("a", "name"), "missing", "body.name", id="called as a field is"),
        pytest.param({"a": 1, "b": 2}, ("a", "b"), "value", "body.b", id="as a field beside it"),
        pytest.param({"a": {"b": 1}}, ("a", "b"), "value", "body.a.b", id="a field, and no form"),
        pytest.param({"a": {}}, ("a", "b"), "missing", "body.a.b", id="missing in a field"),
        pytest.param({"a": "x"}, ("x", "a"), "extra_forbidden", "body.a", id="unknown in a form"),
        pytest.param({"a": 1}, ("a", "a"), "extra_forbidden", "body.a", id="unknown, as its form"),
        pytest.param({"a": ""}, ("a", "constrained-str"), "value", "body.a", id="of a text"),
        pytest.param({"a": [{}]}, ("a", 0, "x", "b"), "missing", "body.a[0].b", id="in a list"),
        pytest.param({"a": [1]}, ("a", 3), "value", "body.a", id="nowhere in a list"),
        pytest.param(None, ("a", "b"), "value", "body.a.b", id="of a body that is not known"),
    ],
)
def test_only_what_was_sent_is_named_as_a_place(
    body: Any, loc: tuple[str | int, ...], kind: str, path: str
) -> None:
    said = validation_answer([{"loc": ("body", *loc), "msg": "m", "type": kind}], body=body)

    [found] = said.body["problems"]
    assert found["path"] == path


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_has_a_row_of_its_own(kind: type[PegboardError]) -> None:
    assert kind in STATUSES


def test_the_table_names_nothing_that_is_no_error_of_ours() -> None:
    assert set(STATUSES) == set(CLASSES)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_what_may_pass_later_is_told_apart_from_what_does_not(kind: type[PegboardError]) -> None:
    is_in_progress = kind is errors.IdempotencyInProgress  # a 409, and yet retryable
    is_spent = kind is errors.QuotaExceeded  # of no use before its window ends
    is_later = STATUSES[kind] in {429, 503, 504} and not is_spent
    assert (is_later or is_in_progress) is kind.retryable


def test_a_class_of_somebody_else_has_the_status_of_its_parent() -> None:
    class _OutOfPaper(ToolFailed):
        code = "out_of_paper"

    assert http_status(_OutOfPaper("No paper.")) == 502


def test_a_code_stands_for_one_status_or_one_class() -> None:
    ours = {kind.code for kind in CLASSES}

    assert {code for code in CODES.values() if code in ours} == {"request_invalid", "access_denied"}
