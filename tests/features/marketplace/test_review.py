"""What a review tells of ways that cannot be registered, and of hostile tools."""

import asyncio
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.features.marketplace.made import weather

from pegboard.core.tool import Tool, ToolSpec
from pegboard.core.wire_names import is_wire_name
from pegboard.errors import EntryNotFound, Unavailable
from pegboard.features.marketplace.entries import (
    InstallOption,
    Label,
    Market,
    MarketEntry,
    RequiredValue,
)
from pegboard.features.marketplace.formats.mcp_registry import read_page
from pegboard.features.marketplace.registrations import registration_of, slug_of
from pegboard.features.marketplace.review import (
    EntrySelection,
    ListTools,
    Review,
    review_entry,
)
from pegboard.tools import SchemaTool

MARKET = Market(kind="mcp_registry", name="official", place="x.json", base_dir=Path())
WAY = InstallOption(
    name="remote-1", source_kind="mcp", config={"url": "https://a/mcp"}, address="https://a/mcp"
)


async def never(arguments: Mapping[str, Any], ctx: Any) -> str:
    raise AssertionError("a review calls nothing")


def a_tool(name: str = "find", **said: Any) -> Tool:
    fields: dict[str, Any] = {"input_schema": {"type": "object", "properties": {}}, **said}
    spec = ToolSpec(name=f"upstream__{slug_of('a', name)[:20]}", action=name, **fields)
    return SchemaTool(spec=spec, run=never)


def has(*tools: Tool) -> ListTools:
    async def look(kind: str, config: Mapping[str, Any]) -> list[Tool]:
        return list(tools)

    return look


async def nobody(kind: str, config: Mapping[str, Any]) -> list[Tool]:
    raise Unavailable("It does not answer.")


def an_entry(*ways: InstallOption, **more: Any) -> MarketEntry:
    return MarketEntry(market="official", id="a/b", kind="MCP server", short="b", ways=ways, **more)


async def review(
    entry: MarketEntry, choice: EntrySelection | None = None, look: ListTools = nobody
) -> Review:
    return await review_entry(
        entry, MARKET, choice or EntrySelection(), look=look, environ={"SET": "1"}
    )


@pytest.mark.parametrize(
    ("way", "why_not"),
    [
        pytest.param(
            InstallOption(name="w", source_kind="mcp", problem="It is odd."),
            "It is odd.",
            id="a problem",
        ),
        pytest.param(
            InstallOption(name="w", source_kind="mcp", config={"url": "u", "headers": {"A": "1"}}),
            "It needs headers, which",
            id="headers",
        ),
        pytest.param(
            InstallOption(
                name="w", source_kind="mcp", config={"transport": "sse"}, address="https://a/mcp"
            ),
            "Its transport must be set",
            id="a transport",
        ),
        pytest.param(
            InstallOption(
                name="w", source_kind="mcp", config={"transport": "http"}, address="https://a/sse"
            ),
            "Its transport must be set",
            id="the other transport",
        ),
        pytest.param(WAY, "Its tools are unknown: It does not answer.", id="no answer"),
    ],
)
async def test_what_cannot_be_registered_says_why(way: InstallOption, why_not: str) -> None:
    made = await review(an_entry(way))

    assert made.shown["can_be_registered"] is False
    assert made.shown["why_not"].startswith(why_not)
    assert made.registrations == []


async def test_an_entry_without_a_way_cannot_be_had() -> None:
    made = await review(an_entry())

    assert (made.source, made.shown["board_file"]) == (None, "")
    assert made.shown["why_not"] == "Its catalogue does not say how to install it."


async def test_a_server_without_tools_offers_none() -> None:
    assert (await review(an_entry(WAY), look=has())).shown["why_not"] == "It has no tools."


async def test_tools_that_cannot_be_used_are_not_registered() -> None:
    broken = a_tool("broken", unavailable="It is broken.")
    large = a_tool("large", input_schema={"properties": {"a": {"const": "x" * 300_000}}})

    alone = await review(an_entry(WAY), look=has(broken, large))
    beside = await review(an_entry(WAY), look=has(broken, a_tool()))

    assert alone.shown["why_not"] == "None of its tools can be used."
    assert [row["unavailable"] for row in alone.shown["tools"]] == [
        "It is broken.",
        "Its input schema is too large.",
    ]
    assert [item["tool"] for item in beside.registrations] == ["find"]


async def test_of_many_tools_some_are_chosen() -> None:
    tools = [a_tool(f"t{number}") for number in range(300)]

    all_of_them = await review(an_entry(WAY), look=has(*tools))
    some = await review(an_entry(WAY), EntrySelection(tools=("t7", "t8")), look=has(*tools))
    more = await review(an_entry(WAY), look=has(*tools * 20))

    assert all_of_them.shown["why_not"] == "It has 300 tools: choose at most 200 of them."
    assert len(all_of_them.shown["tools"]) == 300
    assert [item["tool_id"] for item in some.registrations] == ["b__t7_v1", "b__t8_v1"]
    assert some.source is not None
    assert some.source["config"]["include"] == ["t7", "t8"]
    assert more.shown["tools_note"] == "It has more than 5,000 tools."


