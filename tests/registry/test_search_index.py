"""Finding tools by words: the best first, whatever the words' endings."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.registry.made import a_tool, add

from pegboard.registry.search_index import SearchIndex
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


def test_parameters_are_found_without_building_a_schema() -> None:
    def no_schema() -> Any:
        raise AssertionError("built")

    class Named:
        spec = a_tool("sum", input_schema=no_schema).spec
        parameter_texts = {"augend": "to which the other number is added"}

        async def run(self, arguments: Any, ctx: Any) -> None:
            return None

    named = Named()
    assert SearchIndex([named]).search("augend", lambda _: True, 1) == [named]
    assert SearchIndex([named]).search("other number", lambda _: True, 1) == [named]


def test_parameters_of_a_raw_schema_are_found_too() -> None:
    tool = a_tool("x", input_schema={"type": "object", "properties": {"invoice": {}}})

    assert SearchIndex([tool]).search("invoices", lambda _: True, 1) == [tool]


def test_texts_of_examples_are_found() -> None:
    tool = a_tool("x", examples=({"city": "Reykjavik", "days": 3},))

    assert SearchIndex([tool]).search("weather in Reykjavik", lambda _: True, 1) == [tool]


def test_an_empty_index_finds_nothing() -> None:
    assert SearchIndex([]).search("order", lambda _: True, 5) == []


def test_a_tool_without_any_word_does_no_harm() -> None:
    silent, other = a_tool("the", category=""), as_tool(add)

    assert SearchIndex([silent]).search("x", lambda _: True, 5) == []
    assert SearchIndex([silent, other]).search("add", lambda _: True, 5) == [other]


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


SHOPPING = "Look up order number 17. Then send an e-mail, and fetch the page of the shop."


def test_each_intent_of_a_question_finds_its_tool() -> None:
    assert set(found(SHOPPING, limit=3)) == {"shop__find_order", "mail__send", "web__fetch"}


def test_a_intent_that_fits_many_tools_leaves_room_for_the_others() -> None:
    orders = [a_tool(f"shop__order_{number}", "An order of a customer") for number in range(90)]
    mail = a_tool("mail__send", "Send an e-mail")
    index = SearchIndex([*orders, mail])

    best = index.search("Show the customer order. Send an e-mail.", lambda _: True, 2)

    assert mail in best


def test_tools_of_a_source_that_fits_twice_come_before_others() -> None:
    lone = a_tool("other__track", "Track parcels")
    track, label = a_tool("post__track", "Track parcels"), a_tool("post__label", "Print labels")
    index = SearchIndex([lone, track, label])

    best = index.search("Track my parcels. Print the labels.", lambda _: True, 2)

    assert set(best) == {track, label}


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("zipcode lookup", "geo__zip_code"),
        ("Städte", "geo__staedte"),
        ("Rechnungen bezahlen", "rechnung"),
        ("調用する", "cjk"),
    ],
)
def test_other_spellings_and_languages_are_found(query: str, best: str) -> None:
    index = SearchIndex(
        [
            a_tool("geo__zip_code", "Where a zip code is."),
            a_tool("geo__staedte", "Liste aller Städte."),
            a_tool("rechnung", "Eine Rechnung bezahlen."),
            a_tool("cjk", "関数を調用する"),
        ]
    )

    assert index.search(query, lambda _: True, 1)[0].spec.name == best


def test_a_misspelt_word_is_corrected_where_nothing_else_is_found() -> None:
    assert found("wether forcast")[0] == "weather__forecast"
    assert found("notfication") == ["mail__send"]
    assert "weather__forecast" not in found("wether of the order")


def test_a_word_that_only_a_hidden_tool_uses_is_as_good_as_unknown() -> None:
    hidden, shown = a_tool("a", "attachment"), a_tool("b", "attachments_list")
    index = SearchIndex([hidden, a_tool("c", "attach")])
    index.put("b", shown)

    best = index.search("attachment", lambda tool: tool.spec.name == "c", 3)

    assert [tool.spec.name for tool in best] == ["c"]


def test_a_replaced_tool_is_found_by_its_new_words_only() -> None:
    index = SearchIndex([a_tool("x", "orders"), a_tool("y", "parcels")])
    new = a_tool("x", "invoices")
    index.put("x", new)

    assert index.search("invoices", lambda _: True, 5) == [new]
    assert index.search("orders", lambda _: True, 5) == []


def test_a_removed_tool_leaves_nothing_behind() -> None:
    index = SearchIndex([a_tool("x", "orders of the shop")])
    index.remove("x")
    index.remove("x")

    assert (len(index), index._postings, list(index._vocabulary.starting_with(""))) == (0, {}, [])


NAMES = st.sampled_from(["a", "b", "c", "d"])
TEXTS = st.sampled_from(["orders of customers", "customer mail", "send mail now", "forecast"])


@given(st.lists(st.tuples(NAMES, st.none() | TEXTS), max_size=12))
def test_an_index_that_followed_changes_is_as_one_made_anew(
    changes: list[tuple[str, str | None]],
) -> None:
    index, current = SearchIndex(), dict[str, Any]()
    for name, text in changes:
        current.pop(name, None)
        index.remove(name)
        if text is not None:
            current[name] = a_tool(name, text)
            index.put(name, current[name])

    anew = SearchIndex(current.values())

    for query in ("customers", "send mail", "forecasting orders"):
        assert index.search(query, lambda _: True, 4) == anew.search(query, lambda _: True, 4)


def test_common_words_alone_find_tools_too() -> None:
    tools = [a_tool(f"t{number}", "give the value") for number in range(300)]

    assert SearchIndex(tools).search("the value", lambda _: True, 3) == tools[:3]
    assert len(SearchIndex(tools).search("value", lambda _: True, 300)) == 300


def test_common_words_decide_among_those_that_rare_ones_have_found() -> None:
    tools = [
        a_tool(f"t{number}", "order" + (" refund" if number < 250 else "")) for number in range(900)
    ]
    tools += [a_tool("both", "order refund parcel"), a_tool("rare", "parcel")]
    index = SearchIndex(tools)

    best = index.search("parcel refund order", lambda _: True, 1)

    assert [tool.spec.name for tool in best] == ["both"]


def test_tools_that_may_not_be_found_do_not_crowd_out_others() -> None:
    hidden = [a_tool(f"hidden{number}", "stripe invoice") for number in range(150)]
    other = [a_tool(f"other{number}", "invoice") for number in range(200)]
    index = SearchIndex([*hidden, *other])

    best = index.search("stripe invoice", lambda tool: tool.spec.name.startswith("other"), 3)

    assert best == other[:3]
