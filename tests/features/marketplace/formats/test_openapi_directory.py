"""Directories of REST APIs, right and wrong."""

from pathlib import Path
from typing import Any

import pytest
from tests.features.marketplace.made import SHOP, directory

from pegboard.features.marketplace.entries import Label, Market, MarketEntry, UnusableEntry
from pegboard.features.marketplace.formats import openapi_directory

MARKET = Market(
    kind="openapi_directory", name="apis", place="https://a.example/list.json", base_dir=Path()
)
DOCUMENT = "https://a.example/orders.json"


def read(document: Any) -> Any:
    return openapi_directory.read_page(document, MARKET, MARKET.place)


def test_an_entry_is_told_with_its_words_as_what_they_are() -> None:
    [entry] = read(directory(DOCUMENT)).entries

    assert entry == MarketEntry(
        market="apis",
        id=SHOP,
        kind="REST API",
        title="Orders",
        description="What was ordered.",
        version="1.2.0",
        publisher="shop.example",
        labels=(Label(name="ecommerce", told_as="category"), Label(name="shop", told_as="tag")),
        updated_at="2026-01-02",
        short="orders",
        ways=entry.ways,
    )
    assert (entry.ways[0].config, entry.ways[0].problem) == ({"document": DOCUMENT}, "")
    assert openapi_directory.first_page(MARKET) == MARKET.place


def test_the_preferred_version_counts_or_else_the_last() -> None:
    said = directory(DOCUMENT)
    first = said[SHOP]["versions"]["1.2.0"]
    other = {**first, "info": {**first["info"], "version": "2"}}
    said[SHOP]["versions"]["2"] = other

    preferred = read(said).entries[0].version
    said[SHOP]["preferred"] = "gone"

    assert (preferred, read(said).entries[0].version) == ("1.2.0", "2")


def test_what_an_entry_does_not_say_is_made_up_of_its_name() -> None:
    versions = {"v1": {"swaggerYamlUrl": DOCUMENT}}

    [entry] = read({"weather.example": {"versions": versions}}).entries

    assert (entry.title, entry.version, entry.publisher, entry.short) == (
        "weather.example",
        "v1",
        "weather.example",
        "weather",
    )


@pytest.mark.parametrize(
    "document",
    [
        pytest.param([], id="a list"),
        pytest.param(None, id="null"),
        pytest.param({"openapi": "3.1.0", "paths": {}}, id="a document of an API"),
        pytest.param({"servers": []}, id="another format"),
    ],
)
def test_what_is_no_directory_is_refused(document: Any) -> None:
    with pytest.raises(UnusableEntry, match="not an OpenAPI directory"):
        read(document)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        pytest.param({"../x": {}}, "looks like a path", id="a path"),
        pytest.param({"x": 7}, "it has no versions", id="no entry"),
        pytest.param({"x": {"versions": {"1": 7}}}, "has no http(s)", id="no version"),
        pytest.param(directory("file:///etc/passwd"), "has no http(s)", id="a file"),
        pytest.param(directory("../secret.json"), "has no http(s)", id="a path"),
    ],
)
def test_a_broken_entry_costs_itself_alone(entry: Any, reason: str) -> None:
    good = {"good.example": directory(DOCUMENT)[SHOP]}

    page = read({**entry, **good})

    assert [item.id for item in page.entries] == ["good.example"]
    assert reason in page.skipped[0][0]


def test_no_address_reads_a_variable() -> None:
    said = directory("https://a.example/x")[SHOP]

    page = read({"a": said, "b": directory("https://a.example/${HOME}")[SHOP]})

    assert [entry.id for entry in page.entries] == ["a"]


def test_an_empty_directory_is_one() -> None:
    assert read({}).entries == ()
