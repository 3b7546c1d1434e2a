import json
from typing import Any

import pytest
from tests.network.loopback import always, reply, serving
from tests.sources.openapi.bench import (
    OK,
    bench,
    document,
    json_reply,
    one,
    operation,
)

from pegboard.core.context import ToolContext
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, Status
from pegboard.errors import ToolFailed, Unavailable
from pegboard.sources.openapi.api import manual_operations
from pegboard.sources.openapi.config import ApiAction

TEXT = {"type": "string"}
BEARER = {"kind": "bearer", "token": "s3cret-token"}


def parameter(name: str, place: str = "query", **rest: Any) -> dict[str, Any]:
    return {"name": name, "in": place, "schema": TEXT, **rest}


@pytest.mark.parametrize(
    ("method", "effect", "idempotent", "retries"),
    [
        ("get", Effect.READ, True, 2),
        ("head", Effect.READ, True, 2),
        ("options", Effect.READ, True, 2),
        ("put", Effect.WRITE, True, 2),
        ("delete", Effect.WRITE, True, 2),
        ("post", Effect.WRITE, None, 0),
        ("patch", Effect.WRITE, None, 0),
    ],
)
async def test_the_method_says_what_an_operation_does(
    method: str, effect: Effect, idempotent: bool | None, retries: int
) -> None:
    async with bench(one(method), retries=2) as api:
        spec = api.spec()

    assert (spec.effect, spec.idempotent) == (effect, idempotent)
    assert (spec.retry.max_retries if spec.retry else 0) == retries


@pytest.mark.parametrize(
    ("method", "said", "destructive"),
    [
        ("delete", {}, True),
        ("put", {}, None),
        ("delete", {"destructive": False}, False),
        ("post", {"destructive": True}, True),
    ],
    ids=["delete", "put", "a harmless delete", "a destructive post"],
)
async def test_deletes_destroy_unless_the_operator_says_otherwise(
    method: str, said: dict[str, bool], destructive: bool | None
) -> None:
    async with bench(one(method), overrides={"*": said} if said else {}) as api:
        assert api.spec().destructive is destructive


async def test_the_operator_has_the_last_word_on_a_tool() -> None:
    said = {
        "name": "find", "title": "T", "description": "D", "effect": "read", "timeout": 3,
        "category": "orders", "tags": ["mine"], "capabilities": ["find_order"],
    }  # fmt: skip
    async with bench(one("post", tags=["a"]), overrides={"op": said}, retries=1) as api:
        spec = api.spec("find")

    assert (spec.title, spec.description, spec.category, spec.tags) == (
        "T",
        "D",
        "orders",
        ("mine",),
    )
    assert spec.capabilities == ("find_order",)
    assert (spec.effect, spec.idempotent, spec.timeout) == (Effect.READ, True, 8.0)
    assert spec.retry is not None
    assert (spec.handler, spec.source, spec.action) == ("openapi", "api", "find")


async def test_a_read_that_the_operator_calls_a_write_is_not_repeated() -> None:
    async with bench(one(), overrides={"*": {"effect": "write"}}, retries=3) as api:
        assert (api.spec().idempotent, api.spec().retry) == (None, None)


@pytest.mark.parametrize(
    ("fields", "description"),
    [
        (
            {"summary": "List things", "description": "Newest first."},
            "List things.\n\nNewest first.",
        ),
        ({"summary": "List things."}, "List things."),
        ({"summary": "List", "description": "List."}, "List."),
        ({"description": "Only this"}, "Only this"),
        ({}, "GET /things of Shop."),
        ({"deprecated": True}, "GET /things of Shop.\n\nDeprecated."),
        ({"description": "x" * 5000}, "x" * 1999 + "…"),
    ],
    ids=["both", "summary", "the same twice", "description", "neither", "deprecated", "long"],
)
async def test_a_tool_says_what_the_document_says(fields: dict[str, Any], description: str) -> None:
    async with bench(one(**fields)) as api:
        assert api.spec().description == description
        expected = Status.DEPRECATED if fields.get("deprecated") else Status.ACTIVE
        assert api.spec().status is expected


async def test_credentials_go_with_the_request_and_nowhere_else() -> None:
    schemes = {"key": {"type": "apiKey", "in": "query", "name": "api_key"}}
    described = one(
        parameters=[parameter("api_key"), parameter("q"), parameter("Cookie", "header")],
        security=[{"key": []}],
        components={"securitySchemes": schemes},
    )
    auth = {"kind": "api_key", "key": "s3cret key"}
    async with bench(
        described, always(json_reply({"message": "bad s3cret key"}, status=403)), auth=auth
    ) as api:
        assert list(api.spec().input_schema["properties"]) == ["q"]
        assert api.spec().credential == "api/key"

        result = await api.call(q="x")

        assert api.query == [("q", "x"), ("api_key", "s3cret key")]
        assert isinstance(result.error, ToolFailed)
        assert "'api/key' may not do this" in str(result.error)
        assert "s3cret" not in repr(result)
        assert "s3cret" not in json.dumps(api.spec().to_dict())


async def test_what_needs_a_credential_is_never_sent_without() -> None:
    schemes = {"b": {"type": "http", "scheme": "bearer"}}
    paths = {
        "/open": {"get": operation(operationId="open", security=[])},
        "/closed": {"get": operation(operationId="closed")},
    }
    described = document(paths, security=[{"b": []}], components={"securitySchemes": schemes})
    async with bench(described) as api:
        assert (await api.call("open")).unwrap()
        result = await api.call("closed")

        assert "'b', {kind: bearer, token: ...}" in str(result.error)
        assert len(api.server.requests) == 1
    async with bench(described, auth=BEARER) as api:
        assert (await api.call("open")).unwrap()
        assert "authorization" not in api.last.headers
        assert (await api.call("closed")).unwrap()
        assert api.last.headers["authorization"] == "Bearer s3cret-token"


