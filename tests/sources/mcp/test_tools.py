"""Which tools of a server the board offers, and what it says of them."""

from typing import Any

import mcp_types as types
import pytest
from tests.sources.mcp.opening import by_action, opened, over_http
from tests.sources.mcp.workshop import server as workshop

from pegboard.core.ports.services import Services
from pegboard.core.tool import Effect, Tool
from pegboard.sources.mcp.config import McpConfig
from pegboard.sources.mcp.pagination import ListResult
from pegboard.sources.mcp.server import McpServer
from pegboard.sources.mcp.tools import ServerTools
from pegboard.sources.mcp.transport.transports import Link


def _listed(*tools: types.Tool, **config: Any) -> ListResult[Tool]:
    given = McpConfig.model_validate({"command": "x", **config})
    link = Link(name="shop", config=given, http=None, base_dir=Services().base_dir)
    upstream = McpServer(link, changed=lambda: None, updated=lambda _: None)
    return ServerTools("shop", given, upstream).make_tools(tools)


def _made(*tools: types.Tool, **config: Any) -> dict[str, Any]:
    return {item.spec.action: item.spec for item in _listed(*tools, **config).items}


def _tool(name: str = "buy", **fields: Any) -> types.Tool:
    return types.Tool.model_validate(
        {"name": name, "inputSchema": {"type": "object"}, **fields}, by_name=False
    )


@pytest.mark.parametrize(
    ("hints", "effect", "idempotent"),
    [
        (None, Effect.WRITE, None),
        ({"readOnlyHint": True}, Effect.READ, None),
        ({"readOnlyHint": False, "destructiveHint": False}, Effect.WRITE, None),
        ({"idempotentHint": True}, Effect.WRITE, True),
    ],
    ids=["none", "reads", "adds", "idempotent"],
)
def test_hints_decide_the_effect_where_they_are_trusted(
    hints: Any, effect: Effect, idempotent: bool | None
) -> None:
    spec = _made(_tool(annotations=hints), trust_hints=True)["buy"]

    assert (spec.effect, spec.idempotent) == (effect, idempotent)


def test_a_tool_that_calls_itself_read_only_is_a_write_unless_the_operator_trusts_it() -> None:
    hints = {"readOnlyHint": True}

    assert _made(_tool(annotations=hints))["buy"].effect is Effect.WRITE
    assert _made(_tool(annotations=hints), effects={"*": "read"})["buy"].effect is Effect.READ


def test_the_operator_says_it_better_by_name() -> None:
    tools = (_tool("get_a", annotations={"readOnlyHint": False}), _tool("drop"), _tool("other"))
    found = _made(*tools, effects={"get_*": "read", "drop": "admin"})

    assert [item.effect for item in found.values()] == [Effect.READ, Effect.ADMIN, Effect.WRITE]


@pytest.mark.parametrize(
    ("hint", "said", "destructive", "may_destroy"),
    [
        (None, {}, None, True),
        (False, {}, None, True),
        (True, {}, True, True),
        (True, {"b*": False}, False, False),
        (False, {"b*": True}, True, True),
    ],
    ids=["no hint", "a hint that it does not", "a hint", "not by the operator", "by the operator"],
)
def test_only_the_operator_says_that_a_tool_destroys_nothing(
    hint: bool | None, said: dict[str, bool], destructive: bool | None, may_destroy: bool
) -> None:
    annotations = None if hint is None else {"destructiveHint": hint}
    spec = _made(_tool(annotations=annotations), destructive=said)["buy"]

    assert (spec.destructive, spec.may_destroy) == (destructive, may_destroy)


def test_the_operator_says_what_plans_may_choose_a_tool_for() -> None:
    said = {"get_*": ["read", "find"], "get_a": ["find", "see"]}
    found = _made(_tool("get_a"), _tool("drop"), capabilities=said)

    assert [item.capabilities for item in found.values()] == [("read", "find", "see"), ()]


def test_tools_are_chosen_and_renamed_by_the_servers_names() -> None:
    tools = (_tool("get_a"), _tool("get_b"), _tool("drop"))
    found = _made(*tools, include=["get_*"], exclude=["*_b"], rename={"get_a": "fetch"})

    assert {action: spec.name for action, spec in found.items()} == {"get_a": "shop__fetch"}


def test_a_tool_without_a_name_costs_the_others_nothing() -> None:
    assert list(_made(_tool(""), _tool("buy"), rename={"": "x"})) == ["buy"]


def test_a_tool_says_where_it_comes_from_and_what_it_logs_in_with() -> None:
    spec = _made(
        _tool(title="Buy it"),
        env={"SHOP_TOKEN": "x"},
        category="retail",
        tags=["eu"],
        timeout=7,
    )["buy"]

    assert (spec.source, spec.handler, spec.credential) == ("shop", "mcp", "SHOP_TOKEN")
    assert (spec.category, spec.tags, spec.timeout) == ("retail", ("mcp", "eu"), 7)
    assert (spec.title, spec.description) == ("Buy it", "Buy it")
    assert _made(_tool())["buy"].description == "'buy' of the MCP server 'shop'."


def test_a_tool_with_a_broken_schema_is_there_and_says_why_it_cannot_be_used() -> None:
    outward = {"properties": {"a": {"$ref": "https://a.example/x"}}}
    found = _made(
        _tool("outward", inputSchema=outward),
        _tool("broken", outputSchema={"type": "objekt"}),
        _tool("whole"),
    )

    assert "with a reference outside itself" in found["outward"].unavailable
    assert "broken JSON Schema" in found["broken"].unavailable
    assert found["whole"].unavailable == ""
    assert found["outward"].input_schema["additionalProperties"] is False


def test_a_name_counts_once() -> None:
    assert len(_made(_tool("a", title="first"), _tool("a"))) == 1
    assert _made(_tool("a", title="first"), _tool("a"))["a"].title == "first"


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_schemas_and_titles_come_as_the_server_gives_them() -> None:
    async with over_http(workshop) as door, opened({"url": door.url, "include": ["add"]}) as source:
        spec = (await by_action(source))["add"].spec

    assert spec.title == "Add up"
    assert spec.effect is Effect.WRITE
    assert set(spec.input_schema["properties"]) == {"a", "b"}
    assert spec.output_schema is not None
    assert spec.output_schema["properties"]["result"]["type"] == "integer"
