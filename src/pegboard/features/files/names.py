"""Names of files: only shown, and never a path of this or any other machine."""

import re

from pegboard.errors import InvalidRequest

MAX_NAME = 255
_REFUSED = r"/\\\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Separators of folders, control characters, and those that show a name in another order than it
has: `gpj.exe` as `exe.jpg`."""
NAME_PATTERN = rf"^[^{_REFUSED}]*[^{_REFUSED}\s.][^{_REFUSED}]*$"
"""The name of a file: it has something beside dots and spaces."""
_PART = NAME_PATTERN[1:-1]
PATH_PATTERN = rf"^(?:{_PART}(?:/{_PART})*)?$"
"""The path of a file below a folder that is not named; it may be empty."""
MAX_PATH = 500
_NAME = re.compile(NAME_PATTERN)
_PATH = re.compile(PATH_PATTERN)
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


def check_path(path: str) -> str:
    """Return the path of a file below the folder that it comes from; empty for none.

    Raises:
        InvalidRequest: It leads elsewhere, has characters that are not shown, or is too long.
    """
    if len(path) > MAX_PATH:
        raise InvalidRequest(f"The path of a file has at most {MAX_PATH} characters.")
    if "\\" in path or (path and not all(part.strip(". ") for part in path.split("/"))):
        raise InvalidRequest(
            "The path of a file names the folders above it, as in 'guide/returns.md', without "
            "'\\', '..' or a '/' at its start."
        )
    if _PATH.fullmatch(path) is None or _SURROGATE.search(path):
        raise InvalidRequest(
            "The path of a file has control characters, or such that change its direction."
        )
    return path
