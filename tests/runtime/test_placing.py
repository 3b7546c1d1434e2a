from typing import Any

from pegboard.core.ports.source import SourceKind
from pegboard.core.tool import Tool, ToolSpec
from pegboard.registry import ToolRegistry
from pegboard.runtime.board import Board
from pegboard.runtime.placing import Placing
from pegboard.runtime.source_state import Opener, SourceState
from pegboard.tools import SchemaTool, prompt
from pegboard.tools.offers import FunctionPrompt, offer_of


def a_tool(name: str, source: str = "shop") -> Tool:
    async def run(arguments: Any, ctx: Any) -> str:
        return name

    spec = ToolSpec(name=name, input_schema={"type": "object"}, source=source)
    return SchemaTool(spec=spec, run=run)


def a_state(*, remote: bool = False) -> SourceState:
    async def open_it(*_: Any) -> Any:
        raise NotImplementedError

    kind = SourceKind(kind="k", title="K", config=Board, open=open_it, remote=remote)
    return SourceState(name="shop", kind="k", opener=Opener(kind=kind, config=Board()), status="ok")


def test_what_a_source_lists_takes_the_place_of_what_it_listed() -> None:
    registry, state = ToolRegistry([a_tool("other", source="")]), a_state()
    placing = Placing(registry)

    placing.tools(state, [a_tool("shop__a"), a_tool("shop__b")])
    placing.tools(state, [a_tool("shop__b")])

    assert registry.names() == ("other", "shop__b")
    assert [tool.spec.name for tool in state.tools] == ["shop__b"]


def test_a_name_that_is_taken_is_told_and_the_others_are_placed() -> None:
    registry, state = ToolRegistry([a_tool("shop__a", source="")]), a_state()

    Placing(registry).tools(state, [a_tool("shop__a"), a_tool("shop__b")])

    assert [tool.spec.name for tool in state.tools] == ["shop__b"]
    assert state.status == "degraded"
    assert "shop__a" in state.reason


def test_a_remote_source_gets_one_breaker() -> None:
    registry = ToolRegistry()
    placing = Placing(registry)

    placing.tools(a_state(remote=True), [])
    breaker = registry.kit.breakers.get("shop")
    placing.tools(a_state(remote=True), [])

    assert breaker is not None
    assert registry.kit.breakers.get("shop") is breaker


def test_prompts_and_updates_reach_the_registry() -> None:
    @prompt
    def greet() -> str:
        return "hello"

    registry, state = ToolRegistry(), a_state()
    heard: list[tuple[str, str]] = []
    registry.changes.listen(lambda kind, uri: heard.append((kind, uri)))
    made = offer_of(greet)
    assert isinstance(made, FunctionPrompt)

    Placing(registry).offers(state, [], [made.in_source("shop")])
    Placing(registry).updated(state, "docs://a")

    assert [item.spec.name for item in registry.offers.prompts()] == ["shop__greet"]
    assert heard == [("prompts", ""), ("resource", "board://shop/docs://a")]
