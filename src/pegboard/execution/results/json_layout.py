"""Where the items of a JSON result begin, so that pages end between them, and its cursors."""

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Any, cast

from msgspec import Raw
from msgspec.json import Decoder
from pydantic_core import to_json

from pegboard.core.text.truncate import truncate

_ITEMS = Decoder(list[Raw]).decode
_MEMBERS = Decoder(dict[str, Raw]).decode
_MAX_BYTES = 4_000_000
_MAX_ITEMS = 50_000
_MAX_ARRAYS = 8
_LONGEST_CURSORS = 4_000
_CURSORS = frozenset(
    {
        "next",
        "nextcursor",
        "cursor",
        "endcursor",
        "hasmore",
        "hasnextpage",
        "hasnext",
        "nextpage",
        "nextpagetoken",
        "nexttoken",
        "nextlink",
        "odatanextlink",
        "nexturl",
        "continue",
        "continuation",
        "continuationtoken",
    }
)
"""Names of fields that lead to the next page, in lower case without punctuation."""


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """The layout of compact JSON: an array, or an object with arrays.

    Attributes:
        cuts: Offsets in characters where a page may begin, in order.
        arrays: By name (empty for the whole value), the offset of the end of each item.
    """

    cuts: list[int] = field(default_factory=list[int])
    arrays: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    def describe_items(self, end: int) -> str:
        """How many items of each array are whole before this offset; empty if all are."""
        told: list[str] = []
        for name, ends in self.arrays.items():
            whole = bisect_right(ends, end)
            if whole < len(ends):
                count = f"{whole:,} of {len(ends):,} items"
                told.append(f"{count} of {_json(truncate(name, 60))}" if name else count)
        return ", ".join(told[:_MAX_ARRAYS])


def read_layout(text: str) -> JsonLayout | None:
    """The layout of a JSON text; None if it is large, not compact, or has no items.

    The items stay text: only where they begin and end is looked for.
    """
    if text[:1] not in ("[", "{") or len(text) > _MAX_BYTES:
        return None
    try:
        layout, length = _lay_out_list(text) if text[0] == "[" else _lay_out_object(text)
    except (ValueError, RecursionError):
        return None
    return layout if length == len(text) and layout.cuts else None


def find_cursors(value: object) -> str:
    """The fields of an object that lead to its next page, as JSON; empty without any."""
    if not isinstance(value, dict):
        return ""
    found: dict[str, Any] = {}
    for name, item in cast("dict[str, Any]", value).items():
        if _is_cursor(name, item):
            found[name] = item
        elif isinstance(item, dict):
            inner = cast("dict[str, Any]", item).items()
            if deep := {key: one for key, one in inner if _is_cursor(key, one)}:
                found[name] = deep
    told = _json(found) if found else ""
    return told if len(told) <= _LONGEST_CURSORS else ""


def _is_cursor(name: str, item: object) -> bool:
    plain = "".join(filter(str.isalnum, name[:40])).lower()
    return plain in _CURSORS and item != "" and isinstance(item, (str, int, float))


def _lay_out_list(text: str) -> tuple[JsonLayout, int]:
    """The layout of an array and the length of its compact JSON."""
    layout = JsonLayout()
    return layout, _lay_out_items(layout, "", text, 0)


def _lay_out_object(text: str) -> tuple[JsonLayout, int]:
    layout = JsonLayout()
    members = _MEMBERS(text)
    if len(members) > _MAX_ITEMS:
        raise ValueError("too many members")
    at = 1
    for name, item in members.items():
        if at > 1:
            at += 1
            layout.cuts.append(at)
        at += len(_json(name)) + 1
        written = str(item, "utf-8")
        if written.startswith("["):
            at = _lay_out_items(layout, name, written, at)
        else:
            at += len(written)
    return layout, max(at, 1) + 1


def _lay_out_items(layout: JsonLayout, name: str, text: str, at: int) -> int:
    """Add an array that begins at this offset; returns the offset of its end.

    Raises:
        ValueError: It is not JSON, or there are too many items.
    """
    items = _ITEMS(text)
    if len(items) + len(layout.cuts) > _MAX_ITEMS:
        raise ValueError("too many items")
    is_ascii = text.isascii()
    ends: list[int] = []
    at += 1
    for index, item in enumerate(items):
        if index:
            at += 1
            layout.cuts.append(at)
        at += len(item) if is_ascii else len(str(item, "utf-8"))
        ends.append(at)
    layout.arrays[name] = ends
    return at + 1


def _json(value: object) -> str:
    return to_json(value).decode()
