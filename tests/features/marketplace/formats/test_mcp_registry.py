"""Lists of MCP servers, right and wrong."""

from pathlib import Path
from typing import Any

import pytest
from tests.features.marketplace.made import listed, weather

from pegboard.features.marketplace.catalogue_reader import FORMATS
from pegboard.features.marketplace.entries import Label, Market, MarketEntry, UnusableEntry
from pegboard.features.marketplace.formats import mcp_registry

URL = "https://registry.example/v0.1/servers"
MARKET = Market(kind="mcp_registry", name="official", place=URL, base_dir=Path())
FILE = Market(kind="mcp_registry", name="file", place="servers.json", base_dir=Path())
REMOTE = {"type": "streamable-http", "url": "https://a.example/mcp"}
OFFICIAL = "io.modelcontextprotocol.registry/official"


def read(document: Any, market: Market = MARKET) -> Any:
    return mcp_registry.read_page(document, market, market.place)


def only(**server: Any) -> MarketEntry:
    [entry] = read(listed(weather(packages=[], **server))).entries
    return entry


def test_an_entry_is_told_with_its_words_as_what_they_are() -> None:
    metas = {
        "com.example/x": {"tags": ["sky"], "category": "nature"},
        "other": {"keywords": "rain", "capabilities": ["forecast"]},
    }
    entry = only(
        title="Weather",
        websiteUrl="https://a.example",
        repository={"url": "https://git.example/a", "source": "git"},
        _meta=metas,
    )

    assert (entry.id, entry.publisher, entry.title, entry.short) == (
        "io.github.someone/weather",
        "io.github.someone",
        "Weather",
        "weather",
    )
    assert (entry.homepage, entry.repository) == ("https://a.example", "https://git.example/a")
    assert set(entry.labels) == {
        Label(name="sky", told_as="tag"),
        Label(name="nature", told_as="category"),
        Label(name="rain", told_as="keyword"),
        Label(name="forecast", told_as="capability"),
    }


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(weather(), id="a server.json alone"),
        pytest.param({"servers": [weather()]}, id="without the wrapper"),
        pytest.param(listed(weather()), id="with it"),
    ],
)
def test_every_form_of_the_format_is_read(document: Any) -> None:
    [entry] = read(document, FILE).entries

    assert entry.version == "1.0.2"
    assert entry.ways[0].needs[0].variable == "MARKET_WEATHER_API_KEY"


@pytest.mark.parametrize(
    "document",
    [
        pytest.param([], id="a list"),
        pytest.param({}, id="nothing"),
        pytest.param({"servers": {}}, id="no list"),
        pytest.param("x", id="a text"),
        pytest.param(None, id="null"),
    ],
)
def test_what_is_no_list_is_refused(document: Any) -> None:
    with pytest.raises(UnusableEntry, match="not the list of an MCP registry"):
        read(document)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        pytest.param({"server": weather(name="plain")}, "not 'namespace/name'", id="no namespace"),
        pytest.param({"server": weather(name="a/..")}, "looks like a path", id="a path"),
        pytest.param({"server": weather(name="../..")}, "looks like a path", id="climbs"),
        pytest.param({"server": weather(name=7)}, "it has no name", id="a number"),
        pytest.param({"server": []}, "it has no name", id="no server"),
        pytest.param(7, "it has no name", id="no entry"),
        pytest.param(
            {"server": weather(), "_meta": {OFFICIAL: {"status": "deleted"}}},
            "deleted by its publisher",
            id="deleted",
        ),
    ],
)
def test_a_broken_entry_costs_itself_alone(item: Any, reason: str) -> None:
    good = {"server": weather(name="io.good/one")}

    page = read({"servers": [item, good]})

    assert [entry.id for entry in page.entries] == ["io.good/one"]
    assert reason in page.skipped[0][0]


