import re
from typing import Any

import jsonschema_rs
import pytest

from pegboard import Principal, exports
from pegboard.core.principal import LOCAL
from pegboard.exports.json_formats import openapi_document
from pegboard.registry import ToolRegistry

NAMES = ["weather", "shout", "picture", "balance", "either"]
GUEST = Principal(id="guest")
NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
NOT_AT_THE_TOP = {"anyOf", "oneOf", "allOf", "not", "enum", "$ref"}


def check_input(schema: Any) -> None:
    """What OpenAI and Anthropic ask of a schema."""
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    assert not schema.keys() & NOT_AT_THE_TOP
    jsonschema_rs.Draft202012Validator(schema)


def test_the_chat_format_keeps_what_openai_documents(registry: ToolRegistry) -> None:
    tools = exports.openai_tools(registry)

    assert [item["function"]["name"] for item in tools] == NAMES
    for item in tools:
        assert item.keys() == {"type", "function"}
        assert item["type"] == "function"
        function = item["function"]
        assert NAME.match(function["name"])
        assert len(function["description"]) <= 1024
        check_input(function["parameters"])


def test_the_registry_gives_the_same(registry: ToolRegistry) -> None:
    assert registry.openai_tools() == exports.openai_tools(registry)


def test_the_responses_format_is_flat_and_not_strict(registry: ToolRegistry) -> None:
    tools = exports.openai_response_tools(registry)

    assert [item["name"] for item in tools] == NAMES
    for item in tools:
        assert item.keys() == {"type", "name", "description", "parameters", "strict"}
        assert (item["type"], item["strict"]) == ("function", False)
        assert len(item["description"]) <= 1024
        check_input(item["parameters"])


def test_the_messages_format_keeps_what_anthropic_documents(registry: ToolRegistry) -> None:
    tools = exports.anthropic_tools(registry)

    assert [item["name"] for item in tools] == NAMES
    for item in tools:
        assert item.keys() == {"name", "description", "input_schema"}
        assert NAME.match(item["name"])
        check_input(item["input_schema"])


def test_a_description_that_openai_would_refuse_is_cut_visibly(registry: ToolRegistry) -> None:
    (either,) = [i for i in exports.openai_response_tools(registry) if i["name"] == "either"]

    assert either["description"] == "x" * 1023 + "…"


def test_mcp_has_hints_from_the_effect(registry: ToolRegistry) -> None:
    tools = {item["name"]: item for item in exports.mcp_tools(registry)}

    assert list(tools) == NAMES
    assert tools["weather"]["annotations"] == {"readOnlyHint": True}
    assert tools["either"]["annotations"] == {
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": True,
    }
    assert tools["either"]["title"] == "This or that"
    assert tools["weather"]["outputSchema"]["type"] == "object"
    assert "outputSchema" not in tools["shout"]
    assert "anyOf" in tools["either"]["inputSchema"]


def test_mcp_takes_the_entries(registry: ToolRegistry) -> None:
    from mcp.types import Tool as McpTool

    for item in exports.mcp_tools(registry):
        assert McpTool.model_validate(item).name == item["name"]


@pytest.mark.parametrize(
    "export",
    [
        exports.openai_tools,
        exports.openai_response_tools,
        exports.anthropic_tools,
        exports.mcp_tools,
        exports.json_schemas,
        exports.compact_catalog,
        exports.openapi_document,
    ],
)
def test_nobody_is_told_of_what_they_may_not_see(registry: ToolRegistry, export: Any) -> None:
    assert "balance" in repr(export(registry, principal=LOCAL))
    assert "balance" not in repr(export(registry, principal=GUEST))
    assert "wipe" not in repr(export(registry, principal=LOCAL))


def test_schemas_say_what_they_are_of(registry: ToolRegistry) -> None:
    schemas = exports.json_schemas(registry)

    assert list(schemas) == NAMES
    assert (schemas["shout"]["title"], schemas["shout"]["description"]) == (
        "shout",
        "Say it loudly",
    )


def test_the_catalogue_has_a_line_for_each_tool(registry: ToolRegistry) -> None:
    lines = exports.compact_catalog(registry.exclude("either")).splitlines()

    assert lines == [
        "weather(city, days?, unit?): Forecast the weather of a city",
        "shout(text): Say it loudly",
        "picture(config): Draw",
        "balance(): How much there is",
    ]


def test_a_tool_without_a_description_has_a_line_too() -> None:
    def plain(a: int) -> int:
        return a

    assert exports.compact_catalog(ToolRegistry([plain])) == "plain(a)"


def test_the_document_describes_an_operation_for_each_tool(registry: ToolRegistry) -> None:
    document = openapi_document(registry, title="Shop", version="2.0.0", path="/call/{name}")

    assert document["info"] == {"title": "Shop", "version": "2.0.0"}
    assert list(document["paths"]) == [f"/call/{name}" for name in NAMES]
    operation = document["paths"]["/call/weather"]["post"]
    assert operation["operationId"] == "weather"
    assert operation["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/weather_input"
    }


def test_references_lead_to_where_they_are_in_the_document(registry: ToolRegistry) -> None:
    document = openapi_document(registry)

    either = document["components"]["schemas"]["either_input"]
    assert either["anyOf"][0]["properties"]["a"] == {
        "$ref": "#/components/schemas/either_input/$defs/A"
    }
    schema = {"$ref": "#/components/schemas/either_input", "components": document["components"]}
    validator = jsonschema_rs.Draft202012Validator(schema)
    assert validator.is_valid({"a": 1})
    assert not validator.is_valid({"a": "1"})
