"""Cursor pagination: opaque cursors and page sizes of every list."""

import base64
import json
import math
from collections.abc import Iterable
from typing import Any, cast

from pegboard.errors import InvalidRequest

_MAX_INTEGER = 2**63
"""Integers below this can be compared by every database."""

Mark = str | int | float

MAX_PAGE_SIZE = 1_000
MAX_PAGE_TEXT = 4_000_000
"""Characters that the entries of a page have together, unless its first one alone has more."""

Position = tuple[float, int]
"""The start time and number of a stored entry; newer entries have greater positions."""


def encode_cursor(*place: Mark) -> str:
    """Encode the cursor of the next page.

    Args:
        place: The sort key of the last entry of this page.
    """
    text = json.dumps(place, separators=(",", ":"), ensure_ascii=False)
    content = text.encode("utf-8", "surrogatepass")
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def decode_cursor(cursor: str, *kinds: type[Mark]) -> tuple[Any, ...] | None:
    """Decode a cursor to the sort key of the last entry of the previous page; None at first.

    Args:
        cursor: The cursor of a page; empty for the first page.
        kinds: The types of the sort key.

    Raises:
        InvalidRequest: The cursor is invalid.
    """
    if not cursor:
        return None
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        data: Any = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        raise _invalid_cursor() from None
    if not isinstance(data, list):
        raise _invalid_cursor()
    place = tuple(cast("list[Any]", data))
    if tuple(map(type, place)) != kinds or not all(map(_is_comparable, place)):
        raise _invalid_cursor()
    return place


def decode_position(cursor: str) -> Position | None:
    """The position of the last entry of the previous page; None for the first page.

    Raises:
        InvalidRequest: The cursor was not made from a position.
    """
    place = decode_cursor(cursor, float, int)
    return None if place is None else (place[0], place[1])


def check_page_size(limit: int) -> int:
    """Return the limit of a page if it is allowed.

    Raises:
        InvalidRequest: It is below 1 or above `MAX_PAGE_SIZE`.
    """
    if not 1 <= limit <= MAX_PAGE_SIZE:
        raise InvalidRequest(f"limit must be between 1 and {MAX_PAGE_SIZE}, not {limit}")
    return limit


def count_fitting(sizes: Iterable[int]) -> int:
    """How many of the next entries a page has, since some may be very large; one at least.

    Args:
        sizes: Of the entries, in characters.
    """
    count = total = 0
    for size in sizes:
        total += size
        if count and total > MAX_PAGE_TEXT:
            break
        count += 1
    return count


def _is_comparable(mark: Mark) -> bool:
    match mark:
        case str():
            return True
        case float():
            return math.isfinite(mark)
        case int():
            return abs(mark) < _MAX_INTEGER


def _invalid_cursor() -> InvalidRequest:
    return InvalidRequest("No page has this cursor.")
