import pytest
from tests.graphs.boards import a_tool

from pegboard import ToolRegistry
from pegboard.graphs.tool_host import ToolHost, find_tool

BOARD: ToolHost = ToolRegistry([a_tool("search", version="1.2.3"), a_tool("plain")])


@pytest.mark.parametrize(
    ("name", "tool", "missed"),
    [
        ("search", "search", ""),
        ("search_v1", "search", ""),
        ("search@1", "search", ""),
        ("search@1.2", "search", ""),
        ("search@1.2.3", "search", ""),
        ("search@1.20", "search", "1.20"),
        ("search@2", "search", "2"),
        ("nothing", None, ""),
        ("nothing@1", None, ""),
    ],
)
def test_a_pin_is_kept_by_a_version_that_begins_with_it(
    name: str, tool: str | None, missed: str
) -> None:
    there, pin = find_tool(BOARD, name)

    assert (None if there is None else there.spec.name, pin) == (tool, missed)
