"""`call_tool` is the inner call, and `find_tools` finds what the caller may see."""

import pytest
from msgspec import json
from tests.assembly.made import a_selector, deny, many_tools
from tests.assembly.systems import route

from pegboard.assembly import find_tools
from pegboard.assembly.inner_calls import unwrap_call
from pegboard.core.model_messages import ToolCall
from pegboard.core.principal import LOCAL
from pegboard.errors import InvalidRequest
from pegboard.registry.toolset import Toolset


def a_call(arguments: str, name: str = "call_tool") -> ToolCall:
    return ToolCall(id="c1", name=name, arguments=arguments)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"name": "add", "arguments": {"a": 1}}', '{"a":1}'),
        ('{"name": "add", "arguments": "{\\"a\\": 1}"}', '{"a": 1}'),
        ('{"name": "add"}', "{}"),
        ('{"name": "add", "arguments": null}', "{}"),
        ('{"name": "add", "arguments": ""}', "{}"),
    ],
)
def test_call_tool_is_the_inner_call(arguments: str, expected: str) -> None:
    inner = route(a_toolset(), "call_tool", arguments)

    assert isinstance(inner, ToolCall)
    assert (inner.id, inner.name, inner.arguments) == ("c1", "add", expected)
    assert unwrap_call(a_call(arguments)) == inner


def test_another_call_is_left_as_it_is() -> None:
    call = a_call('{"name": "x"}', name="add")

    assert unwrap_call(call) is call


@pytest.mark.parametrize("arguments", ["{", "{}", "[]", '{"name": 1}', '{"name": "a", "b": 1}'])
def test_a_call_that_names_no_tool_is_refused_with_what_it_takes(arguments: str) -> None:
    with pytest.raises(InvalidRequest, match="call_tool takes 'name'"):
        route(a_toolset(), "call_tool", arguments)


def a_toolset() -> Toolset:
    selector = a_selector(
        many_tools(policy=deny("invoice__create")),
        reaches=lambda tool: tool.spec.name != "ticket__delete",
    )
    return selector.assemble(selector.select(""))


def test_tools_are_found_with_their_schema() -> None:
    text = find_tools(a_toolset(), {"query": "delete invoice", "limit": 1}, LOCAL)

    assert json.decode(text) == {
        "name": "invoice__delete",
        "description": "Delete one invoice.",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": True},
    }


def test_hidden_tools_and_those_out_of_reach_are_not_found() -> None:
    text = find_tools(a_toolset(), {"query": "invoice ticket", "limit": 20}, LOCAL)

    assert "invoice__create" not in text
    assert "ticket__delete" not in text
    assert "ticket__create" in text


def test_nothing_found_is_said() -> None:
    assert "No tool fits" in find_tools(a_toolset(), {"query": "quantum"}, LOCAL)


@pytest.mark.parametrize("arguments", [{}, {"query": 1}, {"query": "a", "limit": "x"}, {"q": "a"}])
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidRequest, match="find_tools takes 'query'"):
        find_tools(a_toolset(), arguments, LOCAL)


def test_a_limit_out_of_range_is_brought_into_it() -> None:
    text = find_tools(a_toolset(), {"query": "create delete", "limit": 1_000}, LOCAL)

    assert len(text.splitlines()) == 18
