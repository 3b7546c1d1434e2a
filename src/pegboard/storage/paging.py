"""Pages of what was stored: an order that never changes, and cursors into it."""

from pegboard.core import pagination
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
    return pagination.cursor_of(*position)


def position_of(cursor: str) -> Position | None:
    """The position of the last entry of the page before; None for the first page.

    Raises:
        InvalidRequest: The cursor is not one of ours.
    """
    place = pagination.place_of(cursor, float, int)
    return None if place is None else (place[0], place[1])
