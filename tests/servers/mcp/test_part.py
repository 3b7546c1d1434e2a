"""Which part of a board is served, and how it is named."""

import pytest

from pegboard.core.tool import ToolSpec
from pegboard.errors import InvalidRequest
from pegboard.servers.mcp.part import WHOLE, Part


def spec(name: str, *, source: str = "", category: str = "general", action: str = "") -> ToolSpec:
    return ToolSpec(
        name=name,
        description="",
        input_schema={},
        source=source,
        category=category,
        action=action,
    )


FIND = spec("shop__find", source="shop", category="database", action="find")
FETCH = spec("std__web_fetch", source="std", category="web", action="web_fetch")


@pytest.mark.parametrize(
    ("part", "has"),
    [
        (WHOLE, (True, True)),
        (Part(only=("shop__*",)), (True, False)),
        (Part(only=("std__*", "shop__*")), (True, True)),
        (Part(sources=("std",)), (False, True)),
        (Part(categories=("database",)), (True, False)),
        (Part(exclude=("*__find",)), (False, True)),
        (Part(own="shop"), (True, False)),
        (Part(own="shop", exclude=("shop__find",)), (False, False)),
    ],
)
def test_a_part_is_what_all_its_choices_leave(part: Part, has: tuple[bool, bool]) -> None:
    assert (part.has(FIND), part.has(FETCH)) == has


@pytest.mark.parametrize(
    ("tool", "shown"),
    [
        (FIND, "find"),
        (spec("shop__find", source="shop"), "find"),
        (spec("shop__a_b_x00000000", source="shop", action="a b"), "shop__a_b_x00000000"),
    ],
    ids=["by its action", "by its name", "no name for MCP"],
)
def test_a_source_served_as_itself_has_its_own_names(tool: ToolSpec, shown: str) -> None:
    part = Part(own="shop")

    assert part.shown_name(tool) == shown
    assert part.board_name(shown) == tool.name


def test_the_whole_board_has_the_names_of_the_board() -> None:
    assert WHOLE.shown_name(FIND) == WHOLE.board_name("shop__find") == "shop__find"
    assert WHOLE.shown_uri("board://shop/docs://a") == "board://shop/docs://a"
    assert WHOLE.board_uri("docs://a") == "docs://a"


def test_a_source_served_as_itself_has_its_own_uris() -> None:
    part = Part(own="shop")

    assert part.board_uri("docs://a") == "board://shop/docs://a"
    assert part.shown_uri("board://shop/docs://a") == "docs://a"
    assert part.shown_uri("board://std/docs://a") == "board://std/docs://a"
    assert part.board_name("") == ""


def test_an_address_names_a_part() -> None:
    given = {"only": ["a*", "b*"], "source": ["shop"], "category": ["web"], "exclude": ["*x"]}

    assert Part.of_query(given, own="shop") == Part(
        only=("a*", "b*"), sources=("shop",), categories=("web",), exclude=("*x",), own="shop"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [({"sources": ["a"]}, "no parameter 'sources'; known are only"), ({"only": ["a"] * 51}, "50")],
)
def test_an_address_that_says_something_else_is_refused(
    given: dict[str, list[str]], said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        Part.of_query(given)
