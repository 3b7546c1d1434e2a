"""Names of files: only shown, and never a path of this or any other machine."""

import re

from pegboard.errors import InvalidRequest

MAX_NAME = 255
_REFUSED = r"/\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Separators of folders, control characters, and those that show a name in another order than it
has: `gpj.exe` as `exe.jpg`."""
NAME_PATTERN = rf"^[^{_REFUSED}]*[^{_REFUSED}\s.][^{_REFUSED}]*$"
"""The name of a file: it has something beside dots and spaces."""
_NAME = re.compile(NAME_PATTERN)
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_name(name: str) -> str:
    """Return the name of a file.

    Raises:
        InvalidRequest: It has folders or characters that are not shown, or is too long.
    """
    if not 0 < len(name) <= MAX_NAME:
        raise InvalidRequest(f"The name of a file has 1 to {MAX_NAME} characters.")
    if "/" in name or "\\" in name or not name.strip(". "):
        raise InvalidRequest("The name of a file has no folders: leave '/' and '\\' out.")
    if _NAME.fullmatch(name) is None or _SURROGATE.search(name):
        raise InvalidRequest(
            "The name of a file has control characters, or such that change its direction."
        )
    return name
