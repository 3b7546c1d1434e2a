"""Tools belong to families, by the kind of their source."""

import pytest
from tests.assembly.systems import of_source, systems
from tests.registry.made import a_tool

from pegboard.assembly.tool_families import family_of, group_tools
from pegboard.core.principal import LOCAL


@pytest.mark.parametrize(
    ("source", "handler", "family"),
    [
        ("crm", "openapi", "connector"),
        ("shop", "sql", "database"),
        ("files", "mcp", "mcp"),
        ("house", "skills", "skill"),
        ("staff", "agents", "agent"),
        ("std", "builtin", "own"),
    ],
)
def test_the_family_of_a_tool(source: str, handler: str, family: str) -> None:
    assert family_of(of_source(source, "act", handler)) == family


def test_a_tool_that_was_registered_by_hand_is_of_no_system() -> None:
    assert family_of(a_tool("find_order", handler="openapi")) == "own"


def test_the_groups_follow_the_registry() -> None:
    registry = systems()
    before = group_tools(registry, "connector", LOCAL)
    registry.add(of_source("erp", "book", "openapi"))

    assert group_tools(systems(), "own", LOCAL) == {}
    assert list(before) == ["crm", "billing"]
    assert list(group_tools(registry, "connector", LOCAL)["erp"]) == ["book"]
