"""Pages of what was stored: an order that never changes, and cursors into it."""

import base64
import binascii
import json
import math
from typing import Any, cast

from pegboard.errors import InvalidRequest

MAX_LIMIT = 1_000

Position = tuple[float, int]
"""When something began and its number; newer ones are greater."""


def page_size(limit: int) -> int:
    """How many entries a page has.

    Raises:
        InvalidRequest: The limit is not a number of entries.
    """
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidRequest(f"limit must be between 1 and {MAX_LIMIT}, not {limit}")
    return limit


def cursor_of(position: Position) -> str:
    """Where the next page starts, for `position_of`."""
    text = json.dumps(position, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def position_of(cursor: str) -> Position | None:
    """The position of the last entry of the page before; None for the first page.

    Raises:
        InvalidRequest: The cursor is not one of ours.
    """
    if not cursor:
        return None
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        data: Any = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, RecursionError):
        raise _refused() from None
    if not isinstance(data, list):
        raise _refused()
    match cast("list[object]", data):
        case [float() as started_at, int() as number] if math.isfinite(started_at):
            if type(number) is int and abs(number) < 2**63:
                return started_at, number
        case _:
            pass
    raise _refused()


def _refused() -> InvalidRequest:
    return InvalidRequest("the cursor is not one that a page gave out")
