"""Filters of a search for tools."""

from typing import Any

import pytest
from tests.registry.made import a_tool

from pegboard.core.tool import Effect, Status
from pegboard.registry.search import ToolQuery, matches

SPEC = a_tool(
    capabilities=("refunds", "orders"),
    tags=("money", "eu"),
    category="connector",
    source="shop",
    effect=Effect.WRITE,
    status=Status.DEPRECATED,
).spec


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, True),
        ({"capability": "orders"}, True),
        ({"capability": "order"}, False),
        ({"tags": ("eu", "money")}, True),
        ({"tags": ("eu", "us")}, False),
        ({"category": "connector"}, True),
        ({"category": "web"}, False),
        ({"source": "shop"}, True),
        ({"source": "crm"}, False),
        ({"effect": "write"}, True),
        ({"effect": "read"}, False),
        ({"status": "deprecated"}, True),
        ({"status": "active"}, False),
        ({"source": "shop", "effect": "read"}, False),
        ({"query": "never looked at here"}, True),
    ],
    ids=str,
)
def test_a_tool_passes_when_every_filter_holds(wanted: dict[str, Any], expected: bool) -> None:
    assert matches(SPEC, ToolQuery(**wanted)) is expected
