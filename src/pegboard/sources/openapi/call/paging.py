"""Finds the arguments of the next page of a list, and joins the items of several pages.

What an API says about its next page stands in a `Link` header (RFC 8288), in a link of the document
to the same operation, or in the body: a cursor, the URL of the next page, or a list that is not
empty.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast
from urllib.parse import parse_qsl, urlsplit

from pegboard.core.ports.http import HttpResponse
from pegboard.schemas import strict_json
from pegboard.sources.openapi.document.lenient_access import LocatedNode, mapping, sequence, text

PAGES = "max_pages"
"""The argument with which a call asks for several pages."""

_NEXT = re.compile(r"<([^>]*)>((?:\s*;[^,<]*)?)")
_IS_NEXT = re.compile(r"\brel\s*=\s*\"?[^\"]*\bnext\b", re.IGNORECASE)
_BODY = "$response.body#"
_HEADER = "$response.header."
_MAX_VALUE = 4_000
_URL_STARTS = ("http://", "https://", "/", "?")

_CURSORS: Mapping[str, tuple[str, ...]] = {
    "pageToken": ("nextPageToken",),
    "page_token": ("next_page_token", "nextPageToken"),
    "cursor": (
        "next_cursor",
        "nextCursor",
        "meta.next_cursor",
        "response_metadata.next_cursor",
    ),
    "continue": ("metadata.continue",),
}
"""Where APIs give the cursor for a parameter of this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSequence:
    """How the pages of one operation follow each other.

    Attributes:
        style: `cursor`, `page` (numbers), `offset` (of the first item), or `link` (the header).
        argument: The argument that chooses the page; empty for one that is known by its name.
        next: The path in the body of the cursor, or of the URL of the next page.
        items: The path of the list in the body; empty for the body, or its only list.
        max_pages: The maximum of pages that one call may read.
        links: Expressions of the document for the arguments of the next page.
    """

    style: Literal["cursor", "page", "offset", "link"] = "cursor"
    argument: str = ""
    next: str = ""
    items: str = ""
    max_pages: int = 1
    links: tuple[Mapping[str, str], ...] = ()


def find_links(responses: Iterable[LocatedNode], operation_id: str) -> tuple[dict[str, str], ...]:
    """Return what the links of responses to their own operation give as its arguments."""
    found: list[dict[str, str]] = []
    for response in responses:
        for name in response.at("links").fields:
            link = response.at("links").at(name).fields
            given = mapping(link.get("parameters"))
            if given and operation_id and text(link.get("operationId")) == operation_id:
                found.append({key.rpartition(".")[2]: text(value) for key, value in given.items()})
    return tuple(found)


