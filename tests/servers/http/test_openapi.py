from pathlib import Path
from typing import Any

import httpx2
import pytest
from jsonschema_rs import validator_for
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board, client_of

from pegboard.core.event import CallRecord
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.runtime.sources.state import SourceState
from pegboard.servers.http.models.record_responses import SourceAnswer
from pegboard.servers.http.models.requests import HistoryFilter
from pegboard.servers.http.models.responses import ToolDetail
from pegboard.servers.http.openapi import refusals

PATHS = {
    "/tools": ["get"],
    "/tools/search": ["post"],
    "/tools/{tool}": ["get", "delete"],
    "/tools/{tool}/explain": ["get"],
    "/tools/{tool}/validate": ["post"],
    "/tools/register": ["post"],
    "/tools/bulk": ["post"],
    "/tools/{tool}/versions": ["get"],
    "/tools/{tool}/diff": ["get"],
    "/tools/{tool}/rollback": ["post"],
    "/tools/{tool}/deprecate": ["post"],
    "/tools/{tool}/health": ["get"],
    "/tools/{tool}/replacements": ["get"],
    "/pins": ["get"],
    "/tools/held": ["get"],
    "/tools/held/{source}/{name}": ["get", "post"],
    "/marketplace": ["get"],
    "/marketplace/{marketplace}/{entry}": ["get", "post"],
    "/graph": ["get"],
    "/graph/update": ["post"],
    "/graph/breaks": ["get"],
    "/graph/diff": ["get"],
    "/execute": ["post"],
    "/plan": ["post"],
    "/plan/check": ["post"],
    "/plans/{plan_id}": ["get"],
    "/plans/{plan_id}/run": ["post"],
    "/runs": ["post", "get"],
    "/runs/{run_id}": ["get"],
    "/runs/{run_id}/events": ["get"],
    "/chat": ["post"],
    "/chat/models": ["get"],
    "/agents": ["get"],
    "/chat/completions": ["post"],
    "/responses": ["post"],
    "/models": ["get"],
    "/models/{model}": ["get"],
    "/knowledge": ["get", "post"],
    "/knowledge/{base}": ["get", "patch", "delete"],
    "/knowledge/{base}/deletion": ["get"],
    "/knowledge/{base}/refresh": ["post"],
    "/knowledge/{base}/check": ["post"],
    "/knowledge/{base}/events": ["get"],
    "/knowledge/{base}/ask": ["post"],
    "/knowledge/{base}/asks": ["get"],
    "/knowledge/{base}/asks/{call}": ["get"],
    "/knowledge/{base}/documents": ["get", "post"],
    "/knowledge/{base}/documents/{document}": ["get", "patch", "delete"],
    "/knowledge/{base}/documents/{document}/deletion": ["get"],
    "/knowledge/{base}/documents/{document}/changes": ["get"],
    "/knowledge/{base}/documents/{document}/answers": ["get"],
    "/knowledge/{base}/documents/{document}/retry": ["post"],
    "/knowledge/{base}/documents/{document}/refresh": ["post"],
    "/knowledge/{base}/documents/{document}/review": ["post"],
    "/knowledge/{base}/documents/{document}/text": ["get"],
    "/knowledge/{base}/documents/{document}/pages/{number}.png": ["get"],
    "/knowledge/{base}/documents/{document}/file": ["get"],
    "/files": ["get", "post"],
    "/files/{file}": ["get", "patch", "delete"],
    "/files/{file}/content": ["get"],
    "/uploads": ["post", "get"],
    "/uploads/{upload}": ["get", "patch", "delete"],
    "/uploads/{upload}/finish": ["post"],
    "/conversations": ["get"],
    "/conversations/{id}": ["get", "patch", "delete"],
    "/conversations/{id}/events": ["get"],
    "/conversations/{id}/files": ["get"],
    "/conversations/{id}/files/{path}": ["get"],
    "/conversations/{id}/view/{path}": ["get"],
    "/conversations/{id}/stop": ["post"],
    "/conversations/{id}/questions/{question}": ["post"],
    "/conversations/{id}/queue/{message}": ["delete"],
    "/conversations/{id}/export": ["get"],
    "/conversations/{id}/grants/{grant}": ["delete"],
    "/runs/{run_id}/cancel": ["post"],
    "/runs/{run_id}/pause": ["post"],
    "/runs/{run_id}/resume": ["post"],
    "/runs/{run_id}/answers": ["post"],
    "/runs/{run_id}/questions/{question}": ["post"],
    "/runs/{run_id}/messages": ["post"],
    "/approvals": ["get", "post"],
    "/approvals/{approval}": ["get", "post"],
    "/switches": ["get", "post"],
    "/audit": ["get"],
    "/audit/export": ["get"],
    "/audit/verify": ["get"],
    "/overview": ["get"],
    "/sources": ["get"],
    "/history": ["get"],
    "/history/totals": ["get"],
    "/history/export": ["get"],
    "/history/errors/{error_id}": ["get"],
    "/results/{handle}": ["get"],
    "/session": ["get", "put", "post", "delete"],
    "/session/oidc": ["post"],
    "/oauth-requests": ["post"],
    "/oauth-requests/decision": ["post"],
    "/organisations/{organisation}/roles": ["get"],
    "/organisations/{organisation}/roles/{role}": ["put", "delete"],
    "/source-kinds": ["get"],
    "/organisations/{organisation}/services": ["post"],
    "/organisations/{organisation}/services/{service}/keys": ["get", "post"],
    "/organisations/{organisation}/services/{service}/keys/{key}": ["delete"],
    "/account": ["get", "patch"],
    "/account/sessions": ["get", "delete"],
    "/account/sessions/{session}": ["delete"],
    "/settings": ["get"],
    "/people": ["get"],
    "/people/links": ["post"],
    "/people/link": ["post"],
    "/people/join": ["post"],
    "/people/{person}": ["patch"],
    "/skills": ["get"],
    "/skills/{skill}": ["get"],
    "/resources": ["get", "post"],
    "/resources/{resource}": ["get", "patch", "delete"],
    "/resources/{resource}/test": ["post"],
    "/resources/{resource}/publish": ["post"],
    "/resources/{resource}/withdraw": ["post"],
    "/resources/{resource}/review": ["post"],
    "/resources/{resource}/subscription": ["post", "delete"],
    "/market": ["get"],
    "/organisations": ["get", "post"],
    "/organisations/{organisation}/members": ["get", "post"],
    "/organisations/{organisation}/members/{person}": ["put", "delete"],
    "/credentials": ["get", "post"],
    "/credentials/oauth/start": ["post"],
    "/credentials/rotate": ["post"],
    "/credentials/{credential}": ["patch", "delete"],
    "/keys": ["get", "post"],
    "/quotas": ["get", "put", "delete"],
    "/keys/{key}": ["delete"],
    "/ws/tickets": ["post"],
    "/metrics": ["get"],
    "/healthz": ["get"],
    "/readyz": ["get"],
}


