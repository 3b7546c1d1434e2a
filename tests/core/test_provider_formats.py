"""A spec as data for others."""

import json
from typing import Any

import pytest

from pegboard.core.provider_formats import anthropic_tool, mcp_tool, openai_tool
from pegboard.core.tool import Effect, Limits, Retry, ToolSpec

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
LEAST = {
    "id": "search_v1",
    "name": "search",
    "title": "search",
    "description": "",
    "category": "general",
    "effect": "write",
    "version": "1.0.0",
    "status": "active",
    "source": "",
    "input_schema": SCHEMA,
}


def test_fields_that_say_nothing_are_left_out() -> None:
    assert ToolSpec(name="search", input_schema=SCHEMA).to_dict() == LEAST


@pytest.mark.parametrize(
    ("fields", "data"),
    [
        pytest.param({"idempotent": False}, {"idempotent": False}, id="a no is not nothing"),
        pytest.param({"timeout": 0.0}, {"timeout": 0.0}, id="a zero is not nothing"),
        pytest.param({"tags": ("a", "b")}, {"tags": ["a", "b"]}, id="tuples are lists"),
        pytest.param({"effect": Effect.READ}, {"effect": "read"}, id="enums are their values"),
        pytest.param({"cacheable": True}, {"cache_ttl": 60.0}, id="a cacheable tool has a ttl"),
        pytest.param({"exclusive": True}, {"exclusive": True}, id="exclusive"),
        pytest.param({"title": "Search"}, {"title": "Search"}, id="a title of its own"),
        pytest.param(
            {"limits": Limits(rate=5)},
            {"limits": {"rate": 5, "per": 1.0, "concurrency": None}},
            id="limits",
        ),
        pytest.param(
            {"retry": Retry(max_retries=1, on=(OSError, "timeout"))},
            {
                "retry": {
                    "max_retries": 1,
                    "backoff": 0.2,
                    "max_backoff": 10.0,
                    "on": ["OSError", "timeout"],
                }
            },
            id="a retry names its exceptions",
        ),
    ],
)
def test_a_field_that_says_something_is_there(fields: dict[str, Any], data: dict[str, Any]) -> None:
    exported = ToolSpec(name="search", input_schema=SCHEMA, **fields).to_dict()

    assert exported == LEAST | data
    assert json.loads(json.dumps(exported)) == exported


def test_the_format_of_openai() -> None:
    spec = ToolSpec(name="search", description="Finds things.", input_schema=SCHEMA)

    assert openai_tool(spec) == {
        "type": "function",
        "function": {"name": "search", "description": "Finds things.", "parameters": SCHEMA},
    }


CITY = {"city": "Rome"}


def test_models_are_shown_examples() -> None:
    spec = ToolSpec(
        name="weather", description="The weather.", input_schema=SCHEMA, examples=(CITY,) * 4
    )

    text = openai_tool(spec)["function"]["description"]

    assert text == "The weather." + 3 * '\nExample: {"city":"Rome"}'
    assert anthropic_tool(spec)["description"] == mcp_tool(spec)["description"] == text
    assert spec.to_dict()["examples"] == [CITY] * 4


def test_an_example_without_a_description_is_shown_and_a_long_one_is_not() -> None:
    spec = ToolSpec(name="weather", input_schema=SCHEMA, examples=({"city": "x" * 600}, CITY))

    assert spec.model_description == 'Example: {"city":"Rome"}'


def test_examples_go_before_the_description_is_cut() -> None:
    spec = ToolSpec(name="weather", description="d" * 1_010, input_schema=SCHEMA, examples=(CITY,))

    assert openai_tool(spec)["function"]["description"] == "d" * 1_010