def test_the_latest_version_counts() -> None:
    def version(number: str, **official: Any) -> dict[str, Any]:
        return {"server": weather(version=number), "_meta": {OFFICIAL: official}}

    said = [
        version("1.0.0", publishedAt="2025-01-01"),
        version("3.0.0", isLatest=True, publishedAt="2025-02-01"),
        version("2.0.0", publishedAt="2026-01-01"),
    ]

    assert [entry.version for entry in read({"servers": said}).entries] == ["3.0.0"]
    assert [entry.version for entry in read({"servers": said[::2]}).entries] == ["2.0.0"]
    by_hand = [version(it) for it in ("1.9.0", "1.10.0-rc.1", "1.10.0", "1.2.0")]
    assert [entry.version for entry in read({"servers": by_hand}).entries] == ["1.10.0"]


def test_a_deprecated_entry_says_so() -> None:
    official = {OFFICIAL: {"status": "deprecated", "statusMessage": "Use another."}}

    [entry] = read({"servers": [{"server": weather(), "_meta": official}]}).entries

    assert entry.status == "deprecated"
    assert entry.warnings == ("Its publisher calls it deprecated. Use another.",)


def test_what_runs_elsewhere_and_needs_nothing_comes_first() -> None:
    key = {"name": "X-Key", "isRequired": True, "isSecret": True}
    server = weather(
        remotes=[{**REMOTE, "headers": [key]}, {"type": "odd", "url": "https://x"}, REMOTE]
    )

    [entry] = read(listed(server)).entries

    assert [way.name for way in entry.ways] == ["remote-3", "remote-1", "package-1", "remote-2"]
    assert entry.ways[1].config["headers"] == {"X-Key": "${MARKET_WEATHER_X_KEY}"}
    assert entry.ways[1].warnings == ("It is sent your X-Key.",)
    assert "its transport is 'odd'" in entry.ways[3].problem


def test_an_address_is_filled_in() -> None:
    said = {
        "type": "sse",
        "url": "https://{tenant}.example/{region}/sse",
        "variables": {"tenant": {"isRequired": True}, "region": {"default": "eu"}},
    }
    way = only(remotes=[said]).ways[0]

    assert way.config["url"] == "https://${MARKET_WEATHER_TENANT}.example/eu/sse"
    assert [need.place for need in way.needs] == ["address"]


@pytest.mark.parametrize(
    ("remote", "problem"),
    [
        pytest.param({"transport_type": "sse"}, "before September 2025", id="an old form"),
        pytest.param({"url": "file:///etc"}, "not an http(s) address", id="a file"),
        pytest.param({"url": "https://u:p@x"}, "not an http(s) address", id="a password"),
        pytest.param({"url": None}, "a value is not text", id="none"),
        pytest.param({"url": "https://x/${HOME}"}, "a value contains '${'", id="a variable"),
        pytest.param(
            {"headers": [{"name": "a b"}]},
            "one of its headers has an invalid name",
            id="not a header",
        ),
        pytest.param(
            {"headers": [{"name": "a", "value": "x\r\ny"}]},
            "unprintable characters",
            id="a line break",
        ),
    ],
)
def test_a_server_that_cannot_be_used_says_why(remote: Any, problem: str) -> None:
    way = only(remotes=[{**REMOTE, **remote}]).ways[0]

    assert problem in way.problem


def test_an_entry_without_a_way_has_none() -> None:
    assert only().ways == ()


def test_an_api_is_asked_for_many_latest_versions_and_the_next_page() -> None:
    page = read(listed(weather(), cursor="a/b:1"))
    lookup = FORMATS["mcp_registry"].of_one

    assert mcp_registry.first_page(MARKET) == f"{URL}?version=latest&limit=100"
    assert page.following == f"{URL}?cursor=a%2Fb%3A1"
    assert lookup is not None
    assert lookup(MARKET, "a/b") == f"{URL}?version=latest&limit=100&search=a%2Fb"


def test_a_file_is_one_page() -> None:
    lookup = FORMATS["mcp_registry"].of_one

    assert mcp_registry.first_page(FILE) == "servers.json"
    assert read(listed(weather(), cursor="x"), FILE).following == ""
    assert lookup is not None
    assert lookup(FILE, "a/b") == "servers.json"
