"""Keys of contents: which texts are keys, and never a path that leads elsewhere."""

import re

_KEY = re.compile(r"[A-Za-z0-9_-]{1,100}(?:/[A-Za-z0-9_-]{1,100}){0,7}")


def check_key(key: str) -> str:
    """Return a key.

    Raises:
        ValueError: It is none: a mistake of the program, since keys are not made from names.
    """
    if _KEY.fullmatch(key) is None:
        raise ValueError(f"{key[:100]!r} is not the key of a content")
    return key
