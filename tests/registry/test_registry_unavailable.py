from typing import Any

from pegboard import ToolRegistry
from pegboard.access import Policy
from pegboard.core.principal import Principal
from pegboard.core.tool import Status, Tool, ToolSpec
from pegboard.registry.health import why_unavailable
from pegboard.registry.search import ToolQuery
from pegboard.tools import SchemaTool


def a_tool(name: str, **said: Any) -> Tool:
    async def run(arguments: Any, ctx: Any) -> str:
        return name

    return SchemaTool(spec=ToolSpec(name=name, input_schema={"type": "object"}, **said), run=run)


def test_what_cannot_be_used_is_found_by_filters_and_never_when_hidden() -> None:
    registry = ToolRegistry(
        [
            a_tool("well"),
            a_tool("keyless", unavailable="set the key", category="llm"),
            a_tool("off", status=Status.DISABLED),
            a_tool("secret_one", unavailable="set the key"),
        ],
        policy=Policy(deny=("secret_*",)),
    )

    assert [s.name for s in registry.unavailable(ToolQuery(limit=1))] == ["keyless", "off"]
    assert [s.name for s in registry.unavailable(ToolQuery(category="llm"))] == ["keyless"]


def test_the_reason_is_what_the_definition_says() -> None:
    reasons = [
        why_unavailable(tool.spec)
        for tool in (
            a_tool("a"),
            a_tool("b", unavailable="set the key"),
            a_tool("c", status=Status.FAILED),
        )
    ]

    assert reasons == ["", "set the key", "is failed"]


def test_what_is_turned_off_is_found_with_the_reason_by_who_looks_after_the_tools() -> None:
    registry = ToolRegistry([a_tool("shop__find"), a_tool("other")])
    registry.switches.turn_off(tool="shop__*", reason="it charges twice")

    [found] = registry.unavailable()

    assert (found.name, found.unavailable) == ("shop__find", "is turned off: it charges twice")
    assert registry.unavailable(principal=Principal(id="p")) == []
