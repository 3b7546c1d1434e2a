from tests.planning.board import a_tool

from pegboard.core.principal import LOCAL, Principal
from pegboard.planning.available_tools import AvailableTools
from pegboard.registry import ToolRegistry


def test_a_tool_whose_id_is_the_name_of_another_goes_by_its_name() -> None:
    tools = [a_tool("find", {}), a_tool("find_v1", {}), a_tool("other", {})]
    stock = AvailableTools(ToolRegistry(tools), LOCAL, lambda _: ())

    assert [stock.id_of(tool) for tool in tools] == ["find", "find_v1_v1", "other_v1"]


def test_what_runs_before_a_tool_is_all_that_it_needs_however_far_away() -> None:
    needs = {"c_v1": ("b_v1", "gone_v1"), "b_v1": ("a_v1",), "a_v1": ("c_v1",)}
    tools = [a_tool(name, {}) for name in ("a", "b", "c")]
    stock = AvailableTools(ToolRegistry(tools), LOCAL, lambda tool: needs.get(tool, ()))

    assert stock.runs_before(tools[1]) == {"a_v1", "b_v1", "c_v1"}


def test_what_the_caller_may_not_call_is_not_found() -> None:
    registry = ToolRegistry([a_tool("vault", {}, scopes=("vault",))])
    guest = AvailableTools(registry, Principal(id="guest", scopes=frozenset()), lambda _: ())

    assert (guest.find("vault_v1"), guest.tools) == (None, [])
