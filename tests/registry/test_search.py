"""Finding tools by words: the best first, whatever the words' endings."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.registry.made import a_tool, add

from pegboard.core.tool import Effect, Status
from pegboard.registry.search import SearchIndex, ToolQuery, matches, words
from pegboard.tools import as_tool

TOOLS = [
    a_tool("shop__find_order", "Look up one order by its number."),
    a_tool("shop__refund_order", "Give a customer their money back for an order."),
    a_tool("crm__searchCustomers", "Find customers by name, city or phone."),
    a_tool("files__read_file", "Read a text file from the workspace.", tags=("disk",)),
    a_tool("files__list_files", "List the files of a folder."),
    a_tool("web__fetch", "Fetch a web page as Markdown.", category="web"),
    a_tool("mail__send", "Send an e-mail with attachments.", capabilities=("notifications",)),
    a_tool("db__list_tables", "Tables and columns of the database."),
    a_tool("db__query", "Run one read-only SQL query."),
    a_tool("weather__forecast", "The weather of the coming days in a city."),
    a_tool("sprache__uebersetze", "Übersetzt Texte in andere Sprachen."),
]


def found(query: str, *, limit: int = 3) -> list[str]:
    index = SearchIndex(TOOLS)
    return [tool.spec.name for tool in index.search(query, lambda _: True, limit)]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("find order", "shop__find_order"),
        ("I want my money back", "shop__refund_order"),
        ("look for a customer", "crm__searchCustomers"),
        ("search customers by phone", "crm__searchCustomers"),
        ("what is in this folder", "files__list_files"),
        ("read files", "files__read_file"),
        ("list file", "files__list_files"),
        ("disks", "files__read_file"),
        ("databases", "db__list_tables"),
        ("SQL queries", "db__query"),
        ("notification", "mail__send"),
        ("forecasting", "weather__forecast"),
        ("übersetzt", "sprache__uebersetze"),
        ("attach", "mail__send"),
        ("db__query", "db__query"),
        ("searchCustomers", "crm__searchCustomers"),
    ],
)
def test_the_tool_that_was_meant_comes_first(query: str, best: str) -> None:
    assert found(query)[0] == best


@pytest.mark.parametrize("query", ["", "the of and", "zz", "quantum chromodynamics"])
def test_words_that_nobody_uses_find_nothing(query: str) -> None:
    assert found(query) == []


def test_the_name_counts_more_than_the_description() -> None:
    described = a_tool("a", "Whether it will rain tomorrow or not, as a forecast for you.")
    named = a_tool("forecast", "What comes tomorrow, and whether it will rain or not.")
    index = SearchIndex([described, named])

    assert index.search("forecast", lambda _: True, 2) == [named, described]


def test_equally_good_tools_stay_in_the_order_of_registration() -> None:
    tools = [a_tool(name, "the same") for name in ("ba", "ab", "zz")]

    assert SearchIndex(tools).search("same", lambda _: True, 5) == tools


def test_hidden_tools_take_nobodys_place() -> None:
    tools = [a_tool(f"t{number}", "order") for number in range(50)]
    index = SearchIndex(tools)

    shown = index.search("order", lambda tool: tool.spec.name in {"t48", "t49"}, 2)

    assert shown == tools[48:]


def test_parameters_are_found_by_their_names_without_building_a_schema() -> None:
    def no_schema() -> Any:
        raise AssertionError("built")

    class Named:
        spec = a_tool("sum", input_schema=no_schema).spec
        parameter_names = ("augend",)

        async def run(self, arguments: Any, ctx: Any) -> None:
            return None

    named = Named()
    assert SearchIndex([named]).search("augend", lambda _: True, 1) == [named]


def test_parameters_of_a_raw_schema_are_found_too() -> None:
    tool = a_tool("x", input_schema={"type": "object", "properties": {"invoice": {}}})

    assert SearchIndex([tool]).search("invoices", lambda _: True, 1) == [tool]


def test_an_empty_index_finds_nothing() -> None:
    assert SearchIndex([]).search("order", lambda _: True, 5) == []


def test_a_tool_without_any_word_does_no_harm() -> None:
    silent, other = a_tool("the", category=""), as_tool(add)

    assert SearchIndex([silent]).search("x", lambda _: True, 5) == []
    assert SearchIndex([silent, other]).search("add", lambda _: True, 5) == [other]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("shop__findOrders", ["shop", "find", "order"]),
        ("HTTPRequest2", ["http", "request", "2"]),
        ("the boxes of queries", ["box", "query"]),
        ("class status analysis gas", ["class", "status", "analysis", "gas"]),
        ("matches, dishes, addresses, files", ["match", "dish", "address", "file"]),
        ("Größe 漢字", ["gr", "öß", "e", "漢字"]),
        ("", []),
    ],
)
def test_words_are_singular_and_lower_case(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text(max_size=60), st.integers(0, 20))
def test_any_text_may_be_searched_for(query: str, limit: int) -> None:
    names = found(query, limit=limit)

    assert len(names) <= limit
    assert len(set(names)) == len(names)
    assert names == found(query, limit=len(TOOLS))[:limit]


def test_searching_leaves_the_index_as_it_was() -> None:
    index = SearchIndex(TOOLS)
    before = len(index._postings)
    for number in range(200):
        index.search(f"unknown{number} words{number}", lambda _: True, 5)

    assert len(index._postings) == before


SPEC = a_tool(
    capabilities=("refunds", "orders"),
    tags=("money", "eu"),
    category="connector",
    source="shop",
    effect=Effect.WRITE,
    status=Status.DEPRECATED,
).spec


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({}, True),
        ({"capability": "orders"}, True),
        ({"capability": "order"}, False),
        ({"tags": ("eu", "money")}, True),
        ({"tags": ("eu", "us")}, False),
        ({"category": "connector"}, True),
        ({"category": "web"}, False),
        ({"source": "shop"}, True),
        ({"source": "crm"}, False),
        ({"effect": "write"}, True),
        ({"effect": "read"}, False),
        ({"status": "deprecated"}, True),
        ({"status": "active"}, False),
        ({"source": "shop", "effect": "read"}, False),
        ({"query": "never looked at here"}, True),
    ],
    ids=str,
)
def test_a_tool_passes_when_every_filter_holds(wanted: dict[str, Any], expected: bool) -> None:
    assert matches(SPEC, ToolQuery(**wanted)) is expected