async def document(client: httpx2.AsyncClient) -> dict[str, Any]:
    return (await client.get("/openapi.json")).json()


_DOCUMENT: dict[str, Any] = {}


async def known_document(client: httpx2.AsyncClient) -> dict[str, Any]:
    """The document of a server without a token, which takes its time once."""
    if not _DOCUMENT:
        _DOCUMENT.update(await document(client))
    return _DOCUMENT


def operations(made: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method} {path}": operation
        for path, methods in made["paths"].items()
        for method, operation in methods.items()
    }


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_the_document_names_every_path_once(client: httpx2.AsyncClient) -> None:
    made = await document(client)

    assert {path: list(methods) for path, methods in made["paths"].items()} == PATHS
    assert [server["url"] for server in made["servers"]] == ["/", "/v1"]
    assert await document(client) == (await client.get("/v1/openapi.json")).json()


@pytest.mark.slow
async def test_the_document_points_nowhere_outside(client: httpx2.AsyncClient) -> None:
    text = (await client.get("/openapi.json")).text

    assert "http://" not in text
    assert "https://" not in text
    assert (await client.get("/redoc")).status_code == 404


@pytest.mark.timeout(60)
async def test_every_reference_leads_somewhere(client: httpx2.AsyncClient) -> None:
    made = await known_document(client)

    def references(node: Any) -> set[str]:
        if isinstance(node, dict):
            here = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
            return here.union(*map(references, node.values()))
        return set().union(*map(references, node)) if isinstance(node, list) else set()

    found = references(made)

    assert found
    assert {ref.rpartition("/")[2] for ref in found} <= set(made["components"]["schemas"])


async def test_every_refusal_is_a_problem(client: httpx2.AsyncClient) -> None:
    kinds = {
        kind
        for operation in operations(await known_document(client)).values()
        for status, response in operation["responses"].items()
        if not status.startswith("2") and "openai" not in operation["tags"]
        for kind in response["content"]
    }

    assert kinds == {"application/problem+json"}


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_the_document_asks_for_the_token_where_the_server_does(tmp_path: Path) -> None:
    async with client_of(
        a_board(tmp_path, token=SecretStr(TOKEN)), authorization=f"Bearer {TOKEN}"
    ) as client:
        made = await document(client)

    scheme = made["components"]["securitySchemes"]["token"]
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")
    secured = {name: operation.get("security") for name, operation in operations(made).items()}
    assert {name for name, security in secured.items() if not security} == {
        "get /healthz",
        "get /readyz",
        "get /session",
        "post /session",
        "put /session",
        "delete /session",
        "post /people/link",
        "post /people/join",
    }
    assert "401" in made["paths"]["/tools"]["get"]["responses"]