def find_next(
    response: HttpResponse, paging: PageSequence, names: Mapping[str, str], given: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the arguments of the next page; None without one, empty if no argument chooses it.

    Args:
        response: The current page.
        paging: How the pages follow each other.
        names: Argument names by query parameter.
        given: The arguments of the current page.
    """
    url = _linked_url(response.headers.get("link", ""))
    if url:
        return _arguments_in(url, names)
    if paging.style == "link":
        return None
    if not (paging.next or paging.argument or paging.links or _CURSORS.keys() & names.keys()):
        return None
    body = _decode(response)
    if body is None:
        return None
    following = _from_body(body, response, paging, names, given)
    if following and all(given.get(key) == value for key, value in following.items()):
        return None  # an API that names the same page again would be read for ever
    return following


def describe_next(following: Mapping[str, Any] | None) -> str:
    """Return how to request the next page; empty without one."""
    if following is None:
        return ""
    known = ", ".join(f"{name}={value}" for name, value in following.items())
    how = f"call again with {known}" if known else "the API names a next page"
    return f"[There is more: {how}.]"


class JoinedPages:
    """The items of several pages, in the place of those of the last one."""

    def __init__(self, items: str) -> None:
        self._path = items
        self._items: list[Any] = []
        self._body: Any = None

    def add(self, response: HttpResponse) -> bool:
        """Add a page; False if its items cannot be found."""
        body = _decode(response)
        items = find_items(body, self._path)
        if items is None:
            return False
        self._items += items
        self._body = body
        return True

    def build(self) -> Any:
        """Return the last page with the items of all."""
        return _with_items(self._body, _items_path(self._body, self._path), self._items)


def find_items(body: Any, path: str) -> list[Any] | None:
    """Return the list of a page; None if there is none."""
    found: Any = _at(body, _items_path(body, path))
    return cast("list[Any]", found) if isinstance(found, list) else None


def _from_body(
    body: Any,
    response: HttpResponse,
    paging: PageSequence,
    names: Mapping[str, str],
    given: Mapping[str, Any],
) -> dict[str, Any] | None:
    if paging.style in {"page", "offset"}:
        return _following_number(body, paging, given)
    if paging.next:
        return _from_value(_at(body, paging.next), paging.argument, names)
    for link in paging.links:
        found = {
            names[key]: _evaluate(value, body, response)
            for key, value in link.items()
            if key in names
        }
        if found and all(_is_cursor(value) for value in found.values()):
            return found
    for parameter, paths in _CURSORS.items():
        for path in paths if parameter in names else ():
            value = _at(body, path)
            if _is_cursor(value):
                return {names[parameter]: value}
    return None


def _following_number(
    body: Any, paging: PageSequence, given: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return the next number or offset, unless the page is empty or says that it is the last."""
    items = find_items(body, paging.items)
    if not items or (paging.next and not _at(body, paging.next)):
        return None
    start = given.get(paging.argument)
    if paging.style == "page":
        return {paging.argument: (start if isinstance(start, int) else 1) + 1}
    return {paging.argument: (start if isinstance(start, int) else 0) + len(items)}


def _from_value(value: Any, argument: str, names: Mapping[str, str]) -> dict[str, Any] | None:
    if not _is_cursor(value):
        return None
    if isinstance(value, str) and value.startswith(_URL_STARTS) and "?" in value:
        return _arguments_in(value, names)
    return {argument: value} if argument else {}


def _is_cursor(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= _MAX_VALUE
    return isinstance(value, int) and not isinstance(value, bool)


def _linked_url(header: str) -> str:
    for match in _NEXT.finditer(header):
        if _IS_NEXT.search(match[2]):
            return match[1] or "?"
    return ""


def _arguments_in(url: str, names: Mapping[str, str]) -> dict[str, Any] | None:
    try:
        pairs = parse_qsl(urlsplit(url).query)
    except ValueError:
        return None
    return {names[key]: value for key, value in pairs if key in names and len(value) <= _MAX_VALUE}


def _evaluate(expression: str, body: Any, response: HttpResponse) -> Any:
    """Evaluate a runtime expression of OpenAPI; anything else is a constant."""
    if expression.startswith(_HEADER):
        return response.headers.get(expression.removeprefix(_HEADER).lower())
    if not expression.startswith(_BODY):
        return None if expression.startswith("$") else expression
    found = body
    for part in expression.removeprefix(_BODY).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        found = _step(found, key)
    return found


def _at(body: Any, path: str) -> Any:
    found = body
    for key in path.split(".") if path else ():
        found = _step(found, key)
    return found


def _step(value: Any, key: str) -> Any:
    if isinstance(value, list):
        items = sequence(cast("object", value))
        return items[int(key)] if key.isdecimal() and int(key) < len(items) else None
    return mapping(value).get(key)


def _items_path(body: Any, path: str) -> str:
    """Return the path of the list: as configured, the body itself, or its only list."""
    if path or isinstance(body, list):
        return path
    lists = [key for key, value in mapping(body).items() if isinstance(value, list)]
    return lists[0] if len(lists) == 1 else ""


def _with_items(body: Any, path: str, items: Sequence[Any]) -> Any:
    if not path:
        return items
    key, _, rest = path.partition(".")
    return {**mapping(body), key: _with_items(mapping(body).get(key), rest, items)}


def _decode(response: HttpResponse) -> Any:
    if response.truncated or not response.media_type.endswith(("/json", "+json")):
        return None
    try:
        return strict_json.decode(response.content)
    except ValueError:
        return None
