import json
from pathlib import Path
from typing import Any

import pytest
from tests.network.loopback import Received, always, client_for, reply, serving
from tests.sources.openapi.bench import bench, document, one, operation

from pegboard.core.health import HealthStatus
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import ProblemReporter, Source
from pegboard.errors import SourceUnavailable
from pegboard.network import GuardedClient
from pegboard.sources.openapi import KIND
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.testing import SourceContract

REF = {"$ref": "#/components/schemas/Pet"}
PETS = document(
    {
        "/pets": {
            "get": operation(operationId="list", parameters=[{"name": "limit", "in": "query"}]),
            "post": operation(
                operationId="add",
                requestBody={"content": {"application/json": {"schema": REF}}},
                responses={"201": {"content": {"application/json": {"schema": REF}}}},
            ),
        }
    },
    components={
        "schemas": {"Pet": {"type": "object", "properties": {"friends": {"items": REF}}}},
    },
)


class TestOpenApiSource(SourceContract):
    kind = KIND
    least_tools = 2

    async def open_source(self) -> Source:
        config = OpenApiConfig.model_validate(
            {"document": PETS, "base_url": "http://127.0.0.1:9", "promise_outputs": True}
        )
        return await KIND.open("shop", config, Services(http=GuardedClient()))


async def test_a_board_without_network_says_so() -> None:
    config = OpenApiConfig.model_validate({"document": PETS, "base_url": "https://a.test"})

    with pytest.raises(SourceUnavailable, match="need the network"):
        await KIND.open("shop", config, Services())


async def test_tools_are_made_anew_only_when_the_document_changes(tmp_path: Path) -> None:
    file = tmp_path / "api.json"
    file.write_text(json.dumps(one()))

    async with bench("api.json", base_dir=tmp_path) as api:
        first = await api.source.tools()
        assert await api.source.tools() is first

        file.write_text(json.dumps(PETS))
        assert [tool.spec.action for tool in await api.source.tools()] == ["list", "add"]


async def test_a_document_from_a_url_is_read_again_when_it_changed() -> None:
    documents = [one(), one(), PETS]

    async def answer(_: Received, writer: Any) -> None:
        writer.write(reply(json.dumps(documents.pop(0)).encode()))

    async with serving(answer) as server, client_for(server) as http:
        config = OpenApiConfig.model_validate({"document": f"http://{server.authority}/a.json"})
        source = await KIND.open("api", config, Services(http=http))

        first = await source.tools()

        assert await source.tools() is first
        assert len(await source.tools()) == 2


async def test_health_says_whether_the_api_is_there() -> None:
    async with bench(one(), auth={"kind": "bearer", "token": "s3cret"}) as api:
        assert (await api.source.health()).status is HealthStatus.HEALTHY
        assert (api.last.method, api.last.path, api.last.body) == ("HEAD", "/", b"")
        assert "authorization" not in api.last.headers

    health = await api.source.health()
    assert (health.status, "Cannot reach" in health.reason) == (HealthStatus.UNHEALTHY, True)


@pytest.mark.parametrize(("status", "fine"), [(404, True), (401, True), (500, True), (503, False)])
async def test_any_answer_but_a_broken_gateway_is_healthy(status: int, fine: bool) -> None:
    async with bench(one(), always(reply(b"", status=status))) as api:
        assert ((await api.source.health()).status is HealthStatus.HEALTHY) is fine


async def test_health_tells_what_the_configuration_misses() -> None:
    answer = always(reply(b""))
    async with bench(one(), answer, include={"operations": ["op", "gone"]}) as api:
        health = await api.source.health()
        assert isinstance(api.source, ProblemReporter)
        problems = api.source.problems

    assert health.status is HealthStatus.DEGRADED
    assert health.reason == "include matches nothing for: 'gone'."
    assert problems == [health.reason]


async def test_there_is_no_problem_where_all_is_there() -> None:
    async with bench(one(), always(reply(b""))) as api:
        assert isinstance(api.source, ProblemReporter)
        assert api.source.problems == []


async def test_a_document_without_operations_is_degraded_and_no_error() -> None:
    async with bench(document({}), always(reply(b""))) as api:
        assert list(await api.source.tools()) == []
        assert (await api.source.health()).reason == "The document has no operations."


async def test_before_the_document_is_read_nobody_knows() -> None:
    config = OpenApiConfig.model_validate({"document": PETS})
    source = await KIND.open("api", config, Services(http=GuardedClient()))

    assert (await source.health()).status is HealthStatus.UNKNOWN
