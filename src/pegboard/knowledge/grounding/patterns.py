"""Long lists of expressions as one regular expression."""

import re
from functools import cache

_SEPARATOR = re.compile(r"\s+/\s+|\n\s*")


@cache
def any_of(expressions: str, *, prefix: str = "", suffix: str = "") -> re.Pattern[str]:
    """A pattern that any of some expressions matches, upper and lower case alike.

    Args:
        expressions: A line each, or with ` / ` between them.
        prefix: What must stand before.
        suffix: What must stand behind.
    """
    parts = [part.strip() for part in _SEPARATOR.split(expressions) if part.strip(" /\n")]
    return re.compile(f"{prefix}(?:{'|'.join(parts)}){suffix}", re.IGNORECASE)