async def test_headers_of_the_operator_go_with_every_request() -> None:
    node = {"parameters": [parameter("X-Team", "header"), parameter("X-Mine", "header")]}
    async with bench(one(**node), headers={"x-team": "blue-team"}) as api:
        assert list(api.spec().input_schema["properties"]) == ["X-Mine"]
        assert (await api.call()).unwrap()
        assert api.last.headers["x-team"] == "blue-team"


async def test_headers_say_what_call_they_go_with_where_the_operator_says_so() -> None:
    headers = {
        "X-Team": "blue-team",
        "X-Call": "{call.tool} in {call.run_id}",
        "Idempotency-Key": "{call.idempotency_key}",
    }
    async with bench(one(), headers=headers) as api:
        assert (await api.call()).unwrap()
        plain = api.last.headers
        ctx = ToolContext(run_id="r-1", idempotency_key="k")
        assert (await api.registry.call("api__op", {}, ctx)).unwrap()
        told = api.last.headers
        other = ToolContext(
            idempotency_key="k", principal=Principal(id="bob", scopes=frozenset({"*"}))
        )
        assert (await api.registry.call("api__op", {}, other)).unwrap()
        others = api.last.headers

    assert plain["x-team"] == told["x-team"] == "blue-team"
    assert not {"x-call", "idempotency-key"} & plain.keys()
    assert told["x-call"] == "api__op in r-1"
    assert len({told["idempotency-key"], others["idempotency-key"], "k"}) == 3


async def test_an_operation_on_another_server_gets_no_credentials_unasked() -> None:
    async with serving(OK) as other:
        url = f"http://{other.authority}"
        described = one(servers=[{"url": url}]) | {"servers": [{"url": "http://127.0.0.1:9"}]}
        async with bench(described, base_url="", auth=BEARER) as api:
            assert f"credential_origins: [{url}]" in api.spec().unavailable
        async with bench(described, base_url="", auth=BEARER, credential_origins=[url]) as api:
            assert api.spec().unavailable == ""
        async with bench(described, base_url="") as api:
            assert api.spec().unavailable == ""
        assert other.requests == []


async def test_an_operation_without_an_address_says_so() -> None:
    paths = {
        "/a": {"get": operation(operationId="a", servers=[{"url": "https://{x}.test"}])},
        "/b": {"get": operation(operationId="b", servers=[{"url": "https://b.test"}])},
    }
    async with bench(document(paths), base_url="") as api:
        assert "Set server_variables: {x: ...}" in api.spec("a").unavailable
        assert api.spec("b").unavailable == ""


async def test_a_redirect_elsewhere_loses_the_credentials() -> None:
    async with serving(OK) as other:
        moved = reply(b"", status=302, headers={"Location": f"http://{other.authority}/x"})
        auth = [BEARER, {"kind": "api_key", "key": "k3y-value", "in": "header", "name": "X-Key"}]
        headers = {"X-H": "h3ader"}
        async with bench(one(), always(moved), also=other, auth=auth, headers=headers) as api:
            assert (await api.call()).unwrap()
            assert api.last.headers["x-key"] == "k3y-value"
        (received,) = other.requests
        assert not {"authorization", "x-key", "x-h"} & received.headers.keys()


async def test_a_broken_operation_is_listed_with_its_reason() -> None:
    paths = {
        "/a": {"get": operation(operationId="a", parameters=[{"$ref": "#/gone"}])},
        "/b": {"get": operation(operationId="b")},
    }
    async with bench(document(paths)) as api:
        assert api.spec("a").unavailable == "$ref '#/gone' leads to nothing."
        assert isinstance((await api.call("a")).error, Unavailable)
        assert (await api.call("b")).unwrap()


async def test_actions_are_operations_written_by_hand() -> None:
    written = [
        {
            "name": "forecast", "path": "/f/{city}", "description": "Weather.", "tags": ["w"],
            "parameters": [{"name": "city"}, {"name": "days", "schema": {"type": "integer"}}],
        },
        {
            "name": "report", "method": "POST", "path": "/r", "title": "Report",
            "parameters": [{"name": "X-Id", "in": "header", "required": True}],
            "body": {"type": "object", "properties": {"t": {"type": "number"}}},
            "body_required": False,
        },
        {"name": "import", "method": "post", "path": "/i", "body": {}, "body_type": "text/csv"},
    ]  # fmt: skip
    async with bench(None, actions=written) as api:
        assert (await api.call("forecast", city="Rome", days="3")).unwrap()
        assert api.last.path == "/f/Rome?days=3"
        assert (await api.call("report", t=1.5, **{"X-Id": "i"})).unwrap()
        assert (api.body, api.last.headers["x-id"]) == ({"t": 1.5}, "i")
        assert (await api.call("import", body="a,b")).unwrap()
        assert api.last.body == b"a,b"
        assert api.spec("report").description == "Report."


def test_an_action_is_an_operation_like_any_other() -> None:
    action = ApiAction.model_validate({"name": "a", "method": "PUT", "path": "/a/{id}"})

    (found,) = manual_operations([action])

    assert (found.id, found.place, found.body) == ("a", "PUT /a/{id}", None)
    assert [one.name for one in found.parameters] == ["id"]
