"""Wire names: `{source}__{action}`, at most 64 characters of `[a-zA-Z0-9_-]`.

A name depends only on its own source and action, so it is stable when other sources come or go. A
legal action is unchanged, and `split_wire_name` returns it. An illegal action becomes legible text
with a suffix of `_x` and 8 hex digits of the SHA-256 of the original, which the spec keeps as
`action`. So does an action that already ends like this, so that no two actions share a name.
"""

import re

MAX_LENGTH = 64
MAX_SOURCE_LENGTH = 30
GLOB_SIGNS = "*?["
OWNER_MARK = "--"
"""Stands between the handle of the owner of a source and its own name: `ada--github`. The sources
of operators have no owner in their names."""
_SEPARATOR = "__"
_LEGAL = re.compile(r"[a-zA-Z0-9_-]+")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")
_LIKE_A_DIGEST = re.compile(r".*_x[0-9a-f]{8}")
_SOURCE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]|_(?!_))*")


def is_wire_name(name: str) -> bool:
    """Whether a model provider accepts this as a tool name."""
    return len(name) <= MAX_LENGTH and _LEGAL.fullmatch(name) is not None


def is_source_name(name: str) -> bool:
    """Whether this is a valid source name: no `__` inside and no `_` at either end."""
    return (
        len(name) <= MAX_SOURCE_LENGTH
        and _SOURCE.fullmatch(name) is not None
        and not name.endswith("_")
    )


def wire_name(source: str, action: str) -> str:
    """The wire name of an action of a source.

    Raises:
        ValueError: `source` is not a source name, or `action` is empty.
    """
    if not is_source_name(source):
        raise ValueError(f"{source!r} is not a source name: letters, digits, single '_' and '-'")
    if not action:
        raise ValueError("an action needs a name")
    plain = f"{source}{_SEPARATOR}{action}"
    if is_wire_name(plain) and not _LIKE_A_DIGEST.fullmatch(action):
        return plain
    import hashlib

    digest = hashlib.sha256(action.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    room = MAX_LENGTH - len(source) - len(_SEPARATOR) - len(digest) - 2
    legible = _ILLEGAL.sub("_", action).strip("_")[:room]
    return f"{source}{_SEPARATOR}{legible}_x{digest}"


def shorten_wire_name(name: str, length: int) -> str:
    """The name where it fits into a length, else its beginning and a digest of all of it.

    Args:
        name: A wire name, or another name of a tool.
        length: Room for the longest source, one character and the digest: at least 44.
    """
    if len(name) <= length:
        return name
    import hashlib

    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: length - len(digest) - 2].rstrip('_-')}_x{digest}"


def is_shortened(name: str) -> bool:
    """Whether a name ends as `shorten_wire_name` ends what it has cut."""
    return _LIKE_A_DIGEST.fullmatch(name) is not None


def split_wire_name(name: str) -> tuple[str, str]:
    """The source and the action of a wire name; the source is empty for a bare function's."""
    source, separator, action = name.partition(_SEPARATOR)
    if separator and is_source_name(source) and action:
        return source, action
    return "", name


def is_glob(name: str) -> bool:
    """Whether a name stands for all that match it, as `shop__*` does."""
    return any(sign in name for sign in GLOB_SIGNS)
