"""What callers are shown, page by page."""

import time
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from pegboard import ToolRegistry, tool
from pegboard.core.pagination import encode_cursor
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import ToolSpec
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.listings import Catalogue
from pegboard.servers.mcp.selection import WHOLE_BOARD, BoardSelection
from pegboard.tools import SchemaTool

STRANGER = Principal(id="stranger")


async def _nothing(_arguments: Any, _ctx: Any) -> None:
    return None


def made(number: int, *, scopes: tuple[str, ...] = ()) -> SchemaTool:
    return SchemaTool(
        spec=ToolSpec(
            name=f"tool_{number:05}",
            description="One of many.",
            input_schema={"type": "object", "properties": {"a": {"type": "string"}}},
            scopes=scopes,
        ),
        run=_nothing,
    )


def names(
    catalogue: Catalogue, principal: Principal = LOCAL, selection: BoardSelection = WHOLE_BOARD
) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = catalogue.page("tools", principal, selection, cursor)
        found += [item["name"] for item in page["tools"]]
        cursor = page.get("nextCursor")
        if cursor is None:
            return found


async def test_the_tools_that_a_client_may_see_are_listed_by_name(client: Any) -> None:
    listed = await client.list_tools()
    shown = {item.name: item for item in listed.tools}

    assert list(shown) == sorted(shown)
    assert {"add", "refund", "board__read_result"} <= shown.keys()
    assert "the_secret" not in shown
    assert shown["add"].title == "Add up"
    assert shown["add"].annotations is not None
    assert shown["add"].annotations.read_only_hint
    assert shown["add"].input_schema["required"] == ["a"]
    assert shown["refuse"].output_schema is not None


def test_pages_follow_each_other_whatever_comes_between() -> None:
    registry = ToolRegistry([made(number) for number in range(25)])
    catalogue = Catalogue(registry, page=10)

    first = catalogue.page("tools", LOCAL, WHOLE_BOARD, None)
    registry.remove("tool_00003")
    registry.add(made(9_999))
    second = catalogue.page("tools", LOCAL, WHOLE_BOARD, first["nextCursor"])

    assert [len(first["tools"]), len(second["tools"])] == [10, 10]
    assert second["tools"][0]["name"] == "tool_00010"
    assert len(names(catalogue)) == 25


@pytest.mark.parametrize("cursor", ["!!", "%", "_w=="])
def test_a_made_up_cursor_is_refused(cursor: str) -> None:
    catalogue = Catalogue(ToolRegistry([made(1)]))

    with pytest.raises(MCPError, match="No page has this cursor"):
        catalogue.page("tools", LOCAL, WHOLE_BOARD, cursor)


def test_made_up_cursors_fill_no_memory() -> None:
    catalogue = Catalogue(ToolRegistry([made(number) for number in range(30)]), page=10)

    for number in range(100):
        catalogue.page("tools", LOCAL, WHOLE_BOARD, encode_cursor(f"x{number}"))

    assert len(catalogue.listing("tools", LOCAL, WHOLE_BOARD).pages) <= 4


def test_each_caller_is_shown_what_it_may_see() -> None:
    catalogue = Catalogue(ToolRegistry([made(1), made(2, scopes=("shop",))]))

    assert names(catalogue) == ["tool_00001", "tool_00002"]
    assert names(catalogue, STRANGER) == ["tool_00001"]
    assert names(catalogue, selection=BoardSelection(exclude=("*1",))) == ["tool_00002"]


def test_a_page_is_rendered_once_until_something_changes() -> None:
    registry = ToolRegistry([made(1)])
    catalogue = Catalogue(registry)

    first = catalogue.page("tools", LOCAL, WHOLE_BOARD, None)
    again = catalogue.page("tools", LOCAL, WHOLE_BOARD, None)
    registry.switches.turn_off(tool="tool_00001")
    off = names(catalogue)
    registry.switches.turn_on(tool="tool_00001")
    registry.add(made(2))

    assert again is first
    assert off == []
    assert names(catalogue) == ["tool_00001", "tool_00002"]


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_ten_thousand_tools_cost_a_request_next_to_nothing() -> None:
    catalogue = Catalogue(ToolRegistry([made(number) for number in range(10_000)]))
    catalogue.page("tools", LOCAL, WHOLE_BOARD, None)
    before = time.process_time()

    for _ in range(100):
        catalogue.page("tools", LOCAL, WHOLE_BOARD, None)

    assert time.process_time() - before < 0.1


def test_what_many_callers_were_shown_is_not_kept_for_ever() -> None:
    registry = ToolRegistry([made(1)])
    catalogue = Catalogue(registry, page=1)

    for number in range(200):
        names(catalogue, Principal(id=str(number)))
    for number in range(10):
        registry.add(made(number + 100))
        names(catalogue)
        registry.remove(f"tool_{number + 100:05}")

    assert len(catalogue._listings) == 64
    assert len(catalogue._rendered) <= 6


def test_a_tool_that_was_replaced_is_shown_anew() -> None:
    @tool(name="one", effect="read")
    def first() -> str:
        """First."""
        return ""

    @tool(name="one", effect="read")
    def second() -> str:
        """Second."""
        return ""

    registry = ToolRegistry([first], "replace")
    catalogue = Catalogue(registry)
    before = catalogue.listing("tools", LOCAL, WHOLE_BOARD)
    page = catalogue.page("tools", LOCAL, WHOLE_BOARD, None)

    registry.add(second)
    after = catalogue.listing("tools", LOCAL, WHOLE_BOARD)

    assert page["tools"][0]["description"] == "First."
    assert catalogue.page("tools", LOCAL, WHOLE_BOARD, None)["tools"][0]["description"] == "Second."
    assert not after.same_as(before)
    assert after.same_as(after)


async def test_a_template_is_found_by_itself_and_by_what_it_means(board: Pegboard) -> None:
    catalogue = Catalogue(board.registry)

    by_itself = catalogue.resource(LOCAL, WHOLE_BOARD, "pages://{page}")
    by_meaning = catalogue.resource(LOCAL, WHOLE_BOARD, "pages://7")

    assert by_itself is not None
    assert by_itself is by_meaning
    assert catalogue.resource(LOCAL, WHOLE_BOARD, "pages://7/8") is None
    catalogue.close()


def test_a_tool_whose_schemas_cannot_be_shown_does_not_hide_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> dict[str, Any]:
        raise KeyError("a document that cannot be read")

    spec = ToolSpec(name="broken", description="One of many.", input_schema=broken)
    registry = ToolRegistry([made(1), SchemaTool(spec=spec, run=_nothing)])

    page = Catalogue(registry).page("tools", LOCAL, WHOLE_BOARD, None)

    shown = {item["name"]: item["inputSchema"] for item in page["tools"]}
    assert shown.keys() >= {"broken", "tool_00001"}
    assert shown["broken"] == {"type": "object", "additionalProperties": True}
    assert "the schemas of broken cannot be shown" in caplog.text


def test_tools_are_shown_by_their_aliases_where_these_find_them() -> None:
    def aliased(number: int, alias: str) -> Any:
        tool = made(number)
        return SchemaTool(spec=tool.spec.replace(alias=alias), run=tool.run)

    registry = ToolRegistry([aliased(1, "echo"), aliased(2, "tool_00003"), made(3)])

    assert names(Catalogue(registry, by_alias=True)) == ["echo", "tool_00002", "tool_00003"]
    assert names(Catalogue(registry)) == ["tool_00001", "tool_00002", "tool_00003"]
