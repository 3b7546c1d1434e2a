"""Documents that nobody here wrote, imported whole."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tests.peers.node import PEERS

from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.core.wire_names import is_wire_name
from pegboard.network import GuardedClient
from pegboard.sources.openapi import KIND
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.document.operations import METHODS
from pegboard.sources.openapi.schema.definitions import MAX_SCHEMA_BYTES

MODULES = PEERS / "node_modules"
EXAMPLES = MODULES / "@readme" / "oas-examples"
GITHUB = MODULES / "@octokit" / "openapi" / "generated" / "api.github.com.json"
RCLONE = MODULES / "rclone-openapi"
NAMES = sorted(
    path.relative_to(EXAMPLES).as_posix()
    for version in ("2.0", "3.0", "3.1")
    for path in (EXAMPLES / version).rglob("*.*")
    if path.suffix in (".json", ".yaml")
)

pytestmark = pytest.mark.skipif(not MODULES.is_dir(), reason="`make peers` installs the documents")


async def imported(path: Path, **config: Any) -> Sequence[Tool]:
    given = {"document": str(path), "base_url": "https://api.example.com", **config}
    services = Services(http=GuardedClient())
    source = await KIND.open("api", OpenApiConfig.model_validate(given), services)
    return await source.tools()


def count(path: Path) -> int:
    paths: dict[str, Any] = json.loads(path.read_bytes()).get("paths", {})
    items = [
        paths[item["$ref"].removeprefix("#/paths/").replace("~1", "/")] if "$ref" in item else item
        for item in paths.values()
    ]
    return sum(method in METHODS for item in items for method in item)


def check(tools: Sequence[Tool]) -> None:
    names = [tool.spec.name for tool in tools]
    assert len(set(names)) == len(names)
    for tool in tools:
        assert is_wire_name(tool.spec.name)
        schemas = [tool.spec.input_schema, tool.spec.output_schema or {}]
        assert schemas[0]["type"] == "object"
        assert schemas[0]["additionalProperties"] is False
        for schema in schemas:
            text = json.dumps(schema)
            assert len(text) <= MAX_SCHEMA_BYTES * 1.2  # a little white space
            jsonschema_rs.Draft202012Validator(json.loads(text), retriever=nothing)


def nothing(uri: str) -> Any:
    raise ValueError(f"{uri} is outside of the schema")


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_github_imports_whole() -> None:
    began = time.process_time()
    tools = await imported(GITHUB, promise_outputs=True)
    listed = time.process_time() - began

    assert len(tools) == count(GITHUB) > 1000
    assert [tool.spec.unavailable for tool in tools if tool.spec.unavailable] == []
    check(tools)
    assert listed < 5  # it takes about half a second; a busy machine may take longer


@pytest.mark.parametrize("name", NAMES)
async def test_an_example_imports_whole(name: str) -> None:
    tools = await imported(EXAMPLES / name, promise_outputs=True, auth={"kind": "none"})

    twin = EXAMPLES / name.replace("yaml", "json")
    assert len(tools) == count(twin)
    check(tools)


@pytest.mark.skipif(not RCLONE.is_dir(), reason="`make peers` installs the documents")
async def test_one_document_in_json_and_in_yaml_makes_the_same_tools() -> None:
    of_json, of_yaml = [
        await imported(RCLONE / f"openapi.{ending}", promise_outputs=True)
        for ending in ("json", "yaml")
    ]

    assert len(of_json) == count(RCLONE / "openapi.json") > 100
    check(of_json)
    assert [shown(tool) for tool in of_yaml] == [shown(tool) for tool in of_json]


def shown(tool: Tool) -> tuple[object, ...]:
    spec = tool.spec
    return spec.name, spec.description, spec.input_schema, spec.output_schema


def test_there_are_examples_of_every_version() -> None:
    assert {name.partition("/")[0] for name in NAMES} == {"2.0", "3.0", "3.1"}
    assert len([name for name in NAMES if name.endswith(".json")]) >= 56
