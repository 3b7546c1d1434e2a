"""Rules follow what runs: a function under a second name, in a registry and its views."""

from functools import partial
from typing import Any

import pytest

from pegboard import ToolRegistry, tool
from pegboard.access import Policy
from pegboard.core.decision import Verdict
from pegboard.core.tool import Limits, Tool
from pegboard.tools import as_tool
from pegboard.tools.function_tool import FunctionTool
from pegboard.tools.signatures.signature import read_signature


def danger(n: int = 1) -> str:
    """Remove everything."""
    return f"removed {n}"


def name_it(function: Any, name: str) -> Tool:
    """The tool of a function under another name; the function is not marked."""
    return FunctionTool(function, read_signature(function), options={"name": name})


async def code_of(registry: ToolRegistry, name: str) -> str:
    """The code of the error of a call; empty for none."""
    error = (await registry.call(name)).error
    return "" if error is None else error.code


async def test_a_function_under_another_name_is_denied_as_under_its_own() -> None:
    registry = ToolRegistry([name_it(danger, "harmless")], policy=Policy(deny=("danger",)))

    assert await code_of(registry, "harmless") == "access_denied"
    assert registry.visible() == []


async def test_a_decorated_function_with_another_name_too() -> None:
    @tool(name="harmless")
    def wipe() -> str:
        return "wiped"

    registry = ToolRegistry([wipe], policy=Policy(ask=("wipe",)))

    assert await code_of(registry, "harmless") == "approval_required"


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")])
async def test_the_rule_of_one_name_holds_for_the_other_in_any_order(
    order: tuple[str, str],
) -> None:
    registry = ToolRegistry(policy=Policy(deny=("first",)))
    for name in order:
        registry.add(name_it(danger, name))

    assert [await code_of(registry, name) for name in order] == ["access_denied"] * 2


async def test_a_call_that_was_allowed_is_denied_once_the_function_has_a_denied_name() -> None:
    registry = ToolRegistry([name_it(danger, "second")], policy=Policy(deny=("first",)))
    before = await code_of(registry, "second")

    registry.add(name_it(danger, "first"))
    during = await code_of(registry, "second")
    registry.remove("first")

    assert [before, during, await code_of(registry, "second")] == ["", "access_denied", ""]


async def test_an_allow_rule_does_not_follow() -> None:
    policy = Policy(allow=("first",), effects=dict.fromkeys(Policy().effects, Verdict.DENY))
    registry = ToolRegistry([name_it(danger, "first"), name_it(danger, "second")], policy=policy)

    assert await code_of(registry, "first") == ""
    assert await code_of(registry, "second") == "access_denied"


async def test_views_and_other_policies_follow_too() -> None:
    registry = ToolRegistry([name_it(danger, "first"), name_it(danger, "second")])

    view = registry.with_policy(Policy(deny=("first",))).only("second").prefixed("my_")

    assert await code_of(view, "my_second") == "access_denied"
    assert await code_of(registry, "second") == ""


async def test_a_partial_runs_its_function_and_its_rules_do_not_reach_others() -> None:
    here, there = partial(danger, n=1), partial(danger, n=2)
    tools = [name_it(danger, "all"), name_it(here, "here"), name_it(there, "there")]

    whole = ToolRegistry(tools, policy=Policy(deny=("all",)))
    one = ToolRegistry(tools, policy=Policy(deny=("here",)))

    assert [await code_of(whole, name) for name in whole.names()] == ["access_denied"] * 3
    assert [await code_of(one, name) for name in one.names()] == ["", "access_denied", ""]


class Shop:
    """Has a method that is a tool of each shop."""

    def wipe(self) -> str:
        """Remove everything."""
        return "wiped"


async def test_a_method_is_another_one_for_each_object() -> None:
    one, two = Shop(), Shop()
    tools = [name_it(one.wipe, "a"), name_it(one.wipe, "b"), name_it(two.wipe, "c")]
    registry = ToolRegistry(tools, policy=Policy(deny=("a",)))

    codes = [await code_of(registry, name) for name in "abc"]

    assert codes == ["access_denied", "access_denied", ""]


@pytest.mark.slow
def test_ten_thousand_names_of_one_function_cost_one_match_of_each_rule() -> None:
    policy = Policy(deny=("none_*",), limits={"nope": Limits(rate=1)})
    registry = ToolRegistry(policy=policy)
    for number in range(10_000):
        registry.add(name_it(danger, f"t{number}"))

    assert len(registry.visible()) == 10_000


def test_a_reloaded_function_is_the_same_one() -> None:
    again: dict[str, Any] = {"__name__": __name__}
    exec("def danger():\n    return 'again'", again)

    assert as_tool(again["danger"]).spec.target == as_tool(danger).spec.target
