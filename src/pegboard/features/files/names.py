"""Names of files: only shown, and never a path of this or any other machine."""

import unicodedata

from pegboard.errors import InvalidRequest

MAX_NAME = 255
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""Characters that show a name in another order than it has: `gpj.exe` as `exe.jpg`."""


def check_name(name: str) -> str:
    """Return the name of a file.

    Raises:
        InvalidRequest: It has folders or characters that are not shown, or is too long.
    """
    if not name.strip() or len(name) > MAX_NAME:
        raise InvalidRequest(f"The name of a file has 1 to {MAX_NAME} characters.")
    if name in {".", ".."} or "/" in name or "\\" in name:
        raise InvalidRequest("The name of a file has no folders: leave '/' and '\\' out.")
    if any(unicodedata.category(it) in {"Cc", "Cs"} or it in _DIRECTIONS for it in name):
        raise InvalidRequest(
            "The name of a file has control characters, or such that change its direction."
        )
    return name