async def test_a_server_without_a_token_asks_for_none(client: httpx2.AsyncClient) -> None:
    made = await known_document(client)

    assert "securitySchemes" not in made["components"]
    refusing = {name for name, it in operations(made).items() if "401" in it["responses"]}
    assert refusing == {"post /session", "put /session"}


async def test_requests_are_closed(client: httpx2.AsyncClient) -> None:
    schemas = (await known_document(client))["components"]["schemas"]

    for name in ("ExecuteRequest", "ExecutionConfig", "SearchRequest"):
        assert schemas[name]["additionalProperties"] is False
    assert "default" not in schemas["ExecuteRequest"]["properties"]["name"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("method", "path", "sent", "status"),
    [
        ("get", "/tools", {}, 200),
        ("get", "/tools/{tool}", {"tool": "add"}, 200),
        ("get", "/tools/{tool}", {"tool": "think"}, 200),
        ("get", "/tools/{tool}", {"tool": "busy"}, 200),
        ("get", "/tools/{tool}", {"tool": "long_list"}, 200),
        ("get", "/tools/{tool}", {"tool": "nothing"}, 404),
        ("get", "/tools/{tool}/explain", {"tool": "add_secret"}, 200),
        ("post", "/tools/{tool}/validate", {"tool": "add", "json": {"input": {"b": 1}}}, 200),
        ("post", "/tools/search", {"json": {"query": "add"}}, 200),
        ("post", "/execute", {"json": {"name": "add", "input": {"a": 1}}}, 200),
        ("post", "/execute", {"json": {"name": "add"}}, 422),
        ("post", "/execute", {"json": {"name": "busy"}}, 503),
        ("post", "/execute", {"json": {"name": "crash"}}, 502),
        ("post", "/execute", {"json": {"name": "picture"}}, 200),
        ("post", "/execute", {"json": {"name": "think"}}, 200),
        ("post", "/execute", {"json": {"name": "long_list"}}, 200),
        ("post", "/execute", {"json": {"nothing": 1}}, 422),
        ("get", "/overview", {}, 200),
        ("get", "/sources", {"params": {"health": "true"}}, 200),
        ("get", "/history", {}, 200),
        ("get", "/session", {}, 200),
        ("post", "/session", {"json": {"token": "not needed"}}, 200),
        ("get", "/healthz", {}, 200),
        ("get", "/readyz", {}, 200),
    ],
)
async def test_answers_are_what_the_document_says(
    client: httpx2.AsyncClient, method: str, path: str, sent: dict[str, Any], status: int
) -> None:
    made = await known_document(client)
    await client.post("/execute", json={"name": "refuse"})
    path_given = path.format(**sent)

    answer = await client.request(
        method, path_given, json=sent.get("json"), params=sent.get("params")
    )

    kind = answer.headers["content-type"]
    response = made["paths"][path][method]["responses"][str(status)]
    schema = {**response["content"][kind]["schema"], "components": made["components"]}
    assert answer.status_code == status
    assert [error.message for error in validator_for(schema).iter_errors(answer.json())] == []


def test_a_spec_has_no_field_that_the_document_does_not_know() -> None:
    from pegboard.core.tool import Limits, Retry, ToolSpec

    full = ToolSpec(
        name="x",
        input_schema={"type": "object"},
        output_schema={"type": "object"},
        action="x",
        idempotent=True,
        cacheable=True,
        capabilities=("c",),
        supported_tasks=("s",),
        examples=({"a": 1},),
        tags=("t",),
        dependencies=("d",),
        timeout=1,
        retry=Retry(),
        limits=Limits(rate=1),
        source="s",
        handler="h",
        credential="c",
        max_result_bytes=5,
        registered_name="X",
        scopes=("s",),
        exclusive=True,
        unavailable="why",
    )

    assert set(full.to_dict()) <= set(ToolDetail.model_fields)
    ToolDetail.model_validate(full.to_dict())


def test_all_that_is_known_of_a_source_is_in_the_document() -> None:
    known = SourceState(name="shop", kind="openapi").to_dict()

    assert {*known, "health", "health_reason"} == set(SourceAnswer.model_fields)
    SourceAnswer.model_validate(known)


def test_history_is_filtered_by_everything_that_it_can_be_filtered_by() -> None:
    stored = set(HistoryQuery.__struct_fields__) - {"tenant"}
    assert set(HistoryFilter.model_fields) == stored | {"person"}
    assert {"tool", "source", "status", "run_id"} <= set(CallRecord.__struct_fields__)


def test_a_route_refuses_as_it_says_and_as_all_do() -> None:
    assert list(refusals(404)) == [401, 403, 404, 422, 500, 503]
    assert list(refusals(503, open_to_all=True)) == [500, 503]
