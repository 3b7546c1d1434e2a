"""`connector`, `database` and `mcp` lead to inner calls, and show what there is."""

from typing import Any

import pytest
from msgspec import json
from tests.assembly.made import deny
from tests.assembly.systems import CRM, disclose, of_source, route, systems

from pegboard import ToolRegistry
from pegboard.assembly.inner_calls import unwrap_call
from pegboard.core.model_messages import ToolCall
from pegboard.errors import InvalidRequest
from pegboard.registry.toolset import Reply


@pytest.mark.parametrize(
    ("name", "arguments", "inner", "inner_arguments"),
    [
        ("connector", {"subcommand": "execute", "connector": "crm", "action": "find_customer",
                       "parameters": {"id": 7}}, "crm__find_customer", {"id": 7}),
        ("connector", {"subcommand": "execute", "connector": "crm", "action": "list_customers",
                       "parameters": '{"page": 2}'}, "crm__list_customers", {"page": 2}),
        ("database", {"subcommand": "list_tables", "database": "shop"}, "shop__list_tables", {}),
        ("database", {"subcommand": "discover", "database": "shop", "table": "orders"},
         "shop__describe_table", {"table": "orders"}),
        ("database", {"subcommand": "query", "database": "stock", "sql": "select 1"},
         "stock__query", {"sql": "select 1"}),
        ("mcp", {"subcommand": "call", "server": "files", "tool": "read_file"},
         "files__read_file", {}),
    ],
)  # fmt: skip
def test_a_call_is_that_of_the_inner_tool(
    name: str, arguments: Any, inner: str, inner_arguments: Any
) -> None:
    text = json.encode(arguments).decode()

    routed = route(disclose(systems()), name, text)

    assert isinstance(routed, ToolCall)
    assert (routed.id, routed.name) == ("c1", inner)
    assert json.decode(routed.arguments) == inner_arguments
    read = unwrap_call(ToolCall(id="c1", name=name, arguments=text))
    assert (read.name, json.decode(read.arguments)) == (inner, inner_arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("connector", {"subcommand": "execute", "connector": "cmr", "action": "x"},
         "no connector 'cmr'; did you mean 'crm'"),
        ("connector", {"subcommand": "execute", "connector": "crm", "action": "find_custmer"},
         "no action 'find_custmer'; did you mean 'find_customer'"),
        ("connector", {"subcommand": "run", "connector": "crm"}, "not 'run'"),
        ("connector", {"connector": "crm"}, "connector takes 'subcommand'"),
        ("database", {"subcommand": "drop", "database": "shop"}, "not 'drop'"),
        ("mcp", {"subcommand": "call", "server": "files", "tool": "x"}, "no tool 'x'"),
    ],
)  # fmt: skip
def test_a_faulty_call_says_what_would_fit(name: str, arguments: Any, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        route(disclose(systems()), name, json.encode(arguments).decode())


def test_discover_shows_the_actions_that_the_caller_sees_with_their_parameters() -> None:
    toolset = disclose(systems(policy=deny("crm__merge_customers")))

    reply = route(toolset, "connector", '{"subcommand": "discover", "connector": "crm"}')

    assert isinstance(reply, Reply)
    found = [json.decode(line) for line in reply.text.splitlines()]
    assert [item["action"] for item in found] == list(CRM[:2])
    assert all("parameters" in item for item in found)


def test_discover_of_a_large_api_lists_it_and_shows_one_action_whole() -> None:
    actions = [f"do_thing_{number}" for number in range(30)]
    toolset = disclose(ToolRegistry([of_source("erp", name, "openapi") for name in actions]))

    listed = route(toolset, "connector", '{"subcommand": "discover", "connector": "erp"}')
    one = route(
        toolset,
        "connector",
        '{"subcommand": "discover", "connector": "erp", "action": "do_thing_7"}',
    )

    assert isinstance(listed, Reply)
    assert isinstance(one, Reply)
    assert [line[2:] for line in listed.text.splitlines()[:30]] == actions
    assert "parameters" not in listed.text.splitlines()[0]
    assert json.decode(one.text)["action"] == "do_thing_7"


def test_the_description_names_every_source_and_some_of_its_actions() -> None:
    meta_tool = disclose(systems()).find_meta_tool("connector")

    assert meta_tool is not None
    description = meta_tool.render().description
    assert "- crm: find_customer, list_customers, merge_customers" in description
    assert "- billing: send_invoice" in description
