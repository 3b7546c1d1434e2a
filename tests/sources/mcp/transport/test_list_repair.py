"""Pages of lists: what is wrong with one item costs only that item."""

from typing import Any

import pytest
from tests.sources.mcp.rogue import PLAIN

from pegboard.sources.mcp.transport.list_repair import MAX_ITEMS, omissions, repair_list

MODERN = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


def _listed(*items: Any, version: str = "2025-06-18", **more: Any) -> tuple[list[Any], list[str]]:
    page = repair_list("tools/list", version, {"tools": list(items), **more})
    return page["tools"], list(omissions(page["_meta"]))


@pytest.mark.parametrize(
    ("item", "says"),
    [
        ({"name": "bad"}, "'bad' (at 'inputSchema': Field required)"),
        ({"inputSchema": {"type": "object"}}, "number 2 of its tools (at 'name': Field required)"),
        ({**PLAIN, "name": 5}, "number 2 of its tools (at 'name': Input should be a valid string)"),
        ({**PLAIN, "annotations": "x"}, "'plain' (at 'annotations': Input should be"),
        ({**PLAIN, "annotations": {"readOnlyHint": "perhaps"}}, "(at 'annotations.readOnlyHint'"),
        ({**PLAIN, "inputSchema": {"type": "string"}}, "(at 'inputSchema.type': Input should"),
        ({**PLAIN, "inputSchema": True}, "(at 'inputSchema': Input should be"),
        (None, "number 2 of its tools (at itself: Input should be"),
        (7, "number 2 of its tools (at itself: Input should be"),
    ],
    ids=[
        *("no-schema", "no-name", "name", "annotations", "hint", "text-schema", "true", "null"),
        "number",
    ],
)
@pytest.mark.parametrize("version", ["2024-11-05", "2025-11-25", "2026-07-28"])
def test_a_wrong_tool_is_left_out_and_told(item: Any, says: str, version: str) -> None:
    more = MODERN if version == "2026-07-28" else {}
    kept, told = _listed(PLAIN, item, {**PLAIN, "name": "last"}, version=version, **more)

    assert [tool["name"] for tool in kept] == ["plain", "last"]
    assert len(told) == 1
    assert says in told[0]


@pytest.mark.parametrize(
    "schema",
    [{}, {"properties": {"a": {}}}, {"type": None}, {"type": ["object", "null"]}],
    ids=["empty", "properties", "null", "list"],
)
def test_a_schema_that_lacks_only_its_type_is_mended(schema: dict[str, Any]) -> None:
    kept, told = _listed({"name": "a", "inputSchema": schema, "outputSchema": schema})

    assert kept[0]["inputSchema"] == {**schema, "type": "object"}
    assert kept[0]["outputSchema"] == {**schema, "type": "object"}
    assert told == []


def test_of_very_many_wrong_ones_some_are_named_and_the_rest_counted() -> None:
    kept, told = _listed(PLAIN, *({"name": f"t{number}"} for number in range(30)))

    assert kept == [PLAIN]
    assert len(told) == 21
    assert told[-1] == "10 more tools"


def test_a_list_has_an_end() -> None:
    kept, told = _listed(*[PLAIN] * (MAX_ITEMS + 5))

    assert len(kept) == MAX_ITEMS
    assert told == [f"5 tools, since at most {MAX_ITEMS} are read"]


def test_a_cursor_that_is_no_text_ends_the_list_and_is_told() -> None:
    page = repair_list("tools/list", "2025-06-18", {"tools": [PLAIN], "nextCursor": 4, "_meta": 5})

    assert "nextCursor" not in page
    assert omissions(page["_meta"]) == ("the pages after a 'nextCursor' that is not a string",)


def test_what_a_server_claims_to_be_left_out_is_not_believed() -> None:
    assert _listed(PLAIN, _meta={"pegboard/left-out": ["all of it"], "a": 1}) == ([PLAIN], [])


def test_what_is_wrong_as_a_whole_is_left_as_it_is() -> None:
    whole = {"tools": "many"}
    frame = {"tools": [PLAIN, 5]}  # the modern era wants more beside them

    assert repair_list("tools/list", "2025-06-18", whole) is whole
    assert repair_list("tools/list", "2026-07-28", frame)["tools"] == [PLAIN, 5]
    assert repair_list("tools/list", "1999-01-01", frame)["tools"] == [PLAIN, 5]


def test_resources_are_named_by_their_uri() -> None:
    page = repair_list("resources/list", "2025-06-18", {"resources": [{"uri": "a:b"}]})

    assert omissions(page["_meta"]) == ("'a:b' (at 'name': Field required)",)
    assert omissions(None) == ()
