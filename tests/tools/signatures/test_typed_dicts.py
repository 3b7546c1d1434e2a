"""Tools that take and give `typing.TypedDict`, on every Python."""

import sys
import typing
from typing import Annotated, Any, NotRequired

import pytest
from pydantic import Field

from pegboard import ToolRegistry, tool
from pegboard.errors import ToolArgumentError, ToolSignatureError


class Place(typing.TypedDict):
    """Where something is."""

    x: int
    y: NotRequired[str]


class Options(Place, total=False):
    limit: Annotated[int, Field(ge=1)]


class Tree(typing.TypedDict):
    name: str
    children: "list[Tree]"


@tool(effect="read")
def find(place: Place, options: Options | None = None, more: list[Place] = []) -> dict[str, Place]:  # noqa: B006 - never changed
    """Find."""
    return {"found": place, "more": more[0] if more else place}


@tool(effect="read")
def count(tree: Tree) -> int:
    """Count the nodes."""
    return 1 + sum(count(tree=child) for child in tree["children"])


def call(name: str, **arguments: Any) -> Any:
    return ToolRegistry([find, count]).call_sync(name, arguments)


def test_a_typed_dict_of_typing_is_an_argument_and_a_result() -> None:
    result = call("find", place={"x": 1}, options={"x": 1, "limit": 2}, more=[{"x": 3, "y": "a"}])

    assert result.unwrap() == {"found": {"x": 1}, "more": {"x": 3, "y": "a"}}


def test_required_and_optional_keys_are_kept() -> None:
    schema = ToolRegistry([find]).get("find").spec.input_schema
    shapes = schema["$defs"]

    assert shapes["Place"]["required"] == ["x"]
    assert shapes["Place"]["description"] == "Where something is."
    assert shapes["Options"]["required"] == ["x"]
    assert shapes["Options"]["properties"]["limit"]["minimum"] == 1


@pytest.mark.parametrize(
    "arguments",
    [{"place": {}}, {"place": {"x": "a"}}, {"place": {"x": 1}, "options": {"x": 1, "limit": 0}}],
    ids=["missing", "wrong type", "below the minimum"],
)
def test_values_are_validated(arguments: dict[str, Any]) -> None:
    assert isinstance(call("find", **arguments).error, ToolArgumentError)


def test_a_typed_dict_may_contain_itself() -> None:
    tree = {"name": "a", "children": [{"name": "b", "children": []}, {"name": "c", "children": []}]}

    assert call("count", tree=tree).unwrap() == 3


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic reads such types from 3.12 on")
def test_a_typed_dict_that_names_a_local_class_says_what_to_do() -> None:
    class Inner(typing.TypedDict):
        x: int

    class Outer(typing.TypedDict):
        inner: "Inner"

    def use(item: Outer) -> None: ...

    with pytest.raises(
        ToolSignatureError,
        match=r"use\(\): parameter 'item': the TypedDict 'Outer' names 'Inner', .* module level",
    ):
        ToolRegistry([use])
