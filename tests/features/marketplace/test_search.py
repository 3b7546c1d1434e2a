"""Entries found by what they are good for, by words, and page by page."""

from typing import Any

import pytest

from pegboard.errors import InvalidRequest
from pegboard.features.marketplace.catalogue_reader import CatalogueSnapshot
from pegboard.features.marketplace.entries import Label, Market, MarketEntry
from pegboard.features.marketplace.schemas import EntryList
from pegboard.features.marketplace.search import EntryQuery, search_entries

ONE = Market(kind="mcp_registry", name="one", place="a.json")
TWO = Market(kind="openapi_directory", name="two", place="b.json")


def entry(market: str, id_: str, *words: str, **more: Any) -> MarketEntry:
    labels = tuple(Label(name=word, told_as="tag") for word in words)
    return MarketEntry(market=market, id=id_, kind="REST API", labels=labels, **more)


STOCKS = {
    ONE: CatalogueSnapshot(
        entries=(entry("one", "b/b", "Web Search"), entry("one", "a/a", "weather")),
        skipped={"odd": 2},
        examples={"odd": "x"},
        read_at=5.0,
    ),
    TWO: CatalogueSnapshot(
        entries=(entry("two", "a", "web_search", description="Finds Shops"),), read_at=6.0
    ),
    Market(kind="pegboard", name="down", place="http://x"): CatalogueSnapshot(problem="It hangs."),
}


def names(**wanted: Any) -> list[str]:
    found = search_entries(STOCKS, EntryQuery(**wanted))
    return [f"{row['marketplace']}/{row['entry']}" for row in found["entries"]]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        pytest.param({}, ["one/a/a", "one/b/b", "two/a"], id="all"),
        pytest.param({"capability": "web-search"}, ["one/b/b", "two/a"], id="a capability"),
        pytest.param({"capability": "WEATHER"}, ["one/a/a"], id="whatever its case"),
        pytest.param({"capability": "web"}, [], id="a part of a word is none"),
        pytest.param({"query": "shops FINDS"}, ["two/a"], id="all words"),
        pytest.param({"query": "shops weather"}, [], id="not one of them"),
        pytest.param(
            {"query": "search", "capability": "web search"}, ["one/b/b", "two/a"], id="both"
        ),
    ],
)
def test_entries_are_found(wanted: Any, found: list[str]) -> None:
    assert names(**wanted) == found


def test_pages_follow_each_other_whatever_comes_between() -> None:
    first = search_entries(STOCKS, EntryQuery(limit=2))
    second = search_entries(STOCKS, EntryQuery(limit=2, cursor=first["next_cursor"]))

    assert [row["entry"] for row in first["entries"]] == ["a/a", "b/b"]
    assert ([row["entry"] for row in second["entries"]], second["next_cursor"]) == (["a"], None)
    with pytest.raises(InvalidRequest):
        search_entries(STOCKS, EntryQuery(cursor="x"))


def test_each_catalogue_tells_how_it_is_doing() -> None:
    told = EntryList.model_validate(search_entries(STOCKS, EntryQuery())).marketplaces

    assert [(item.name, item.status, item.reason, item.entries) for item in told] == [
        ("one", "ok", "", 2),
        ("two", "ok", "", 1),
        ("down", "failed", "It hangs.", 0),
    ]
    assert [(item.reason, item.count, item.example) for item in told[0].skipped] == [
        ("odd", 2, "x")
    ]