async def test_a_chosen_name_is_no_pattern_and_reads_no_variable() -> None:
    package = InstallOption(name="p", source_kind="mcp", config={"command": "npx"}, runs_here=True)

    made = await review(an_entry(package), EntrySelection(tools=("a*", "b")))

    assert made.source is not None
    assert made.source["config"]["include"] == ["a[*]", "b"]
    with pytest.raises(EntryNotFound, match="No tool has"):
        await review(an_entry(package), EntrySelection(tools=("${HOME}",)))


async def test_a_tool_of_another_board_that_is_not_listed_over_mcp_says_so() -> None:
    way = InstallOption(name="mcp", source_kind="mcp", address="http://hq/mcp", only="gone")

    made = await review(an_entry(way), look=has(a_tool()))

    assert "lists no tool 'gone' over MCP" in made.shown["why_not"]


async def test_the_digest_covers_what_is_told_and_not_what_is_set_here() -> None:
    [entry] = read_page(weather(), MARKET, "").entries

    async def digest(**environ: str) -> tuple[str, bool]:
        made = await review_entry(entry, MARKET, EntrySelection(), look=nobody, environ=environ)
        return made.digest, made.shown["needs"][0]["is_set"]

    unset, is_unset = await digest()
    set_, is_set = await digest(MARKET_WEATHER_API_KEY="k")
    [other] = read_page(weather(version="9.0.0"), MARKET, "").entries

    assert (unset, is_unset, is_set) == (set_, False, True)
    assert (await review(other)).digest != unset


class Patient(dict[str, str]):
    """Tells nothing before others have had their turn."""

    def __init__(self, turn: threading.Event) -> None:
        super().__init__()
        self._turn = turn

    def __contains__(self, key: object) -> bool:
        assert self._turn.wait(8), "the review keeps the loop to itself"
        return super().__contains__(key)


async def test_a_review_holds_up_nobody() -> None:
    turn = threading.Event()
    asyncio.get_running_loop().call_soon(turn.set)
    way = replace(WAY, needs=(RequiredValue(name="a", place="header", variable="A"),))

    done = await review_entry(
        an_entry(way), MARKET, EntrySelection(), look=nobody, environ=Patient(turn)
    )

    assert [need["is_set"] for need in done.shown["needs"]] == [False]


@pytest.mark.parametrize(
    ("version", "tool_id", "kept"),
    [
        pytest.param("2.1.0", "b__find_v2", "2.1.0", id="a version"),
        pytest.param("v3", "b__find_v3", "3", id="with a letter"),
        pytest.param("2024-01-01", "b__find_v1", None, id="a day"),
        pytest.param("latest", "b__find_v1", None, id="a word"),
        pytest.param("9999.1", "b__find_v1", None, id="a large one"),
        pytest.param("", "b__find_v1", None, id="none"),
    ],
)
def test_the_id_says_the_major_version(version: str, tool_id: str, kept: str | None) -> None:
    made = registration_of(a_tool(), an_entry(version=version), WAY, prefix="b")

    assert (made["tool_id"], made.get("version")) == (tool_id, kept)


@pytest.mark.parametrize("action", ["find", "x" * 200, "日本語", "../../etc", "a b${HOME}"])
def test_any_name_of_a_tool_makes_one_that_may_stand_before_a_version(action: str) -> None:
    slug = slug_of("a" * 30, action)

    assert is_wire_name(f"{slug}_v1")
    assert slug != slug_of("a" * 30, f"{action}!")


def test_a_registration_says_what_the_server_and_the_catalogue_say() -> None:
    labels = (
        Label(name="search", told_as="capability"),
        Label(name="web", told_as="category"),
        Label(name="k", told_as="keyword"),
    )
    tool = a_tool(effect="read", idempotent=True, output_schema={"type": "object"})

    made = registration_of(tool, an_entry(labels=labels, effect="admin"), WAY, prefix="b")

    assert (made["capabilities"], made["tags"]) == (["search", "web"], ["k"])
    assert (made["effect"], made["idempotent"]) == ("admin", True)
    assert made["output_schema"] == {"type": "object"}
    assert (made["type"], made["server"], made["tool"]) == ("MCPTool", "https://a/mcp", "find")


@pytest.mark.parametrize(
    ("handler", "method", "url"),
    [
        pytest.param("openapi GET /a of https://x/v1", "GET", "https://x/v1/a", id="an address"),
        pytest.param("openapi PUT /a of /v2", "PUT", "https://d.example/v2/a", id="relative"),
        pytest.param("openapi GET /a", "GET", "https://d.example/a", id="none"),
        pytest.param(
            "openapi GET /a of https://{r}.x r=eu, https://y", "GET", "https://eu.x/a", id="filled"
        ),
        pytest.param("odd", "GET", "https://d.example/", id="unknown"),
    ],
)
def test_an_operation_is_shown_with_its_address(handler: str, method: str, url: str) -> None:
    way = InstallOption(
        name="document", source_kind="openapi", address="https://d.example/api.json"
    )

    made = registration_of(a_tool(handler=handler), an_entry(), way, prefix="b")

    assert (made["type"], made["method"], made["url"]) == ("RestAPI", method, url)
    assert made["server"] == "https://d.example/api.json"


def test_no_schema_is_taken_for_a_shorthand() -> None:
    schema = {"description": "string", "additionalProperties": False}

    made = registration_of(a_tool(input_schema=schema), an_entry(), WAY, prefix="b")

    assert made["input_schema"] == {**schema, "type": "object", "properties": {}}
