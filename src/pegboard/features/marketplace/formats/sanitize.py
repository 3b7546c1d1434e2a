"""Sanitizes foreign values: the right type, short, and printable."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from pegboard.core.text.truncate import truncate
from pegboard.core.wire_names import is_source_name
from pegboard.features.marketplace.entries import Label, UnusableEntry

Node = Mapping[str, Any]

MAX_LINE = 200
MAX_TEXT = 2_000
_MAX_ADDRESS = 2_000
_MAX_LABELS = 20
_MAX_LABEL = 60
_SPACE = re.compile(r"\s+")
_UNSAFE = re.compile(r"[\s\\{}<>\"^`|]")
_ID = re.compile(r"[^\s\\?#%\"'<>`]{1,200}")
_EMPTY: Node = {}


def node(value: object) -> Node:
    """Return a mapping; an empty one for anything else."""
    return cast("Node", value) if isinstance(value, Mapping) else _EMPTY


def items(value: object) -> list[Any]:
    """Return a list; an empty one for anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def line(value: object, *, most: int = MAX_LINE) -> str:
    """Return a text on one line without unprintable characters; empty for anything else."""
    if not isinstance(value, str):
        return ""
    text = "".join(char if char.isprintable() else " " for char in value[: 4 * most])
    return truncate(_SPACE.sub(" ", text).strip(), most)


def text(value: object) -> str:
    """Return a longer text, sanitized in the same way."""
    return line(value, most=MAX_TEXT)


def entry_name(value: object) -> str:
    """Return the name of an entry, if it is safe in a command and in an address.

    Raises:
        UnusableEntry: It is not, or it looks like a path.
    """
    if not isinstance(value, str) or not value:
        raise UnusableEntry("it has no name")
    if not _ID.fullmatch(value) or not value.isprintable():
        raise UnusableEntry("its name is too long or has invalid characters")
    if any(part in {"", ".", ".."} for part in value.split("/")):
        raise UnusableEntry("its name looks like a path")
    return value


def address(value: object) -> str:
    """Return an http(s) address without credentials; empty for anything else."""
    if not isinstance(value, str) or len(value) > _MAX_ADDRESS:
        return ""
    if not value.isprintable() or _UNSAFE.search(value):
        return ""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return ""
    del port
    has_user = "@" in parts.netloc
    is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    return value if is_web and not has_user else ""


def labels(told: Iterable[tuple[str, object]]) -> tuple[Label, ...]:
    """Return the words of an entry, each once and limited in number.

    Args:
        told: Kind and value of words; a value is one word or a list.
    """
    found: dict[str, Label] = {}
    for told_as, value in told:
        for word in _words(value):
            if len(found) < _MAX_LABELS:
                found.setdefault(word.casefold(), Label(name=word, told_as=told_as))
    return tuple(found.values())


def _words(value: object) -> Iterator[str]:
    for item in [value] if isinstance(value, str) else items(value)[:_MAX_LABELS]:
        word = line(item, most=_MAX_LABEL)
        if word:
            yield word


def short_name(wanted: str, otherwise: str) -> str:
    """Derive a source name from a foreign name."""
    legal = "".join(char if char.isascii() and char.isalnum() else "-" for char in wanted.lower())
    short = "-".join(part for part in legal.split("-") if part)[:20].strip("-")
    return short if is_source_name(short) else otherwise
