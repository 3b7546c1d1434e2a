"""What a tool looks like to a client."""

from typing import Any

import jsonschema_rs
import pytest

from pegboard.core.resources_and_prompts import PromptArgument, PromptSpec, ResourceSpec
from pegboard.core.tool import Effect, ToolSpec
from pegboard.servers.mcp.to_mcp import PAGED, to_mcp_prompt, to_mcp_resource, to_mcp_tool

OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
NODE = {
    "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
    "$ref": "#/$defs/Node",
}


def spec(**given: Any) -> ToolSpec:
    fields: dict[str, Any] = {"name": "t", "description": "d", "input_schema": {}, **given}
    return ToolSpec(**fields)


def output(schema: Any, *, paged: bool = False) -> Any:
    return to_mcp_tool(spec(output_schema=schema), paged=paged).body.get("outputSchema")


@pytest.mark.parametrize(
    ("given", "hints"),
    [
        (
            {"effect": Effect.READ, "category": "database"},
            {"readOnlyHint": True, "openWorldHint": False},
        ),
        ({"effect": Effect.READ, "category": "web"}, {"readOnlyHint": True, "openWorldHint": True}),
        (
            {"effect": Effect.WRITE, "idempotent": True},
            {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True},
        ),
        (
            {"effect": Effect.ADMIN},
            {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False},
        ),
        (
            {"effect": Effect.WRITE, "destructive": False},
            {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False},
        ),
        ({"effect": Effect.READ, "destructive": True}, {"readOnlyHint": True}),
    ],
    ids=["read", "web", "write", "admin", "only adds", "reads whatever it says"],
)
def test_hints_come_from_the_effect(given: Any, hints: Any) -> None:
    assert to_mcp_tool(spec(**given), paged=False).body["annotations"] == hints


def test_an_input_is_always_an_object_and_keeps_its_keywords() -> None:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": {"A": {}}}

    shown = to_mcp_tool(spec(input_schema=schema, title="T"), paged=False)

    assert shown.body["inputSchema"] == {"type": "object", **schema}
    assert shown.with_name("other") == {"name": "other", **shown.body}
    assert shown.body["title"] == "T"
    assert not shown.promises


def test_an_object_is_promised_as_it_is() -> None:
    assert output(OBJECT) == OBJECT


@pytest.mark.parametrize("schema", [{"type": "integer"}, {"type": "array"}, {"anyOf": [{}]}, NODE])
def test_what_is_no_object_is_wrapped_into_one(schema: Any) -> None:
    shown = to_mcp_tool(spec(output_schema=schema), paged=False)
    wrapped = shown.body["outputSchema"]

    assert shown.wraps
    assert wrapped["type"] == "object"
    assert wrapped["required"] == ["result"]
    assert wrapped.get("$defs") == schema.get("$defs")


def test_a_wrapped_schema_still_finds_its_definitions() -> None:
    valid = jsonschema_rs.validator_for(output(NODE)).is_valid

    assert valid({"result": {"next": {"next": {}}}})
    assert not valid({"result": {"next": 7}})


@pytest.mark.parametrize("schema", [OBJECT, {"type": "array"}, NODE])
def test_what_may_be_too_large_promises_either_itself_or_where_it_is_stored(schema: Any) -> None:
    valid = jsonschema_rs.validator_for(output(schema, paged=True)).is_valid

    assert valid({"truncated": True, "handle": "pegboard://results/a", "total_bytes": 9})
    assert not valid({"truncated": False, "nonsense": True})


def test_a_number_is_never_too_large() -> None:
    assert PAGED not in output({"type": "integer"}, paged=True).get("anyOf", [])


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {"$ref": "#"}},
        {"type": "array", "items": {"$ref": "other.json"}},
        {"$id": "https://example.org/a", "type": "array"},
    ],
)
def test_a_schema_that_cannot_be_moved_is_not_promised(schema: Any) -> None:
    assert output(schema) is None


def test_a_change_is_seen_in_what_is_shown_alone() -> None:
    one, same = (to_mcp_tool(spec(), paged=False) for _ in range(2))
    other = to_mcp_tool(spec(description="another"), paged=False)

    assert one.body == same.body
    assert one.body != other.body


def test_resources_and_prompts_say_no_more_than_is_known() -> None:
    plain = ResourceSpec(uri="docs://a", name="a", size=7)
    template = ResourceSpec(uri="docs://{a}", name="a", size=7)
    bare = PromptSpec(name="p")
    full = PromptSpec(name="p", title="P", arguments=(PromptArgument(name="x", title="X"),))

    assert to_mcp_resource(plain, "docs://a") == {"uri": "docs://a", "name": "a", "size": 7}
    assert to_mcp_resource(template, "docs://{a}") == {"uriTemplate": "docs://{a}", "name": "a"}
    assert to_mcp_prompt(bare, "p") == {"name": "p"}
    assert to_mcp_prompt(full, "own")["arguments"] == [
        {"name": "x", "title": "X", "required": False}
    ]


@pytest.mark.parametrize("paged", [False, True])
def test_a_root_of_several_types_is_wrapped(paged: bool) -> None:
    shown = output({"type": ["object", "null"]}, paged=paged)

    assert shown["type"] == "object"
    assert shown["x-fastmcp-wrap-result"] is True
    assert jsonschema_rs.validator_for(shown).is_valid({"result": None})


def test_a_paged_schema_keeps_its_dialect() -> None:
    dialect = "http://json-schema.org/draft-07/schema#"

    assert output({"$schema": dialect, **OBJECT}, paged=True)["$schema"] == dialect
    assert output({"$schema": dialect, "type": "integer"})["$schema"] == dialect
