"""Foreign values made fit to be shown and used: of the right type, short, printable."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

from pegboard.core.truncate import truncate
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
    """A mapping; an empty one for anything else."""
    return cast("Node", value) if isinstance(value, Mapping) else _EMPTY


def items(value: object) -> list[Any]:
    """A list; an empty one for anything else."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def line(value: object, *, most: int = MAX_LINE) -> str:
    """A text on one line, without what cannot be seen; empty for anything else."""
    if not isinstance(value, str):
        return ""
    text = "".join(char if char.isprintable() else " " for char in value[: 4 * most])
    return truncate(_SPACE.sub(" ", text).strip(), most)


def text(value: object) -> str:
    """A longer text, the same way."""
    return line(value, most=MAX_TEXT)


def entry_name(value: object) -> str:
    """What an entry is called, as somebody can write it into a command or an address.

    Raises:
        UnusableEntry: Nobody could, or it could be taken for a path.
    """
    if not isinstance(value, str) or not value:
        raise UnusableEntry("it has no name")
    if not _ID.fullmatch(value) or not value.isprintable():
        raise UnusableEntry("its name is too long or has invalid characters")
    if any(part in {"", ".", ".."} for part in value.split("/")):
        raise UnusableEntry("its name looks like a path")
    return value


def address(value: object) -> str:
    """An http(s) address without credentials; empty for anything else."""
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
    """Words of an entry, each once; not more than anybody reads.

    Args:
        told: What its catalogue calls such words, and one or a list of them.
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
    """A source name made of a foreign one."""
    legal = "".join(char if char.isascii() and char.isalnum() else "-" for char in wanted.lower())
    short = "-".join(part for part in legal.split("-") if part)[:20].strip("-")
    return short if is_source_name(short) else otherwise
