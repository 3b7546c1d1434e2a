"""Lists of another Pegboard, right and wrong."""

from pathlib import Path
from typing import Any

import pytest

from pegboard.features.marketplace.entries import Label, Market, UnusableEntry
from pegboard.features.marketplace.formats import pegboard

MARKET = Market(
    kind="pegboard",
    name="hq",
    place="http://hq.example:8080",
    token="secret",
    token_as="${HQ_TOKEN}",
    base_dir=Path(),
)
TOOL = {
    "name": "shop__find",
    "title": "Find",
    "description": "Find it.",
    "category": "web",
    "effect": "read",
    "version": "2.1.0",
    "status": "active",
    "capabilities": ["search"],
    "tags": ["t"],
    "unavailable": "It sleeps.",
}


def read(*tools: Any, **more: Any) -> Any:
    return pegboard.read_page({"tools": list(tools), **more}, MARKET, MARKET.place)


def test_a_tool_is_an_entry() -> None:
    [entry] = read(TOOL).entries

    assert (entry.id, entry.kind, entry.effect, entry.version) == (
        "shop__find",
        "tool",
        "read",
        "2.1.0",
    )
    assert entry.labels == (
        Label(name="search", told_as="capability"),
        Label(name="web", told_as="category"),
        Label(name="t", told_as="tag"),
    )
    assert entry.warnings == ("It cannot be used there now: It sleeps.",)
    assert entry.ways[0].config == {
        "url": "http://hq.example:8080/mcp",
        "include": ["shop__find"],
        "effects": {"shop__find": "read"},
        "auth": {"kind": "bearer", "token": "${HQ_TOKEN}"},
    }
    assert "secret" not in repr(entry)


@pytest.mark.parametrize("effect", [None, "none", 7, ["read"]], ids=str)
def test_an_unknown_effect_is_a_write(effect: Any) -> None:
    (entry,) = read({**TOOL, "effect": effect}).entries

    assert entry.effect == "write"
    assert "effects" not in entry.ways[0].config


def test_a_read_stays_one_and_the_review_says_who_says_so() -> None:
    (way,) = read(TOOL).entries[0].ways

    assert way.config["effects"] == {"shop__find": "read"}
    assert way.warnings[0] == "That it changes nothing is what the marketplace 'hq' says."


def test_pages_follow_each_other() -> None:
    assert pegboard.first_page(MARKET) == "http://hq.example:8080/v1/tools?limit=500"
    following = read(TOOL, next_cursor="a b").following
    assert following == "http://hq.example:8080/v1/tools?limit=500&cursor=a+b"
    assert read(TOOL, next_cursor=None).following == ""


def test_a_broken_tool_costs_itself_alone() -> None:
    page = read(7, {"name": "not a name"}, {"name": "a.b"}, TOOL)

    assert len(page.entries) == 1
    assert [reason for reason, _ in page.skipped] == [
        "it has no name",
        "its name is too long or has invalid characters",
        "its name is not a valid tool name",
    ]


@pytest.mark.parametrize("document", [{}, [], {"tools": {}}, None], ids=str)
def test_what_is_no_list_is_refused(document: Any) -> None:
    with pytest.raises(UnusableEntry, match="not the list of a Pegboard"):
        pegboard.read_page(document, MARKET, "")
