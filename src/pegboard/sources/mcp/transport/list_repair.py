"""Removes invalid items from a page of a server's list, so that the others can be used."""

from collections.abc import Callable, Mapping
from typing import Any, cast

from mcp_types import methods
from pydantic import ValidationError

from pegboard.sources.mcp.transport.malformed_messages import describe_first_error

LISTS: Mapping[str, str] = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
"""Where the items stand in the answer to each method."""

MAX_ITEMS = 10_000
"""Items of one list; the rest is left out and reported."""

_OMISSIONS = "pegboard/left-out"
_MAX_REPORTED = 20
_MAX_NAME = 100


def omissions(meta: Mapping[str, Any] | None) -> tuple[str, ...]:
    """The items that `repair_list` left out, from the `_meta` of an answer."""
    return tuple((meta or {}).get(_OMISSIONS, ()))


def repair_list(method: str, version: str, result: dict[str, Any]) -> dict[str, Any]:
    """Keep the valid items of an answer, and note in `_meta` why others are left out.

    An answer that is invalid as a whole is unchanged: the MCP library refuses it.
    """
    key = LISTS[method]
    found = result.get(key)
    if not isinstance(found, list):
        return result
    omitted: list[str] = []
    page = _repair_page(result, omitted)
    items = _limit_items(cast("list[Any]", found), key, omitted)
    if method == "tools/list":
        items = [_as_object_schemas(item) for item in items]

    def fits(some: list[Any]) -> str:
        return _mismatch(method, version, {**page, key: some})

    if fits(items) and not fits([]):
        items = _keep_valid(items, fits, key, omitted)
    return {**page, key: items, "_meta": {**page.get("_meta", {}), _OMISSIONS: omitted}}


def _repair_page(result: dict[str, Any], omitted: list[str]) -> dict[str, Any]:
    page = dict(result)
    if not isinstance(page.get("_meta", {}), dict):
        del page["_meta"]
    if not isinstance(page.get("nextCursor"), str | None):
        del page["nextCursor"]
        omitted.append("the pages after a 'nextCursor' that is not a string")
    return page


def _limit_items(items: list[Any], key: str, omitted: list[str]) -> list[Any]:
    if len(items) <= MAX_ITEMS:
        return items
    omitted.append(f"{len(items) - MAX_ITEMS} {key}, since at most {MAX_ITEMS} are read")
    return items[:MAX_ITEMS]


def _keep_valid(
    items: list[Any], fits: Callable[[list[Any]], str], key: str, omitted: list[str]
) -> list[Any]:
    kept: list[Any] = []
    wrong = 0
    for index, item in enumerate(items):
        problem = fits([item])
        if not problem:
            kept.append(item)
            continue
        wrong += 1
        if wrong <= _MAX_REPORTED:
            reason = problem.replace(f"'{key}.0.", "'").replace(f"'{key}.0'", "itself")
            omitted.append(f"{_item_name(item, key, index)} ({reason})")
    if wrong > _MAX_REPORTED:
        omitted.append(f"{wrong - _MAX_REPORTED} more {key}")
    return kept


def _item_name(item: Any, key: str, index: int) -> str:
    fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
    for field in ("name", "uri", "uriTemplate"):
        name = fields.get(field)
        if isinstance(name, str) and name:
            return f"'{name[:_MAX_NAME]}'"
    return f"number {index + 1} of its {key}"


def _mismatch(method: str, version: str, result: dict[str, Any]) -> str:
    try:
        methods.parse_server_result(method, version, result)
    except ValidationError as error:
        return describe_first_error(error) or "it is not what MCP allows"
    except (KeyError, ValueError):  # a version or method that is not known here is not judged here
        return ""
    return ""


def _as_object_schemas(item: Any) -> Any:
    """Add `type: object` to schemas of a tool that lack only that."""
    if not isinstance(item, dict):
        return item
    tool = cast("dict[str, Any]", item)
    wanting = {
        key: {**tool[key], "type": "object"}
        for key in ("inputSchema", "outputSchema")
        if _is_missing_type(tool.get(key))
    }
    return {**tool, **wanting} if wanting else tool


def _is_missing_type(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    said = cast("dict[str, Any]", schema).get("type")
    return said is None or (isinstance(said, list) and "object" in said)
