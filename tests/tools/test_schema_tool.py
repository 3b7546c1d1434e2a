"""A spec and an async function are a tool."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from pegboard.core.context import ToolContext
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import ToolSignatureError
from pegboard.registry import ToolRegistry
from pegboard.tools import SchemaTool

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}}


async def _echo(arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> Any:
    return dict(arguments)


def _made(**fields: Any) -> SchemaTool:
    said: dict[str, Any] = {"name": "echo", "input_schema": SCHEMA, **fields}
    return SchemaTool(spec=ToolSpec(**said), run=_echo)


async def test_it_is_a_tool_that_runs_what_it_was_given() -> None:
    made = _made()

    assert isinstance(made, Tool)
    assert await made.run({"a": 1}, ToolContext()) == {"a": 1}
    assert repr(made) == "SchemaTool('echo')"


def test_its_schema_is_shown_closed() -> None:
    assert _made().spec.input_schema == {**SCHEMA, "additionalProperties": False}


def test_a_schema_that_says_it_is_open_stays_open() -> None:
    schema = {**SCHEMA, "additionalProperties": True}

    assert _made(input_schema=schema).spec.input_schema == schema


def test_its_schema_is_read_when_it_is_needed() -> None:
    read: list[int] = []

    def make() -> dict[str, Any]:
        read.append(1)
        return SCHEMA

    made = _made(input_schema=make).in_source("shop")
    assert read == []

    assert made.spec.input_schema["additionalProperties"] is False
    assert read == [1]


def test_it_can_be_put_under_a_source_once() -> None:
    made = _made(action="Echo!").in_source("shop")

    assert made.spec.name.startswith("shop__Echo_x")
    assert (made.spec.action, made.spec.source) == ("Echo!", "shop")
    assert made.in_source("shop") is made


@pytest.mark.parametrize("name", ["", "a b", "a.b", "x" * 65])
def test_a_name_that_no_provider_accepts_is_refused(name: str) -> None:
    with pytest.raises(ToolSignatureError, match="is not a tool name"):
        _made(name=name)


def test_what_an_upstream_says_stays_beside_what_the_board_says() -> None:
    async def run(arguments: Any, ctx: Any) -> str:
        return "ran"

    upstream = ToolSpec(name="web__find", input_schema={"type": "object"}, source="web")
    made = SchemaTool(
        spec=upstream.replace(description="Mine."),
        run=run,
        upstream=upstream,
        overridden=["description"],
    )

    moved = made.in_source("other")

    assert made.upstream is not None
    assert made.upstream.input_schema == made.spec.input_schema
    assert (moved.upstream, moved.overridden) == (made.upstream, frozenset({"description"}))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"input_schema": {"type": "strin"}}, "'echo' has a broken JSON Schema: at 'type': "),
        ({"output_schema": {"pattern": "("}}, "'echo' has a broken JSON Schema: at 'pattern': "),
        ({"input_schema": {"$ref": "https://a.test/b"}}, "'https://a.test/b' is outside"),
    ],
    ids=["input", "output", "another document"],
)
def test_a_broken_schema_is_refused_when_it_is_registered(
    fields: dict[str, Any], reason: str
) -> None:
    made = _made(**fields)

    with pytest.raises(ToolSignatureError, match=re.escape(reason)):
        ToolRegistry([made])


def test_a_schema_that_is_made_on_first_use_is_not_made_to_be_checked() -> None:
    registry = ToolRegistry([_made(input_schema=lambda: 1 / 0)])

    assert len(registry) == 1
