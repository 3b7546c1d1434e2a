"""Whatever people hand over becomes a tool, or says why not."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from pegboard.core.context import ToolContext
from pegboard.core.tool import Effect, Tool, ToolSpec
from pegboard.errors import ToolSignatureError
from pegboard.tools import BaseTool, SchemaTool, as_tool, tool


def undecorated(a: int, b: list[str] | None = None) -> int:
    """Adds."""
    return a


@tool(name="find_it", effect="read")
def decorated(query: str) -> str:
    """Finds."""
    return query


class Shout(BaseTool):
    name = "shout"
    parameters_schema = {"type": "object", "properties": {"text": {"type": "string"}}}

    def run(self, **arguments: Any) -> Any:
        return str(arguments["text"]).upper()


class NeedsName(Shout):
    def __init__(self, name: str) -> None:
        self.name = name


class Method:
    def order(self, item: str) -> str:
        return item

    @tool
    def decorated(self, item: str) -> str:
        return item

    @classmethod
    def create(cls, name: str) -> str:
        return name


class Foreign:
    """A tool of somebody else's making."""

    spec = ToolSpec(name="foreign", input_schema={"type": "object"})
    arguments = "its own reader"

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any], /) -> Any:
        return dict(arguments)


async def _ping(arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> Any:
    return dict(arguments)


PING = SchemaTool(spec=ToolSpec(name="ping", input_schema={}), run=_ping)


def test_an_undecorated_function_counts_as_writing() -> None:
    made = as_tool(undecorated)

    assert (made.spec.name, made.spec.description) == ("undecorated", "Adds.")
    assert made.spec.effect is Effect.WRITE


@pytest.mark.parametrize(
    ("candidate", "name", "action"),
    [
        pytest.param(undecorated, "shop__undecorated", "undecorated", id="function"),
        pytest.param(decorated, "shop__find_it", "find_it", id="decorated function"),
        pytest.param(Method().order, "shop__order", "order", id="method"),
        pytest.param(as_tool(decorated), "shop__find_it", "find_it", id="FunctionTool"),
        pytest.param(PING, "shop__ping", "ping", id="SchemaTool"),
        pytest.param(Shout(), "shop__shout", "shout", id="BaseTool"),
        pytest.param(Shout, "shop__shout", "shout", id="subclass of BaseTool"),
        pytest.param(Foreign(), "shop__foreign", "foreign", id="somebody else's tool"),
        pytest.param(
            as_tool(decorated, source="other"), "shop__find_it", "find_it", id="of another source"
        ),
    ],
)
def test_under_a_source_a_tool_has_the_source_in_its_name(
    candidate: Any, name: str, action: str
) -> None:
    spec = as_tool(candidate, source="shop").spec

    assert (spec.name, spec.action, spec.source) == (name, action, "shop")


@pytest.mark.parametrize(
    "candidate", [decorated, PING, Foreign()], ids=["function", "SchemaTool", "foreign"]
)
def test_a_tool_that_is_in_its_source_stays_as_it_is(candidate: Any) -> None:
    made = as_tool(candidate, source="shop")

    assert as_tool(made, source="shop") is made
    assert as_tool(made) is made


async def test_what_a_foreign_tool_offers_is_kept_under_a_source() -> None:
    made: Any = as_tool(Foreign(), source="shop")

    assert made.arguments == "its own reader"
    assert await made.run({"a": 1}, ToolContext()) == {"a": 1}
    with pytest.raises(AttributeError):
        made.nothing_of_the_kind  # noqa: B018 - reading it is what raises
    with pytest.raises(AttributeError):
        made._secret  # noqa: B018 - reading it is what raises
    assert isinstance(made, Tool)


def test_adopting_leaves_the_decorated_function_its_own_name() -> None:
    as_tool(decorated, source="shop")

    assert as_tool(decorated).spec.name == "find_it"


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        pytest.param(5, "5 is not a tool", id="a number"),
        pytest.param("x.y", "expected a function, a method, or an object", id="a text"),
        pytest.param(NeedsName, "NeedsName cannot be made without arguments", id="a class"),
        pytest.param(BaseTool, "BaseTool cannot be made without arguments", id="abstract class"),
        pytest.param(Foreign, "for a class, give an instance", id="a class with spec and run"),
        pytest.param(Method.order, "is a method: give it bound, as 'object.order'", id="unbound"),
        pytest.param(Method.decorated, "is a method: give it bound", id="unbound, decorated"),
        pytest.param(
            vars(Method)["create"], "for a method of a class, give it as", id="raw class method"
        ),
    ],
)
def test_what_is_no_tool_says_why(candidate: Any, reason: str) -> None:
    with pytest.raises(ToolSignatureError, match=reason):
        as_tool(candidate)


async def test_a_raw_static_method_is_its_function(run: Any) -> None:
    raw = staticmethod(undecorated)

    assert await run(raw, {"a": "5"}) == 5


def test_a_local_function_with_a_parameter_called_self_is_no_method() -> None:
    def greet(self: str) -> str:
        return self

    assert list(as_tool(greet).spec.input_schema["properties"]) == ["self"]


def test_a_type_that_cannot_become_a_schema_is_refused_when_adopted() -> None:
    def find(a: int, b: list[Callable[[], int]]) -> None: ...

    with pytest.raises(ToolSignatureError, match=r"@tool find\(\): parameter 'b' has a type"):
        as_tool(find)


def test_schemas_are_not_built_before_they_are_read() -> None:
    built: list[str] = []

    class Watched(BaseModel):
        a: int

        @classmethod
        def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> Any:
            built.append("schema")
            return handler(core)

    def find(a: Watched) -> None: ...

    as_tool(find)  # a class is tried out once, for all the tools that take it
    built.clear()

    made = as_tool(find)
    assert built == []

    _ = made.spec.input_schema
    assert built
